/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that sleeps in its mailbox and works when the time is up: slow disks delay nothing else.
 */
#include "server/maintenance.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "base/mem.h"
#include "base/thread.h"
#include <stdatomic.h>
#include <stdlib.h>

#define EVERY_MS 1000
#define ZONES_EVERY 60 /* rounds */
#define RUNS_EVERY 30
#define HEARD_EVERY_MS 250

enum maintenance_message { MAINTENANCE_STOP, MAINTENANCE_WAKE };

struct maintenance {
    struct store *reader;
    struct mailbox *in; /* the request to stop, and to look at what others have changed */
    struct message stop, wake;
    _Atomic bool is_woken;
    bool stopping;
    struct zones *zones;
    struct figures *figures;
    struct mailbox *tell;
    int kind;
    struct heard *heard;
    pthread_t thread;
};

static void look_at_zones(struct maintenance *t)
{
    int n = zones_refresh(t->zones);
    if (n == 0)
        return;
    log_info("maintenance", "%d time zones have changed; schedules follow", n);
    struct message *l = mem_new(sizeof(*l));
    l->kind = t->kind;
    mailbox_send(t->tell, l);
}

/* For the report's rows, which the writer writes. */
static void look_at_runs(struct maintenance *t)
{
    struct report_row days[FIGURES_REPORT_DAYS];
    struct why why = { "" };
    if (figures_report(t->figures, t->reader, NULL, clock_wall_ms(), days, &why))
        log_warn("maintenance", "running runs cannot be counted, will be tried again: %s",
                 why.text);
}

static void take_messages(struct maintenance *t)
{
    struct list incoming;
    list_init(&incoming);
    mailbox_take(t->in, &incoming);
    for (struct list_node *n; (n = list_pop(&incoming));)
        if (container_of(n, struct message, node)->kind == MAINTENANCE_STOP)
            t->stopping = true;
        else
            atomic_store(&t->is_woken, false); /* from now on it may be sent again */
}

/* Until the next round. */
static void wait(struct maintenance *t)
{
    int64_t until_ms = clock_boot_ms() + EVERY_MS;
    for (int64_t left_ms = EVERY_MS; left_ms > 0; left_ms = until_ms - clock_boot_ms()) {
        if (heard_due(t->heard))
            heard_look(t->heard, t->reader);
        bool short_waits = t->heard && left_ms > HEARD_EVERY_MS;
        mailbox_wait(t->in, short_waits ? HEARD_EVERY_MS : (int)left_ms);
        take_messages(t);
        if (t->stopping)
            return;
    }
}

static void *maintenance_main(void *arg)
{
    struct maintenance *t = arg;
    for (int round = 1; !t->stopping; round++) {
        if (round % ZONES_EVERY == 0)
            look_at_zones(t);
        if (round % RUNS_EVERY == 0)
            look_at_runs(t);
        struct why why = { "" };
        enum err err = store_tend(t->reader, &why);
        if (err)
            log_warn("maintenance", "housekeeping failed, will be tried again: %s", why.text);
        wait(t);
    }
    return NULL;
}

struct maintenance *maintenance_new(struct store *reader, struct zones *zones,
                                    struct figures *figures, struct mailbox *tell, int kind,
                                    struct heard *heard)
{
    struct maintenance *t = mem_new(sizeof(*t));
    t->reader = reader;
    t->zones = zones;
    t->figures = figures;
    t->tell = tell;
    t->kind = kind;
    t->heard = heard;
    t->in = mailbox_new();
    if (thread_start(&t->thread, "peal-maintain", 0, maintenance_main, t))
        abort(); /* no threads at start: nothing can run */
    return t;
}

void maintenance_wake(struct maintenance *t)
{
    if (atomic_exchange(&t->is_woken, true))
        return;
    t->wake.kind = MAINTENANCE_WAKE;
    mailbox_send(t->in, &t->wake);
}

void maintenance_free(struct maintenance *t)
{
    if (!t)
        return;
    t->stop.kind = MAINTENANCE_STOP;
    mailbox_send(t->in, &t->stop);
    pthread_join(t->thread, NULL);
    mailbox_free(t->in);
    store_close(t->reader);
    free(t);
}
