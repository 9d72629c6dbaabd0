/* SPDX-License-Identifier: Apache-2.0 */
/* A registration that others have taken is known here by its row, whose time counts as a beat's. A
 * group, with its token, is told of when what its rows say is not what they said at the last look,
 * so all of them are at the first one. What is not in the database any more is forgotten.
 *
 * A look may be older than what this server has changed itself. So it notes which batch was the
 * last that was done when it began; what memory has from a later one stays, and another look
 * follows.
 *
 * Of Java admins their results are heard as well: an open run whose log row an admin has ended has
 * that end. The admin has triggered its children, and finds the failure of one that has failed. */
#include "server/heard.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/secret.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    JAVA_EVERY_MS = 3000,
    ALL_EVERY_MS = 10000, /* executors beat every 30 s, and are gone after 90 */
    SAYS_MAX = 1024 * 1024,
};

struct said { /* SHA-256 of what its rows say */
    unsigned char digest[32];
};

struct heard {
    struct mailbox *tell;
    int kind;
    bool java;
    struct node *node;
    struct map says; /* group id -> struct said */
    uint64_t others; /* as it was at the last look */
    int64_t next_ms; /* boot: of the next one in any case */
    pthread_mutex_t lock;
    uint64_t committed; /* from here on under the lock */
    int64_t *again;     /* groups that are to be told again */
    size_t nagain;
    bool look_again;
};

struct look {
    struct heard *h;
    struct heard_news *news;
};

struct heard *heard_new(struct node *node, bool java, struct mailbox *tell, int kind)
{
    if (!java && !node_shared(node))
        return NULL;
    struct heard *h = mem_new(sizeof(*h));
    map_init(&h->says);
    pthread_mutex_init(&h->lock, NULL);
    h->node = node;
    h->java = java;
    h->tell = tell;
    h->kind = kind;
    h->look_again = true;
    return h;
}

void heard_free(struct heard *h)
{
    if (!h)
        return;
    void *said;
    for (size_t i = 0; map_next(&h->says, &i, &said);)
        free(said);
    map_done(&h->says);
    pthread_mutex_destroy(&h->lock);
    free(h->again);
    free(h);
}

/* ---- looking --------------------------------------------------------------------------------- */

static bool on_token(void *ctx, const struct group_token *t)
{
    struct heard_news *news = ((struct look *)ctx)->news;
    struct group_token copy;
    group_token_copy(&copy, t);
    HEARD_ADD(news->tokens, news->ntokens, copy);
    return true;
}

static bool on_moved(void *ctx, int64_t group_id, const char *address)
{
    struct heard_news *news = ((struct look *)ctx)->news;
    struct heard_moved moved = { group_id, mem_dup(address) };
    HEARD_ADD(news->moved, news->nmoved, moved);
    return true;
}

static bool on_row(void *ctx, const struct registry_record *r)
{
    struct heard_news *news = ((struct look *)ctx)->news;
    struct registry_record row = { mem_dup(r->group), mem_dup(r->key), mem_dup(r->value),
                                   r->updated_ms };
    HEARD_ADD(news->rows, news->nrows, row);
    return true;
}

/* The list of a group by registry follows from registrations. */
static void says_of(const struct heard_news *news, const struct group_record *g, struct said *ret)
{
    struct buf text = BUF_INIT(SAYS_MAX);
    buf_printf(&text, "%d %s", g->address_type, g->app ? g->app : "");
    if (g->address_type != 0)
        buf_printf(&text, "\n%s", g->address_list ? g->address_list : "");
    const struct group_token *t = heard_token(news, g->id);
    if (t)
        buf_printf(&text, "\n%s\n%s\n%lld", t->token ? t->token : "", t->next ? t->next : "",
                   (long long)t->since_ms);
    for (size_t i = 0; i < news->nmoved; i++)
        if (news->moved[i].group_id == g->id)
            buf_printf(&text, "\n%s", news->moved[i].address);
    sha256(buf_str(&text), text.len, ret->digest);
    buf_done(&text);
}

static bool on_group(void *ctx, const struct group_record *g)
{
    struct look *l = ctx;
    struct said *said = map_find(&l->h->says, (uint64_t)g->id), now;
    says_of(l->news, g, &now);
    HEARD_ADD(l->news->ids, l->news->nids, g->id);
    if (said && memcmp(said, &now, sizeof(now)) == 0)
        return true;
    if (!said) {
        said = mem_new(sizeof(*said));
        map_set(&l->h->says, (uint64_t)g->id, said);
    }
    *said = now;
    struct group_record copy;
    group_record_copy(&copy, g);
    HEARD_ADD(l->news->groups, l->news->ngroups, copy);
    return true;
}

