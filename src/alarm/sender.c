/* SPDX-License-Identifier: Apache-2.0 */
/* sender.c - the way of an alarm from its row to its end.
 *
 *     peal_alarm --read--> window --take--> workers: send() --> report --write--> peal_delivery,
 *                             ^                                 |              closed, alarm_status
 *                             +---- again, with back-off -------+
 *
 * A crash anywhere leaves the row open, and the next life sends again what this one had not written
 * down: at least once, under the same id. The thread decides and writes; it never waits for another
 * machine, only for commits. A report that cannot be written is kept and written later.
 *
 * Of several servers on one database the first one alone reads and sends (center_first). */
#include "alarm/sender.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "alarm/workers.h"
#include "alarm/text.h"
#include "alarm/window.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "ledger/alarms.h"
#include "model/incident.h"

#define PAGE 500        /* alarms read at once */
#define REWRITE_MS 1000 /* between tries to write reports */
#define REREAD_MS 10000 /* after a read that failed */
#define IDLE_MS 600000
#define MINUTE_MS 60000
#define FOLLOW_MS 1000 /* among several servers: looks at what the others have written, */
#define ALL_MS 10000   /* and at all of it, if that is much */

enum { MESSAGE_WAKE, MESSAGE_TRIED, MESSAGE_STOP };

struct
try { /* under way */
    struct workers_try t;
    struct text *text;
    struct window_alarm *alarm;
    int i;
    int64_t held; /* messages kept back that it tells of */
};

struct report { /* to be written */
    struct list_node node;
    struct alarm_report report;
    struct window_alarm *alarm;
};

struct sender {
    struct sender_config c;
    char *name;
    struct mailbox *in;
    struct message wake, stop;
    _Atomic bool woken;
    pthread_t thread;
    struct workers *workers; /* NULL: the channel is not set up */
    int under_way;
    struct window window;
    struct list reports;
    int64_t last_id;           /* of the last one that was read */
    bool more;                 /* there may be alarms beyond it */
    int64_t begun_ms;          /* boot: no alarm's hour began earlier */
    int64_t read_ms, write_ms; /* boot: not again before */
    int64_t follow_ms, all_ms; /* boot: the next looks of one among several servers */
    bool unset_said;
    _Atomic int64_t reread_id; /* an alarm that is open again; INT64_MAX: there is none */
    int64_t minute_ms;         /* boot: the first message that the limit counts */
    int minute_n;              /* messages since then */
    _Atomic int64_t held;      /* kept back, and not told yet */
};

/* ---- reading --------------------------------------------------------------------------------- */

/* Boot time of the instant at which the alarm was made, or of this life's begin. */
static int64_t since(const struct sender *s, const struct alarm_record *row)
{
    int64_t now_ms = clock_boot_ms(), age_ms = clock_wall_ms() - alarm_begun_ms(row);
    if (age_ms < 0)
        return now_ms;
    return age_ms < now_ms - s->begun_ms ? now_ms - age_ms : s->begun_ms;
}

struct page {
    struct sender *s;
    struct window_alarm *read[PAGE];
    int n, seen; /* seen: also those that are in the window already */
};

static bool add(void *ctx, const struct alarm_record *row)
{
    struct page *p = ctx;
    if (!window_has(&p->s->window, row->id))
        p->read[p->n++] = window_add(&p->s->window, row, since(p->s, row));
    p->s->last_id = row->id;
    p->seen++;
    return true;
}

static bool logged(void *ctx, const struct delivery_record *d)
{
    window_logged(ctx, d);
    return true;
}

/* ---- reports --------------------------------------------------------------------------------- */

static void count(struct sender *s, enum delivery_outcome outcome)
{
    atomic_fetch_add_explicit(&s->c.metric->outcomes[outcome], 1, memory_order_relaxed);
}

/* A target of an alarm was tried, or given up with others. */
static void report(struct sender *s, struct window_alarm *a, int i, enum delivery_outcome outcome,
                   int64_t at_ms, int64_t took_ms, const char *said)
{
    const struct window_target *t = &a->targets[i];
    struct report *r = mem_new(sizeof(*r));
    r->alarm = a->left ? NULL : a;
    r->report = (struct alarm_report){
        .tried = { .alarm_id = a->row.id,
                   .target = mem_dup(t->name),
                   .n = t->tries,
                   .at_ms = at_ms,
                   .took_ms = took_ms,
                   .outcome = outcome,
                   .said = mem_dupn(said, utf8_cut(said, strlen(said), ALARM_SAID_MAX)) },
        .closes = a->left     ? ALARM_CLAIMED
                  : a->failed ? ALARM_FAILED
                  : a->held   ? ALARM_HELD
                              : ALARM_SENT,
    };
    list_push(&s->reports, &r->node);
    count(s, outcome);
}

