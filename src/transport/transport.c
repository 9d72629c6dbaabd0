/* SPDX-License-Identifier: Apache-2.0 */
/* transport.c - the table of transports, and which of them an address means. */
#include "transport/transport.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/mem.h"

/* One row a scheme: ROW(scheme, its struct transport_ops). */
#define TABLE(ROW)                                                                                 \
    ROW("http", transport_http)                                                                    \
    ROW("https", transport_http)

#define DECLARED(scheme, ops) extern const struct transport_ops ops;
TABLE(DECLARED)

#define IN_THE_TABLE(scheme, ops) { scheme, &ops },
const struct transport_row transport_rows[] = { TABLE(IN_THE_TABLE){ NULL, NULL } };

struct transports {
    const struct transport_row *rows;
    int n;
    struct transport *of[]; /* by row; rows with the same functions share one */
};

/* The transport of an earlier row with the same functions, or NULL. */
static struct transport *shared(const struct transports *s, int row)
{
    for (int i = 0; i < row; i++)
        if (s->rows[i].ops == s->rows[row].ops)
            return s->of[i];
    return NULL;
}

enum err transports_new(const struct transport_row *rows, struct loop *l,
                        const struct transport_config *config, struct transports **ret,
                        struct why *why)
{
    int n = 0;
    while (rows[n].scheme)
        n++;
    struct transports *s = mem_new(sizeof(*s) + (size_t)n * sizeof(s->of[0]));
    s->rows = rows;
    for (; s->n < n; s->n++) {
        s->of[s->n] = shared(s, s->n);
        enum err err = s->of[s->n] ? OK : rows[s->n].ops->make(l, config, &s->of[s->n], why);
        if (err) {
            transports_free(s);
            return err;
        }
    }
    *ret = s;
    return OK;
}

void transports_free(struct transports *s)
{
    for (int i = 0; s && i < s->n; i++)
        if (!shared(s, i))
            s->of[i]->ops->free(s->of[i]);
    free(s);
}

static int row_of(const struct transport_row *rows, struct slice address)
{
    for (int i = 0; rows[i].scheme; i++) {
        size_t n = strlen(rows[i].scheme);
        if (address.n >= n + 3 && strncasecmp(address.p, rows[i].scheme, n) == 0 &&
            memcmp(address.p + n, "://", 3) == 0)
            return i;
    }
    return 0;
}

struct transport *transport_of(struct transports *s, const char *address)
{
    return s->of[row_of(s->rows, slice_text(address))];
}

enum err transport_address_check(struct slice address, const char *name, struct why *why)
{
    return transport_rows[row_of(transport_rows, address)].ops->check(address, name, why);
}

void transports_call(struct transports *s, const struct call *what, struct transport_call *c)
{
    c->transport = transport_of(s, what->address);
    c->transport->ops->call(c->transport, what, c);
}

void transports_warm(struct transports *s, const char *address, int connections)
{
    struct transport *t = transport_of(s, address);
    t->ops->warm(t, address, connections);
}

void transports_sweep(struct transports *s, int64_t boot_ms)
{
    for (int i = 0; i < s->n; i++)
        if (!shared(s, i))
            s->of[i]->ops->sweep(s->of[i], boot_ms);
}
