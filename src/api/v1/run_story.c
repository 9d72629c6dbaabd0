/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a run in the order of their times. A step that has no time of its own (a query, say)
 * stands at that of the step that it belongs to. */
#include "api/v1/run_story.h"
#include "api/v1/run_page.h"
#include "api/v1/v1.h"
#include <string.h>

#define STEPS_MAX 16

struct step {
    const char *name;
    int64_t us; /* epoch */
    bool ok;
    /* params, those that are there */
    const char *address, *message;
    int64_t times, code, waited_us; /* -1: not there */
};

struct steps {
    struct step list[STEPS_MAX];
    int n;
};

/* The next step; its params are to be filled in. Steps at one time keep the order of the calls. */
static struct step *add(struct steps *s, const char *name, int64_t us, bool ok)
{
    int i = s->n < STEPS_MAX ? s->n++ : STEPS_MAX - 1;
    for (; i > 0 && s->list[i - 1].us > us; i--)
        s->list[i] = s->list[i - 1];
    s->list[i] =
        (struct step){ .name = name, .us = us, .ok = ok, .times = -1, .code = -1, .waited_us = -1 };
    return &s->list[i];
}

/* ---- writing -----------------------------------------------------------------------------------
 */

static void write_params(struct jsonw *w, const struct step *p)
{
    jsonw_object(w, "params");
    if (p->address)
        jsonw_text(w, "address", p->address);
    if (p->waited_us >= 0)
        jsonw_real(w, "waitedMs", (double)p->waited_us / 1000);
    if (p->times >= 0)
        jsonw_i64(w, "times", p->times);
    if (p->code >= 0)
        jsonw_i64(w, "code", p->code);
    if (p->message)
        jsonw_text(w, "message", p->message);
    jsonw_object_end(w);
}

static void write_steps(struct jsonw *w, const struct steps *s, bool exact)
{
    char at[V1_INSTANT_SIZE];
    jsonw_array(w, "story");
    for (int i = 0; i < s->n; i++) {
        const struct step *p = &s->list[i];
        int64_t ms = p->us >= 0 ? p->us / 1000 : 0;
        jsonw_object(w, NULL);
        jsonw_text(w, "step", p->name);
        jsonw_text(w, "at", v1_instant_text(ms, at));
        jsonw_i64(w, "ms", ms);
        if (exact && i > 0)
            jsonw_real(w, "sinceMs", (double)(p->us - s->list[i - 1].us) / 1000);
        else
            jsonw_null(w, "sinceMs");
        jsonw_bool(w, "ok", p->ok);
        write_params(w, p);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
    jsonw_bool(w, "exact", exact);
}

/* ---- what the row says -------------------------------------------------------------------------
 */

static const char *end_step(enum log_outcome o)
{
    return o == LOG_KILLED ? "killed" : o == LOG_LOST ? "lost" : "ended";
}

static bool was_refused(enum log_outcome o)
{
    return o == LOG_REJECTED || o == LOG_UNROUTABLE;
}

static void add_end(struct steps *s, const struct log_record *r, enum log_outcome o, int64_t us)
{
    if (was_refused(o))
        add(s, "refused", us, false)->message = r->trigger_msg ? r->trigger_msg : "";
    else if (r->handle_code && r->handle_ms >= 0)
        add(s, end_step(o), us, o == LOG_SUCCEEDED)->code = r->handle_code;
}

static void from_columns(struct steps *s, const struct log_record *r, enum log_outcome o)
{
    int64_t due_us = r->trigger_ms >= 0 ? r->trigger_ms * 1000 : 0;
    const char *address = r->address && r->address[0] ? r->address : NULL;
    add(s, "due", due_us, true);
    if (address)
        add(s, "routed", due_us, true)->address = address;
    if (r->trigger_code == 200 && !was_refused(o))
        add(s, "accepted", due_us, true)->address = address;
    if (r->phase == PHASE_UNKNOWN)
        add(s, "unknown", due_us, false)->address = address;
    add_end(s, r, o, was_refused(o) ? due_us : r->handle_ms * 1000);
}

/* ---- what was kept -----------------------------------------------------------------------------
 */

/* A run by hand is due when it is asked for, and is often planned within that millisecond: due is
 * added first, since steps of one time keep the order of the calls. */
static void add_plan(struct steps *s, const struct story *story)
{
    int64_t planned = story_at(story, STORY_PLANNED);
    add(s, "due", story->due_ms * 1000, true);
    if (planned >= 0)
        add(s, "planned", planned, true);
}

/* One after the other, the first that is known. */
static int64_t first_of(int64_t a, int64_t b, int64_t c)
{
    return a >= 0 ? a : b >= 0 ? b : c;
}

static void add_sending(struct steps *s, const struct log_record *r, const struct story *story)
{
    int64_t due = story->due_ms * 1000, taken = story_at(story, STORY_DUE);
    int64_t sent = story_at(story, STORY_SENT);
    int64_t ready = taken > due ? taken : due;
    if (story->reroutes)
        add(s, "rerouted", first_of(sent, taken, due), true)->times = story->reroutes;
    if (sent < 0)
        return;
    struct step *p = add(s, story->resent ? "resent" : "sent", sent, true);
    p->address = r->address;
    p->waited_us = sent > ready ? sent - ready : 0;
}

static void add_answer(struct steps *s, const struct log_record *r, const struct story *story,
                       enum log_outcome o)
{
    int64_t answered = story_at(story, STORY_ANSWERED);
    int64_t asked = first_of(answered, story_at(story, STORY_SENT), story->due_ms * 1000);
    bool accepted = r->trigger_code == 200 || r->phase == PHASE_ACCEPTED;
    if (story->doubts) {
        struct step *p = add(s, "unknown", asked, false);
        p->address = r->address;
        p->times = story->doubts;
    }
    if (story->queries)
        add(s, "queried", asked, true)->times = story->queries;
    if (answered >= 0 && accepted && !story->doubts && !was_refused(o))
        add(s, "accepted", answered, true)->address = r->address;
}

static void from_story(struct steps *s, const struct log_record *r, const struct story *story,
                       enum log_outcome o)
{
    int64_t ended = story_at(story, STORY_ENDED), written = story_at(story, STORY_WRITTEN);
    int64_t handled = r->handle_ms >= 0 ? r->handle_ms * 1000 : -1;
    add_plan(s, story);
    add_sending(s, r, story);
    add_answer(s, r, story, o);
    add_end(s, r, o, first_of(ended, handled, story->due_ms * 1000));
    if (written >= 0)
        add(s, "result_written", written, true);
}

/* ---- both --------------------------------------------------------------------------------------
 */

bool run_story_find(struct web_call *call, const struct log_record *r, struct story *ret,
                    struct elsewhere_silent *silent)
{
    if (r->phase && (!center_story(call->center, r->id, ret, NULL) ||
                     elsewhere_story(call, r->id, ret, silent)))
        return true;
    return !call->db->ops->pages->story_get(call->db, r->id, ret, NULL);
}

void run_story_write(struct jsonw *w, const struct log_record *r, const struct story *story)
{
    struct steps s = { .n = 0 };
    enum log_outcome o = run_outcome(r);
    if (story)
        from_story(&s, r, story, o);
    else
        from_columns(&s, r, o);
    write_steps(w, &s, story != NULL);
}
