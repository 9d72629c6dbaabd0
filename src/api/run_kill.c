/* SPDX-License-Identifier: Apache-2.0 */
/* run_kill.c - a kill of a run that another server owns is a row in its inbox (peal_inbox). The
 * owner writes there what came of it. It may end, or the run may change its owner: whoever has the
 * run then reads the row as well. So what is waited for here is the row's answer, or that the run
 * has no live row any more. */
#include "api/run_kill.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdlib.h>
#include <time.h>

#define WAIT_MS 4000
#define LOOK_MS 40
#define OVER_MS 600 /* the run is over and no answer has come: it has ended otherwise */

struct asked { /* for the writer's thread */
    int64_t log_id, id;
    int64_t *ret_id; /* the asker's; NULL: none */
};

static enum err ask_run(struct store *s, void *arg, struct why *why)
{
    struct asked *a = arg;
    bool live = false;
    enum err err = s->ops->cluster->runs_live(s, &a->log_id, 1, &live, why);
    if (!err && !live) {
        why_set(why, "the run has ended already");
        return ERR_NOTFOUND;
    }
    return err ? err : s->ops->cluster->inbox_ask(s, a->log_id, clock_wall_ms(), &a->id, why);
}

static enum err take_run(struct store *s, void *arg, struct why *why)
{
    const struct asked *a = arg;
    bool taken;
    return s->ops->cluster->inbox_take(s, &a->id, 1, &taken, why);
}

static void asked_done(void *arg, enum err err, const struct why *why)
{
    struct asked *a = arg;
    (void)why;
    if (!err && a->ret_id)
        *a->ret_id = a->id;
    free(a);
}

static enum err ask(struct web_call *call, int64_t log_id, int64_t *ret_id, struct why *why)
{
    static const struct ledger_write write = { ask_run, asked_done };
    struct asked *a = mem_new(sizeof(*a));
    a->log_id = log_id;
    a->ret_id = ret_id;
    return center_write(call->center, &write, a, why);
}

static void take(struct web_call *call, int64_t id)
{
    static const struct ledger_write write = { take_run, asked_done };
    struct asked *a = mem_new(sizeof(*a));
    a->id = id;
    center_write_later(call->center, &write, a);
}

/* ---- the wait -------------------------------------------------------------------------------- */

static enum err told(const struct inbox_row *r, char *said, struct why *why)
{
    static const enum err errs[] = { [INBOX_DONE] = OK,
                                     [INBOX_ENDED_BEFORE] = ERR_NOTFOUND,
                                     [INBOX_OTHER_KILL] = ERR_BUSY,
                                     [INBOX_REFUSED] = ERR_NET };
    bool known = r->code >= 0 && (size_t)r->code < countof(errs);
    enum err err = known ? errs[r->code] : ERR_NET;
    text_copy(said, 256, slice_text(r->msg ? r->msg : ""));
    if (err)
        why_set(why, "%s", said);
    return err;
}

/* *ret_answered: err is the owner's answer, or this side could not read it. */
static enum err look(struct web_call *call, int64_t id, bool *ret_answered, char *said,
                     struct why *why)
{
    struct inbox_row r;
    enum err err = call->db->ops->cluster->inbox_get(call->db, id, &r, why);
    *ret_answered = err != OK;
    if (err == ERR_NOTFOUND)
        why_set(why, "what came of the kill has been deleted");
    if (err)
        return err == ERR_NOTFOUND ? ERR_NET : err;
    *ret_answered = r.what == INBOX_ANSWERED;
    if (*ret_answered)
        err = told(&r, said, why);
    free(r.msg);
    return err;
}

static enum err wait(struct web_call *call, const struct asked *a, char *said, struct why *why)
{
    const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
    int64_t end_ms = clock_boot_ms() + WAIT_MS, over_ms = 0;
    bool answered = false, live = true;
    for (int64_t now_ms; (now_ms = clock_boot_ms()) < end_ms; nanosleep(&pause, NULL)) {
        enum err err = look(call, a->id, &answered, said, why);
        if (answered)
            return err;
        if (live) /* one that is over stays so */
            err = call->db->ops->cluster->runs_live(call->db, &a->log_id, 1, &live, why);
        if (err)
            return err;
        if (!live && !over_ms)
            over_ms = now_ms + OVER_MS;
        if (!live && now_ms >= over_ms) {
            why_set(why, "the run has ended already");
            return ERR_NOTFOUND;
        }
    }
    why_set(why, "the server that owns the run does not answer; the kill is recorded, and whoever "
                 "owns the run then does it");
    return ERR_TIMEOUT;
}

enum err run_kill(struct web_call *call, int64_t log_id, char *said, struct why *why)
{
    struct asked a = { .log_id = log_id };
    enum err err = center_kill(call->center, log_id, said, why);
    if (err != ERR_NOTFOUND || !center_shares(call->center))
        return err;
    why_clear(why);
    err = ask(call, log_id, &a.id, why);
    if (err)
        return err;
    center_nudge(call->center); /* its owner looks */
    err = wait(call, &a, said, why);
    if (err != ERR_TIMEOUT)
        take(call, a.id);
    return err;
}
