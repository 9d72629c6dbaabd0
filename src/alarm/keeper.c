/* SPDX-License-Identifier: Apache-2.0 */
/* keeper.c - the list of senders is this thread's; others wake them, under a lock that is never
 * held while a sender ends. */
#include "alarm/keeper.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "alarm/kind.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "ledger/alarms.h"

#define LOOK_MS 60000  /* at the table without a reason */
#define AGAIN_MS 10000 /* after a read or a write that failed */
#define FOLLOW_MS 1000 /* among several servers, whose alarms wake nobody here */
#define PAGE 100       /* at most ALARMS_REPORT_MAX */

enum { MESSAGE_WAKE, MESSAGE_CHANGED, MESSAGE_STOP };

struct kept {
    int64_t id, version;
    char *name;
    struct sender *sender; /* NULL: it is off, or cannot be opened */
    bool there;
};

struct keeper {
    struct keeper_config c;
    struct mailbox *in;
    struct message wake, changed, stop;
    _Atomic bool woken, has_changed;
    pthread_t thread;
    pthread_mutex_t lock; /* guards kept, for others than the thread */
    struct kept *kept[CHANNELS_MAX];
    int n;
    int64_t last_id; /* alarms up to it have been looked at for their channel */
    bool stale;      /* the list is to be read anew */
    int64_t look_ms; /* boot: not again before, after a failure */
    struct list incoming;
};

/* ---- the list -------------------------------------------------------------------------------- */

static void kept_free(struct kept *x)
{
    sender_free(x->sender);
    free(x->name);
    free(x);
}

static struct kept *find(const struct keeper *k, int64_t id, int64_t version)
{
    for (int i = 0; i < k->n; i++)
        if (k->kept[i]->id == id && k->kept[i]->version == version)
            return k->kept[i];
    return NULL;
}

static struct sender *begin(struct keeper *k, const struct channel_record *r)
{
    struct why why = { "" };
    struct sender_config config = {
        .center = k->c.center, .name = r->name, .lang = k->c.lang, .per_minute = r->per_minute
    };
    enum err err = made_open(r, &k->c.rules, &config.channel, &why);
    if (!err)
        err = center_reader(k->c.center, &config.reader, &why);
    if (err) {
        log_warn("alarm", "the channel %s cannot be opened: %s", r->name, why.text);
        if (config.channel)
            config.channel->ops->close(config.channel);
        return NULL;
    }
    config.metric = metric_channel(center_metrics(k->c.center), kind_of(slice_text(r->kind))->name);
    return sender_new(&config);
}

static void put(struct keeper *k, struct kept *x)
{
    pthread_mutex_lock(&k->lock);
    if (k->n < CHANNELS_MAX)
        k->kept[k->n++] = x;
    pthread_mutex_unlock(&k->lock);
}

struct rows {
    struct channel_record rows[CHANNELS_MAX];
    int n;
};

static bool add_row(void *ctx, const struct channel_record *r)
{
    struct rows *x = ctx;
    channel_record_copy(&x->rows[x->n++], r);
    return x->n < CHANNELS_MAX;
}

/* Senders of rows that have gone or changed. */
static void end_others(struct keeper *k)
{
    struct kept *gone[CHANNELS_MAX];
    int ngone = 0, n = 0;
    pthread_mutex_lock(&k->lock);
    for (int i = 0; i < k->n; i++)
        if (k->kept[i]->there)
            k->kept[n++] = k->kept[i];
        else
            gone[ngone++] = k->kept[i];
    k->n = n;
    pthread_mutex_unlock(&k->lock);
    for (int i = 0; i < ngone; i++)
        kept_free(gone[i]);
}

static void begin_new(struct keeper *k, const struct rows *rows)
{
    for (int i = 0; i < rows->n; i++) {
        const struct channel_record *r = &rows->rows[i];
        if (find(k, r->id, r->version))
            continue;
        struct kept *x = mem_new(sizeof(*x));
        *x = (struct kept){ .id = r->id, .version = r->version, .name = mem_dup(r->name) };
        x->sender = r->enabled ? begin(k, r) : NULL;
        put(k, x);
    }
}