static bool on_ended(void *ctx, int64_t log_id, int code, const char *msg)
{
    struct heard_news *news = ((struct look *)ctx)->news;
    struct heard_ended ended = { log_id, code, mem_dup(msg) };
    HEARD_ADD(news->ended, news->nended, ended);
    return true;
}

/* Tokens first: what a group says is known with its own row. */
static enum err read_all(struct look *l, struct store *reader, struct why *why)
{
    const struct store_ops *ops = reader->ops;
    enum err err = ops->catalog->group_tokens_each(reader, on_token, l, why);
    if (!err)
        err = ops->catalog->group_moved_each(reader, on_moved, l, why);
    if (!err)
        err = ops->catalog->groups_each(reader, on_group, l, why);
    if (!err)
        err = ops->catalog->registry_each(reader, on_row, l, why);
    if (!err && l->h->java && ops->pages->runs_ended)
        err = ops->pages->runs_ended(reader, on_ended, l, why);
    return err;
}

static bool wanted_again(struct heard *h)
{
    pthread_mutex_lock(&h->lock);
    bool again = h->look_again;
    pthread_mutex_unlock(&h->lock);
    return again;
}

bool heard_due(struct heard *h)
{
    return h && (wanted_again(h) || node_counts(h->node) || node_others(h->node) != h->others ||
                 clock_boot_ms() >= h->next_ms);
}

/* What was done before this look begins, and what it shall tell again. */
static void look_begin(struct look *l)
{
    struct heard *h = l->h;
    pthread_mutex_lock(&h->lock);
    l->news->seq = h->committed;
    for (size_t i = 0; i < h->nagain; i++) {
        struct said *said = map_find(&h->says, (uint64_t)h->again[i]);
        if (said)
            memset(said, 0, sizeof(*said));
    }
    free(h->again);
    h->again = NULL;
    h->nagain = 0;
    h->look_again = false;
    pthread_mutex_unlock(&h->lock);
    h->others = node_others(h->node);
    h->next_ms = clock_boot_ms() + (h->java ? JAVA_EVERY_MS : ALL_EVERY_MS);
}

void heard_look(struct heard *h, struct store *reader)
{
    struct look l = { h, mem_new(sizeof(*l.news)) };
    struct why why = { "" };
    l.news->message.kind = h->kind;
    if (node_counts(h->node))
        node_count(h->node, reader);
    look_begin(&l);
    if (!read_all(&l, reader, &why)) {
        mailbox_send(h->tell, &l.news->message);
        return;
    }
    log_warn("maintenance",
             "what others have changed in the database is not known, will be read again: %s",
             why.text);
    heard_untold(h, l.news);
    heard_drop(&l.news->message);
    h->others = node_others(h->node);
    h->next_ms = clock_boot_ms() + JAVA_EVERY_MS;
    pthread_mutex_lock(&h->lock);
    h->look_again = false; /* not at once */
    pthread_mutex_unlock(&h->lock);
}

/* ---- what the scheduler says of it -----------------------------------------------------------
 */

void heard_committed(struct heard *h, uint64_t seq)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    h->committed = seq;
    pthread_mutex_unlock(&h->lock);
}

void heard_again(struct heard *h, int64_t group_id)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    HEARD_ADD(h->again, h->nagain, group_id);
    h->look_again = true;
    pthread_mutex_unlock(&h->lock);
}

void heard_untold(struct heard *h, const struct heard_news *news)
{
    for (size_t i = 0; i < news->ngroups; i++)
        heard_again(h, news->groups[i].id);
}

/* ---- news ------------------------------------------------------------------------------------ */

const struct group_token *heard_token(const struct heard_news *news, int64_t group_id)
{
    for (size_t i = 0; i < news->ntokens; i++)
        if (news->tokens[i].group_id == group_id)
            return &news->tokens[i];
    return NULL;
}

void heard_drop(struct message *m)
{
    struct heard_news *news = container_of(m, struct heard_news, message);
    for (size_t i = 0; i < news->ngroups; i++)
        group_record_done(&news->groups[i]);
    for (size_t i = 0; i < news->ntokens; i++)
        group_token_done(&news->tokens[i]);
    for (size_t i = 0; i < news->nmoved; i++)
        free(news->moved[i].address);
    for (size_t i = 0; i < news->nrows; i++)
        registry_record_done(&news->rows[i]);
    for (size_t i = 0; i < news->nended; i++)
        free(news->ended[i].msg);
    free(news->ids);
    free(news->groups);
    free(news->tokens);
    free(news->moved);
    free(news->rows);
    free(news->ended);
    free(news);
}
