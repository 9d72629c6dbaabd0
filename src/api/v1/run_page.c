/* SPDX-License-Identifier: Apache-2.0 */
/* A run is a row of the log, and of the live runs while it is open. Rows of a page are mostly of
 * one job: the last one's name and group are kept. */
#include "api/v1/run_page.h"
#include "api/gate.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include "model/story.h"
#include <string.h>

#define MESSAGE_MAX 65536

const char *const run_members[RUN_MEMBERS] = {
    "id",      "job",     "group",  "outcome",    "phase",       "kind",        "attempt", "shard",
    "address", "handler", "param",  "cause",      "scheduledAt", "scheduledMs", "sentAt",  "sentMs",
    "endedAt", "endedMs", "tookMs", "latenessMs", "resultCode",  "message",
};

void run_writer_init(struct run_writer *x, struct web_call *call, struct jsonw *w, uint64_t members)
{
    *x = (struct run_writer){ .call = call, .w = w, .members = members };
    job_record_init(&x->job);
}

void run_writer_done(struct run_writer *x)
{
    job_record_done(&x->job);
    group_record_done(&x->group);
}

static bool wants(const struct run_writer *x, const char *member)
{
    if (!x->members)
        return true;
    for (size_t i = 0; i < RUN_MEMBERS; i++)
        if (strcmp(run_members[i], member) == 0)
            return x->members >> i & 1;
    return false;
}

/* ---- what a row says ---------------------------------------------------------------------------
 */

enum log_outcome run_outcome(const struct log_record *r)
{
    return log_outcome_of(r->phase, r->trigger_code, r->trigger_msg, r->handle_code, r->handle_msg);
}

const char *run_cause_code(enum log_outcome o)
{
    static const char *const codes[LOG_OUTCOMES] = {
        [LOG_REJECTED] = "PE-1001",  [LOG_UNROUTABLE] = "PE-1002", [LOG_LOST] = "PE-2001",
        [LOG_TIMED_OUT] = "PE-2002", [LOG_KILLED] = "PE-2003",     [LOG_FAILED] = "PE-3001",
    };
    return codes[o];
}

int64_t run_took_ms(const struct log_record *r)
{
    bool ended = r->handle_code && r->handle_ms >= 0 && r->trigger_ms >= 0;
    return !ended ? -1 : r->handle_ms > r->trigger_ms ? r->handle_ms - r->trigger_ms : 0;
}

static const char *message_of(const struct log_record *r)
{
    return r->handle_code ? r->handle_msg : r->trigger_msg;
}

static const char *phase_of(const struct log_record *r, enum log_outcome o)
{
    return o == LOG_OPEN ? phase_text(r->phase) : log_outcome_text(o);
}

/* ---- members -----------------------------------------------------------------------------------
 */

/* A job or a group that has gone has no name any more; the run stays. */
static void look_up(struct run_writer *x, const struct log_record *r)
{
    const struct store_catalog *catalog = x->call->db->ops->catalog;
    if (x->job_id != r->job_id) {
        job_record_done(&x->job);
        job_record_init(&x->job);
        x->job_id = r->job_id;
        (void)!catalog->job_get(x->call->db, r->job_id, &x->job, NULL);
    }
    if (x->group_id != r->group_id) {
        group_record_done(&x->group);
        x->group = (struct group_record){ 0 };
        x->group_id = r->group_id;
        (void)!catalog->group_get(x->call->db, r->group_id, &x->group, NULL);
    }
}

static void write_refs(struct run_writer *x, const struct log_record *r)
{
    look_up(x, r);
    if (wants(x, "job")) {
        jsonw_object(x->w, "job");
        jsonw_i64(x->w, "id", r->job_id);
        jsonw_text(x->w, "name", x->job.description ? x->job.description : "");
        jsonw_object_end(x->w);
    }
    if (wants(x, "group")) {
        jsonw_object(x->w, "group");
        jsonw_i64(x->w, "id", r->group_id);
        jsonw_text(x->w, "app", x->group.app ? x->group.app : "");
        jsonw_text(x->w, "title", x->group.title ? x->group.title : "");
        jsonw_object_end(x->w);
    }
}

static void write_shard(struct run_writer *x, const struct log_record *r)
{
    struct slice total_text = slice_text(r->sharding), index_text; /* "1/3" */
    int index, total;
    if (!r->sharding || !slice_cut(&total_text, '/', &index_text) ||
        !parse_int(index_text, &index) || !parse_int(total_text, &total)) {
        jsonw_null(x->w, "shard");
        return;
    }
    jsonw_object(x->w, "shard");
    jsonw_i64(x->w, "index", index);
    jsonw_i64(x->w, "total", total);
    jsonw_object_end(x->w);
}

static void write_cause(struct run_writer *x, const struct log_record *r, enum log_outcome o)
{
    const char *code = run_cause_code(o), *text = message_of(r);
    if (!code) {
        jsonw_null(x->w, "cause");
        return;
    }
    size_t n = strcspn(text ? text : "", "\n");
    jsonw_object(x->w, "cause");
    jsonw_text(x->w, "code", code);
    jsonw_slice(x->w, "text", slice_of(text, text ? utf8_cut(text, n, 500) : 0));
    jsonw_object_end(x->w);
}