static enum err reread(struct keeper *k, struct why *why)
{
    struct rows *rows = mem_new(sizeof(*rows));
    enum err err = k->c.reader->ops->alarms->channels_each(k->c.reader, add_row, rows, why);
    for (int i = 0; i < k->n; i++)
        k->kept[i]->there = false;
    for (int i = 0; !err && i < rows->n; i++) {
        struct kept *x = find(k, rows->rows[i].id, rows->rows[i].version);
        if (x)
            x->there = true;
    }
    if (!err) {
        end_others(k);
        begin_new(k, rows);
        k->stale = false;
        k->last_id = 0; /* alarms for a channel that has gone */
    }
    for (int i = 0; i < rows->n; i++)
        channel_record_done(&rows->rows[i]);
    free(rows);
    return err;
}

/* ---- alarms for channels that are not there -------------------------------------------------- */

struct page {
    struct alarm_record rows[PAGE];
    int n;
};

static bool add_alarm(void *ctx, const struct alarm_record *r)
{
    struct page *p = ctx;
    struct alarm_record *to = &p->rows[p->n++];
    *to = *r;
    to->channel = mem_dup(r->channel);
    to->targets = mem_dup(r->targets);
    to->cause = NULL;
    return p->n < PAGE;
}

static bool served(const struct keeper *k, const char *name)
{
    for (int i = 0; channel_table[i]; i++)
        if (strcmp(channel_table[i]->name, name) == 0)
            return true; /* by its own sender, set up or not */
    for (int i = 0; i < k->n; i++)
        if (k->kept[i]->sender && strcmp(k->kept[i]->name, name) == 0)
            return true;
    return false;
}

/* The row says why it ends. */
static void report(struct alarm_reports *a, const struct alarm_record *r)
{
    struct why said = { "" };
    why_set(&said, "the channel %s is not set up, or off", r->channel);
    a->reports[a->n++] = (struct alarm_report){
        .tried = { .alarm_id = r->id,
                   .target = mem_dup(""),
                   .n = 1,
                   .at_ms = a->now_ms,
                   .outcome = DELIVERY_NEVER,
                   .said = mem_dup(said.text) },
        .closes = ALARM_FAILED,
    };
}

static enum err end_unserved(struct keeper *k, const struct page *p, struct why *why)
{
    struct alarm_reports *a = mem_new(sizeof(*a));
    a->now_ms = clock_wall_ms();
    a->reports = mem_new(PAGE * sizeof(*a->reports));
    for (int i = 0; i < p->n; i++)
        if (!served(k, p->rows[i].channel))
            report(a, &p->rows[i]);
    if (a->n)
        log_warn("alarm", "%d alarms are for channels that are not set up, or off", a->n);
    return center_write(k->c.center, &alarm_reports_write, a, why);
}

static bool any_unserved(const struct keeper *k, const struct page *p)
{
    for (int i = 0; i < p->n; i++)
        if (!served(k, p->rows[i].channel))
            return true;
    return false;
}

/* A channel that such an alarm names may have been made since the list was read. */
static enum err look_at(struct keeper *k, struct page *p, bool *ret_more, struct why *why)
{
    const struct store_alarms *ops = k->c.reader->ops->alarms;
    enum err err = ops->alarms_open(k->c.reader, NULL, k->last_id, PAGE, add_alarm, p, why);
    int64_t last_id = p->n ? p->rows[p->n - 1].id : k->last_id;
    if (!err && any_unserved(k, p)) {
        err = reread(k, why);
        if (!err)
            err = end_unserved(k, p, why);
    }
    if (!err)
        k->last_id = last_id;
    *ret_more = !err && p->n == PAGE;
    return err;
}