/* Alarms that are open again are read with all that are open behind them. */
static void look_back(struct sender *s)
{
    int64_t id = atomic_exchange(&s->reread_id, INT64_MAX);
    if (id > s->last_id)
        return;
    s->last_id = id - 1;
    s->more = true;
}

/* Other servers end runs and send alarms again, and nobody wakes this one for that. Their rows are
 * not committed in the order of their ids. */
static void follow(struct sender *s, int64_t now_ms)
{
    if (!center_shares(s->c.center) || now_ms < s->follow_ms)
        return;
    s->follow_ms = now_ms + FOLLOW_MS;
    s->more = true;
    if (s->window.n >= PAGE && now_ms < s->all_ms)
        return;
    s->all_ms = now_ms + ALL_MS;
    s->last_id = 0;
}

static void refill(struct sender *s)
{
    const struct store_alarms *ops = s->c.reader->ops->alarms;
    struct page *p = mem_new(sizeof(*p));
    struct why why = { "" };
    int room = WINDOW_MAX - s->window.n, max = room < PAGE ? room : PAGE;
    p->s = s;
    enum err err = ops->alarms_open(s->c.reader, s->c.name, s->last_id, max, add, p, &why);
    for (int i = 0; !err && i < p->n; i++)
        err = ops->deliveries_each(s->c.reader, p->read[i]->row.id, logged, p->read[i], &why);
    for (int i = 0; !err && i < p->n; i++)
        if (!p->read[i]->left) /* all that was to be done stands in the log: it is only closed */
            report(s, p->read[i], 0, DELIVERY_SENT, clock_wall_ms(), 0, "");
    if (!err)
        s->more = p->seen == max;
    for (int i = 0; err && i < p->n; i++) { /* none of the page: it is read again */
        s->last_id = i ? s->last_id : p->read[i]->row.id - 1;
        window_drop(&s->window, p->read[i]);
    }
    if (err) {
        s->read_ms = clock_boot_ms() + REREAD_MS;
        log_warn("alarm", "cannot read open alarms, trying again: %s", why.text);
    }
    free(p);
}

static void report_copy(struct alarm_report *to, const struct alarm_report *from)
{
    *to = *from;
    to->tried.target = mem_dup(from->tried.target);
    to->tried.said = mem_dup(from->tried.said);
}

/* An asker that gives up leaves its argument with the writer: it gets a copy. */
static struct alarm_reports *reports_copy(const struct sender *s)
{
    struct alarm_reports *a = mem_new(sizeof(*a));
    a->now_ms = clock_wall_ms();
    a->reports = mem_new(ALARMS_REPORT_MAX * sizeof(*a->reports));
    list_each(&s->reports, n, tmp)
    {
        if (a->n == ALARMS_REPORT_MAX)
            break;
        report_copy(&a->reports[a->n++], &container_of(n, struct report, node)->report);
    }
    return a;
}

static void reports_pop(struct sender *s, int n)
{
    for (struct list_node *node; n > 0 && (node = list_pop(&s->reports)); n--) {
        struct report *r = container_of(node, struct report, node);
        if (r->alarm)
            window_drop(&s->window, r->alarm);
        delivery_record_done(&r->report.tried);
        free(r);
    }
}

static void write_reports(struct sender *s)
{
    struct why why = { "" };
    struct alarm_reports *a = reports_copy(s);
    int n = a->n;
    enum err err = center_write(s->c.center, &alarm_reports_write, a, &why);
    if (!err) {
        reports_pop(s, n);
        return;
    }
    s->write_ms = clock_boot_ms() + REWRITE_MS;
    if (err != ERR_STOPPING)
        log_warn("alarm", "cannot write what became of %d alarms, trying again: %s", n, why.text);
}

/* ---- tries ----------------------------------------------------------------------------------- */

