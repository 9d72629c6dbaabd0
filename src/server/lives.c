/* SPDX-License-Identifier: Apache-2.0 */
/* A list of a few nodes, rebuilt by each look at the database and compared with the one before. */
#include "server/lives.h"
#include "base/buf.h"
#include "base/mem.h"
#include "net/addr.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void live_nodes_add(struct live_nodes *l, int64_t node, int64_t epoch, const char *address)
{
    if (!address || !*address)
        return;
    l->items = mem_resize(l->items, (size_t)(l->n + 1) * sizeof(*l->items));
    l->items[l->n++] = (struct live_node){ node, epoch, mem_dup(address) };
}

bool live_nodes_same(const struct live_nodes *a, const struct live_nodes *b)
{
    bool same = a->n == b->n;
    for (int i = 0; same && i < a->n; i++)
        same = a->items[i].node == b->items[i].node && a->items[i].epoch == b->items[i].epoch &&
               strcmp(a->items[i].address, b->items[i].address) == 0;
    return same;
}

void live_nodes_copy(struct live_nodes *to, const struct live_nodes *from)
{
    for (int i = 0; i < from->n; i++)
        live_nodes_add(to, from->items[i].node, from->items[i].epoch, from->items[i].address);
}

void live_nodes_done(struct live_nodes *l)
{
    for (int i = 0; i < l->n; i++)
        free(l->items[i].address);
    free(l->items);
    *l = (struct live_nodes){ NULL, 0 };
}

static bool every_interface(const char *host)
{
    return !*host || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

static enum err given_check(const char *given, struct why *why)
{
    struct addr_url u;
    struct why rule = { "" };
    enum err err = addr_url_parse(slice_text(given), &u, &rule);
    if (!err && (strcmp(u.path, "/") != 0 || strlen(given) >= NODE_ADDRESS_SIZE)) {
        why_set(&rule, "it is HOST:PORT, or https://HOST:PORT, of at most %d bytes, without a path",
                NODE_ADDRESS_SIZE - 1);
        err = ERR_INVALID;
    }
    if (err)
        why_set(why, "node.address: %s", rule.text);
    return err;
}

enum err node_address_choose(const char *given, const char *listen, uint16_t port, bool tls,
                             char ret[NODE_ADDRESS_SIZE], struct why *why)
{
    struct addr_listen at;
    struct buf text = BUF_INIT(NODE_ADDRESS_SIZE - 1);
    char name[65] = "";
    text_copy(ret, NODE_ADDRESS_SIZE, slice_text(given && *given ? given : listen));
    if (given && *given)
        return given_check(given, why);
    if (addr_listen_parse(slice_text(listen), &at, NULL))
        return OK; /* it is told where the server listens */
    if (every_interface(at.host) && !gethostname(name, sizeof(name) - 1) && name[0])
        text_copy(at.host, sizeof(at.host), slice_text(name));
    bool v6 = strchr(at.host, ':') != NULL;
    buf_printf(&text, "%s%s%s%s:%u", tls ? "https://" : "", v6 ? "[" : "", at.host, v6 ? "]" : "",
               port ? port : at.port);
    if (!text.failed)
        text_copy(ret, NODE_ADDRESS_SIZE, slice_of(text.data, text.len));
    buf_done(&text);
    return OK;
}