static void work(struct keeper *k)
{
    struct why why = { "" };
    enum err err = k->stale ? reread(k, &why) : OK;
    for (bool more = center_first(k->c.center); !err && more;) {
        struct page *p = mem_new(sizeof(*p));
        err = look_at(k, p, &more, &why);
        for (int i = 0; i < p->n; i++)
            alarm_record_done(&p->rows[i]);
        free(p);
    }
    k->look_ms = clock_boot_ms() + (err                          ? AGAIN_MS
                                    : center_shares(k->c.center) ? FOLLOW_MS
                                                                 : LOOK_MS);
    if (err && err != ERR_STOPPING)
        log_warn("alarm", "cannot look after channels, trying again: %s", why.text);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* False: stop. */
static bool heard(struct keeper *k, const struct message *m)
{
    if (m->kind == MESSAGE_CHANGED)
        k->has_changed = false;
    if (m->kind == MESSAGE_WAKE)
        k->woken = false;
    k->stale |= m->kind == MESSAGE_CHANGED;
    return m->kind != MESSAGE_STOP;
}

static void *keeper_main(void *arg)
{
    struct keeper *k = arg;
    for (bool going = true; going;) {
        work(k);
        int64_t left_ms = k->look_ms - clock_boot_ms();
        if (!mailbox_take(k->in, &k->incoming))
            mailbox_wait(k->in, left_ms > 0 ? (int)left_ms : 0);
        for (struct list_node *n; going && (n = list_pop(&k->incoming));)
            going = heard(k, container_of(n, struct message, node));
    }
    return NULL;
}

struct keeper *keeper_new(const struct keeper_config *config)
{
    struct keeper *k = mem_new(sizeof(*k));
    k->c = *config;
    k->in = mailbox_new();
    k->wake.kind = MESSAGE_WAKE;
    k->changed.kind = MESSAGE_CHANGED;
    k->stop.kind = MESSAGE_STOP;
    k->stale = true;
    list_init(&k->incoming);
    pthread_mutex_init(&k->lock, NULL);
    if (thread_start(&k->thread, "peal-channels", 0, keeper_main, k))
        abort(); /* no threads at start: nothing can run */
    return k;
}

void keeper_wake(struct keeper *k)
{
    pthread_mutex_lock(&k->lock);
    for (int i = 0; i < k->n; i++)
        if (k->kept[i]->sender)
            sender_wake(k->kept[i]->sender);
    pthread_mutex_unlock(&k->lock);
    if (!atomic_exchange(&k->woken, true))
        mailbox_send(k->in, &k->wake);
}

void keeper_reread(struct keeper *k, int64_t id)
{
    pthread_mutex_lock(&k->lock);
    for (int i = 0; i < k->n; i++)
        if (k->kept[i]->sender)
            sender_reread(k->kept[i]->sender, id);
    pthread_mutex_unlock(&k->lock);
    keeper_changed(k); /* looks at all that are open */
}

int64_t keeper_held(struct keeper *k, int64_t channel_id)
{
    int64_t held = 0;
    pthread_mutex_lock(&k->lock);
    for (int i = 0; i < k->n; i++)
        if (k->kept[i]->sender && k->kept[i]->id == channel_id)
            held += sender_held(k->kept[i]->sender);
    pthread_mutex_unlock(&k->lock);
    return held;
}

void keeper_changed(struct keeper *k)
{
    if (!atomic_exchange(&k->has_changed, true))
        mailbox_send(k->in, &k->changed);
}

void keeper_free(struct keeper *k)
{
    if (!k)
        return;
    mailbox_send(k->in, &k->stop);
    pthread_join(k->thread, NULL);
    mailbox_take(k->in, &k->incoming); /* messages that are parts of k */
    mailbox_free(k->in);
    for (int i = 0; i < k->n; i++)
        kept_free(k->kept[i]);
    pthread_mutex_destroy(&k->lock);
    store_close(k->c.reader);
    free(k);
}