static struct text *compose(struct sender *s, const struct window_alarm *a, int i)
{
    struct zone *zone = NULL;
    if (zones_get(center_zones(s->c.center), center_zone_name(s->c.center), &zone, NULL))
        zone = zone_ref(zone_utc());
    struct text *t = text_new(s->c.reader, center_figures(s->c.center), &a->row, a->targets[i].name,
                              zone, s->c.lang);
    zone_unref(zone);
    return t;
}

static struct try *try_of(struct message *m)
{
    return container_of(container_of(m, struct workers_try, message), struct try, t);
}

static void try_free(struct try *t)
{
    text_free(t->text);
    free(t);
}

/* Does the limit keep the first try of that message back? It counts the others. */
static bool over_limit(struct sender *s, const struct window_alarm *a, int i, const struct text *t)
{
    int64_t now_ms = clock_boot_ms();
    bool over = strcmp(text_message(t)->state, tell_state_text(TELL_CLOSED)) == 0;
    if (!s->c.per_minute || a->targets[i].tries > 1 || over)
        return false;
    if (!s->minute_n || now_ms - s->minute_ms >= MINUTE_MS) {
        s->minute_ms = now_ms;
        s->minute_n = 0;
    }
    return s->minute_n++ >= s->c.per_minute;
}

static void keep_back(struct sender *s, struct window_alarm *a, int i)
{
    bool first;
    struct why said = { "" };
    why_set(&said, "kept back: the channel takes %d messages a minute", s->c.per_minute);
    (void)!window_tried(&s->window, a, i, DELIVERY_HELD, clock_boot_ms(), &first);
    report(s, a, i, DELIVERY_HELD, clock_wall_ms(), 0, said.text);
    if (s->held++ == 0)
        log_warn("alarm", "%s: messages are kept back, it takes %d a minute", s->c.name,
                 s->c.per_minute);
}

static void give(struct sender *s, struct window_alarm *a, int i)
{
    struct text *text = compose(s, a, i);
    if (over_limit(s, a, i, text)) {
        keep_back(s, a, i);
        text_free(text);
        return;
    }
    struct try *t = mem_new(sizeof(*t));
    t->alarm = a;
    t->i = i;
    t->held = s->held;
    t->text = text;
    text_held(text, t->held);
    t->t.text = text_message(t->text);
    s->under_way++;
    workers_give(s->workers, &t->t);
}

static void say(const struct sender *s, const char *target, enum delivery_outcome outcome,
                const char *said)
{
    if (outcome == DELIVERY_SENT)
        log_info("alarm", "%s: %s takes alarms again", s->c.name, target);
    else
        log_warn("alarm", "%s: an alarm for %s %s: %s", s->c.name, target,
                 outcome == DELIVERY_AGAIN ? "cannot be sent, trying again for an hour"
                                           : "is given up",
                 said);
}

static void tried(struct sender *s, struct try *t)
{
    struct window_alarm *a = t->alarm;
    const char *target = a->targets[t->i].name;
    int64_t now_ms = clock_boot_ms();
    bool first;
    enum delivery_outcome outcome = window_tried(&s->window, a, t->i, t->t.outcome, now_ms, &first);
    if (first || outcome == DELIVERY_NEVER)
        say(s, target, outcome, t->t.said.text);
    report(s, a, t->i, outcome, t->t.at_ms, t->t.took_ms, t->t.said.text);
    if (outcome == DELIVERY_SENT) /* another one may have told of the same meanwhile */
        s->held -= t->held < s->held ? t->held : s->held;
    int i;
    struct window_alarm *other;
    while (t->t.outcome == DELIVERY_AGAIN &&
           (other = window_overdue(&s->window, target, now_ms, &i)))
        report(s, other, i, DELIVERY_NEVER, t->t.at_ms, 0, t->t.said.text);
    s->under_way--;
    try_free(t);
}

/* Nothing can be tried: the row says so, and why. */
static void give_none(struct sender *s, struct window_alarm *a, int i)
{
    bool first;
    struct why said = { "" };
    why_set(&said, "the channel %s is not set up", s->c.name);
    if (!s->unset_said)
        log_warn("alarm", "there are alarms for %s, and it is not set up", s->c.name);
    s->unset_said = true;
    enum delivery_outcome outcome =
        window_tried(&s->window, a, i, DELIVERY_NEVER, clock_boot_ms(), &first);
    report(s, a, i, outcome, clock_wall_ms(), 0, said.text);
}