static void write_number(struct run_writer *x, const char *member, int64_t v)
{
    if (!wants(x, member))
        return;
    if (v >= 0)
        jsonw_i64(x->w, member, v);
    else
        jsonw_null(x->w, member);
}

static void write_instant(struct run_writer *x, const char *at, const char *as_ms, int64_t ms)
{
    char text[V1_INSTANT_SIZE];
    if (wants(x, at))
        jsonw_text(x->w, at, ms < 0 ? NULL : v1_instant_text(ms, text));
    write_number(x, as_ms, ms);
}

static void write_task(struct run_writer *x, const struct log_record *r, enum log_outcome o)
{
    if (wants(x, "outcome"))
        jsonw_text(x->w, "outcome", log_outcome_text(o));
    if (wants(x, "phase"))
        jsonw_text(x->w, "phase", phase_of(r, o));
    if (wants(x, "kind"))
        jsonw_text(x->w, "kind", kind_text(r->kind < KIND_COUNT ? r->kind : KIND_CRON));
    if (wants(x, "shard"))
        write_shard(x, r);
    if (wants(x, "address"))
        jsonw_text(x->w, "address", r->address);
    if (wants(x, "handler"))
        jsonw_text(x->w, "handler", r->handler ? r->handler : "");
    if (wants(x, "param"))
        jsonw_text(x->w, "param", r->param ? r->param : "");
    if (wants(x, "cause"))
        write_cause(x, r, o);
}

static void write_result(struct run_writer *x, const struct log_record *r, enum log_outcome o)
{
    const char *message = message_of(r);
    bool ended = o != LOG_OPEN;
    if (wants(x, "resultCode") && ended)
        jsonw_i64(x->w, "resultCode", r->handle_code ? r->handle_code : r->trigger_code);
    else if (wants(x, "resultCode"))
        jsonw_null(x->w, "resultCode");
    if (wants(x, "message") && message)
        jsonw_slice(x->w, "message",
                    slice_of(message, utf8_cut(message, strlen(message), MESSAGE_MAX)));
    else if (wants(x, "message"))
        jsonw_null(x->w, "message");
}

/* NULL: nothing is known in less than a second. */
static const struct story *story_of(struct run_writer *x, const struct log_record *r,
                                    struct story *room)
{
    if (x->story)
        return x->story;
    bool wanted = wants(x, "sentAt") || wants(x, "sentMs") || wants(x, "latenessMs") ||
                  wants(x, "attempt") || wants(x, "scheduledAt") || wants(x, "scheduledMs");
    struct store *db = x->call->db;
    return wanted && !db->ops->pages->story_get(db, r->id, room, NULL) ? room : NULL;
}

static void write_sent(struct run_writer *x, const struct story *story)
{
    int64_t sent_us = story ? story_at(story, STORY_SENT) : -1;
    write_instant(x, "sentAt", "sentMs", sent_us >= 0 ? sent_us / 1000 : -1);
}

static void write_lateness(struct run_writer *x, const struct story *story)
{
    if (!wants(x, "latenessMs"))
        return;
    if (story && story->at_us[STORY_SENT] != STORY_UNKNOWN)
        jsonw_real(x->w, "latenessMs", (double)story->at_us[STORY_SENT] / 1000);
    else
        jsonw_null(x->w, "latenessMs");
}

void run_write(struct run_writer *x, const char *key, const struct log_record *r)
{
    enum log_outcome o = run_outcome(r);
    struct story room;
    const struct story *story = story_of(x, r, &room);
    jsonw_object(x->w, key);
    jsonw_i64(x->w, "id", r->id);
    if (wants(x, "job") || wants(x, "group"))
        write_refs(x, r);
    write_task(x, r, o);
    if (wants(x, "attempt"))
        jsonw_i64(x->w, "attempt", r->phase ? r->attempt : story ? story->attempt : 0);
    write_instant(x, "scheduledAt", "scheduledMs",
                  r->phase ? r->scheduled_ms
                  : story  ? story->scheduled_ms
                           : r->trigger_ms);
    write_sent(x, story);
    write_instant(x, "endedAt", "endedMs", r->handle_code ? r->handle_ms : -1);
    write_number(x, "tookMs", run_took_ms(r));
    write_lateness(x, story);
    write_result(x, r, o);
    jsonw_object_end(x->w);
}

/* ---- one run -----------------------------------------------------------------------------------
 */

bool run_find_for(struct web_call *call, struct log_record *ret)
{
    int64_t id = call->params.items[0].number;
    struct why why = { "" };
    *ret = (struct log_record){ 0 };
    enum err err = call->db->ops->pages->log_get(call->db, id, ret, &why);
    if (err == ERR_NOTFOUND)
        problem(call, PROBLEM_NOT_FOUND, "run %lld does not exist, or you may not see it",
                (long long)id);
    else if (err)
        problem_err(call, err, &why);
    if (!err && gate_group(call, ret->group_id, "run", id))
        return true;
    log_record_done(ret);
    return false;
}