static void give_all(struct sender *s)
{
    struct window_alarm *a;
    int i;
    while (s->under_way < WORKERS && window_take(&s->window, clock_boot_ms(), &a, &i)) {
        if (s->workers)
            give(s, a, i);
        else
            give_none(s, a, i);
    }
}

/* ---- the thread ------------------------------------------------------------------------------ */

static int wait_ms(const struct sender *s)
{
    bool first = center_first(s->c.center);
    int64_t now_ms = clock_boot_ms();
    int64_t until_ms = now_ms + (center_shares(s->c.center) ? FOLLOW_MS : IDLE_MS);
    int64_t next_ms = window_next_ms(&s->window, now_ms);
    if (first && s->under_way < WORKERS && next_ms < until_ms)
        until_ms = next_ms;
    if (!list_empty(&s->reports) && s->write_ms < until_ms)
        until_ms = s->write_ms;
    if (first && s->more && s->window.n < WINDOW_MAX && s->read_ms < until_ms)
        until_ms = s->read_ms;
    return until_ms > now_ms ? (int)(until_ms - now_ms) : 0;
}

/* False: stop. */
static bool heard(struct sender *s, struct message *m)
{
    if (m->kind == MESSAGE_STOP)
        return false;
    if (m->kind == MESSAGE_TRIED) {
        tried(s, try_of(m));
        return true;
    }
    s->woken = false;
    s->more = true;
    return true;
}

/* The window stays while this server's lease is late: nobody else is the first one before its life
 * has ended, and with that the process does. */
static void work(struct sender *s)
{
    int64_t now_ms = clock_boot_ms();
    if (center_first(s->c.center)) {
        follow(s, now_ms);
        look_back(s);
        if (s->more && s->window.n < WINDOW_MAX && now_ms >= s->read_ms)
            refill(s);
        give_all(s);
    }
    if (!list_empty(&s->reports) && now_ms >= s->write_ms)
        write_reports(s);
}

static void *sender_main(void *arg)
{
    struct sender *s = arg;
    struct list incoming;
    list_init(&incoming);
    for (bool going = true; going;) {
        work(s);
        if (!mailbox_take(s->in, &incoming))
            mailbox_wait(s->in, wait_ms(s));
        for (struct list_node *n; going && (n = list_pop(&incoming));)
            going = heard(s, container_of(n, struct message, node));
    }
    workers_free(s->workers);
    mailbox_take(s->in, &incoming);
    for (struct list_node *n; (n = list_pop(&incoming));) { /* the next life sends these again */
        struct message *m = container_of(n, struct message, node);
        if (m->kind == MESSAGE_TRIED)
            try_free(try_of(m));
    }
    return NULL;
}

struct sender *sender_new(const struct sender_config *config)
{
    struct sender *s = mem_new(sizeof(*s));
    s->c = *config;
    s->c.name = s->name = mem_dup(config->name);
    s->in = mailbox_new();
    s->wake.kind = MESSAGE_WAKE;
    s->stop.kind = MESSAGE_STOP;
    s->more = true;
    s->begun_ms = clock_boot_ms();
    s->reread_id = INT64_MAX;
    window_init(&s->window);
    list_init(&s->reports);
    if (s->c.channel)
        s->workers = workers_new(s->c.channel, s->in, MESSAGE_TRIED);
    if (thread_start(&s->thread, "peal-alarm", 0, sender_main, s))
        abort(); /* no threads at start: nothing can run */
    return s;
}

bool sender_is_open(const struct sender *s)
{
    return s->c.channel != NULL;
}

void sender_wake(struct sender *s)
{
    if (!atomic_exchange(&s->woken, true))
        mailbox_send(s->in, &s->wake);
}

void sender_reread(struct sender *s, int64_t id)
{
    int64_t other = s->reread_id;
    while (id < other && !atomic_compare_exchange_weak(&s->reread_id, &other, id))
        ;
    sender_wake(s);
}

int64_t sender_held(const struct sender *s)
{
    return s->held;
}

void sender_free(struct sender *s)
{
    if (!s)
        return;
    mailbox_send(s->in, &s->stop);
    pthread_join(s->thread, NULL);
    struct list rest;
    list_init(&rest);
    mailbox_take(s->in, &rest); /* messages that are parts of s */
    mailbox_free(s->in);
    reports_pop(s, INT32_MAX);
    window_done(&s->window);
    if (s->c.channel)
        s->c.channel->ops->close(s->c.channel);
    store_close(s->c.reader);
    free(s->name);
    free(s);
}
