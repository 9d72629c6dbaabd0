/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/executor_side.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "wire/json.h"
#include "wire/open_api.h"
#include "wire/texts.h"

/* Longest target that an answer repeats. */
#define TARGET_SHOWN 200

static enum wire_action refuse(struct buf *reply, const char *text)
{
    wire_reply_error(reply, 500, slice_text(text));
    return WIRE_REFUSED;
}

static enum wire_action refuse_target(struct buf *reply, struct slice target)
{
    struct buf text = BUF_INIT(1024);
    buf_printf(&text, WIRE_TEXT_TARGET, (int)utf8_cut(target.p, target.n, TARGET_SHOWN), target.p);
    refuse(reply, buf_str(&text));
    buf_done(&text);
    return WIRE_REFUSED;
}

enum wire_action wire_action_of(struct slice method, struct slice target, bool token_ok,
                                struct buf *reply)
{
    static const struct {
        const char *target;
        enum wire_action action;
    } actions[] = {
        { "/beat", WIRE_BEAT }, { "/idleBeat", WIRE_IDLE_BEAT },
        { "/run", WIRE_RUN },   { "/kill", WIRE_KILL },
        { "/log", WIRE_LOG },
    };
    if (!slice_eq(method, "POST"))
        return refuse(reply, WIRE_TEXT_METHOD);
    if (slice_trim(target).n == 0)
        return refuse(reply, WIRE_TEXT_TARGET_EMPTY);
    if (!token_ok)
        return refuse(reply, WIRE_TEXT_TOKEN);
    for (size_t i = 0; i < countof(actions); i++)
        if (slice_eq(target, actions[i].target))
            return actions[i].action;
    return refuse_target(reply, target);
}

static enum err object_of(struct slice body, const char *what, struct json_t **ret, struct why *why)
{
    struct json_t *doc = NULL;
    enum err err = wire_json_parse(body, WIRE_REQUEST_MAX, what, &doc, why);
    if (err)
        return err;
    if (!wire_json_is_object(doc)) {
        why_set(why, "%s must be a JSON object", what);
        wire_json_free(doc);
        return ERR_INVALID;
    }
    *ret = doc;
    return OK;
}

static enum wire_block block_of(struct slice name)
{
    if (slice_eq(name, "DISCARD_LATER"))
        return WIRE_BLOCK_DISCARD;
    return slice_eq(name, "COVER_EARLY") ? WIRE_BLOCK_COVER : WIRE_BLOCK_SERIAL;
}

static enum err read_numbers(struct wire_run_request *r, struct why *why)
{
    const struct {
        const char *name;
        int64_t *to;
    } wide[] = {
        { "jobId", &r->job_id },
        { "executorTimeout", &r->timeout_s },
        { "logId", &r->log_id },
        { "logDateTime", &r->log_date_ms },
        { "glueUpdatetime", &r->glue_update_ms },
    };
    for (size_t i = 0; i < countof(wide); i++) {
        enum err err = wire_json_i64(r->doc, wide[i].name, wide[i].to, why);
        if (err)
            return err;
    }
    enum err err = wire_json_int(r->doc, "broadcastIndex", &r->shard, why);
    return err ? err : wire_json_int(r->doc, "broadcastTotal", &r->shard_total, why);
}

static enum err read_texts(struct wire_run_request *r, struct why *why)
{
    struct slice block = { NULL, 0 };
    const struct {
        const char *name;
        struct slice *to;
    } texts[] = {
        { "executorHandler", &r->handler },  { "executorParams", &r->params },
        { "executorBlockStrategy", &block }, { "glueType", &r->glue_type },
        { "glueSource", &r->glue_source },
    };
    for (size_t i = 0; i < countof(texts); i++) {
        enum err err = wire_json_text(r->doc, texts[i].name, texts[i].to, why);
        if (err)
            return err;
    }
    r->block = block_of(block);
    return OK;
}

/* Scripts and paths are made from these: an index outside its total or a negative id is a mistake
 * of the sender, not a value to work with. */
static enum err check_ranges(const struct wire_run_request *r, struct why *why)
{
    if (r->job_id < 0 || r->log_id < 0) {
        why_set(why, "%s: must not be negative", r->job_id < 0 ? "jobId" : "logId");
        return ERR_INVALID;
    }
    if (r->shard < 0 || r->shard >= r->shard_total) {
        why_set(why, "broadcastIndex: must be from 0 to broadcastTotal - 1");
        return ERR_INVALID;
    }
    return OK;
}

enum err wire_run_request_parse(struct slice body, struct wire_run_request *ret, struct why *why)
{
    struct wire_run_request r = { .shard_total = 1 };
    enum err err = object_of(body, "run body", &r.doc, why);
    if (err)
        return err;
    err = read_numbers(&r, why);
    if (r.shard == 0 && r.shard_total == 0)
        r.shard_total = 1; /* what a Java center sends when a number is left at its default */
    if (!err)
        err = read_texts(&r, why);
    if (!err)
        err = check_ranges(&r, why);
    if (err)
        wire_run_request_done(&r);
    else
        *ret = r;
    return err;
}

void wire_run_request_done(struct wire_run_request *r)
{
    wire_json_free(r->doc);
    *r = (struct wire_run_request){ .shard_total = 1 };
}

enum err wire_job_request_parse(struct slice body, int64_t *ret_job_id, struct why *why)
{
    struct json_t *doc = NULL;
    int64_t id = 0;
    enum err err = object_of(body, "request body", &doc, why);
    if (!err)
        err = wire_json_i64(doc, "jobId", &id, why);
    if (!err)
        *ret_job_id = id;
    wire_json_free(doc);
    return err;
}

enum err wire_log_request_parse(struct slice body, struct wire_log_request *ret, struct why *why)
{
    struct json_t *doc = NULL;
    struct wire_log_request r = { 0, 0, 0 };
    enum err err = object_of(body, "log body", &doc, why);
    if (!err)
        err = wire_json_i64(doc, "logDateTim", &r.log_date_ms, why);
    if (!err)
        err = wire_json_i64(doc, "logId", &r.log_id, why);
    if (!err)
        err = wire_json_int(doc, "fromLineNum", &r.from_line, why);
    if (!err)
        *ret = r;
    wire_json_free(doc);
    return err;
}

void wire_reply_note(struct buf *out, struct slice note)
{
    struct jsonw w = jsonw_on(out);
    jsonw_object(&w, NULL);
    jsonw_i64(&w, "code", 200);
    jsonw_slice(&w, "msg", note);
    jsonw_slice(&w, "content", note);
    jsonw_slice(&w, "data", note);
    jsonw_object_end(&w);
}

static void page(struct jsonw *w, const char *key, int from_line, int to_line, struct slice content,
                 bool is_end)
{
    jsonw_object(w, key);
    jsonw_i64(w, "fromLineNum", from_line);
    jsonw_i64(w, "toLineNum", to_line);
    jsonw_slice(w, "logContent", content);
    jsonw_bool(w, "isEnd", is_end);
    jsonw_object_end(w);
}

void wire_log_page_reply(struct buf *out, int from_line, int to_line, struct slice content,
                         bool is_end)
{
    struct jsonw w = jsonw_on(out);
    jsonw_object(&w, NULL);
    jsonw_i64(&w, "code", 200);
    jsonw_null(&w, "msg");
    page(&w, "content", from_line, to_line, content, is_end);
    page(&w, "data", from_line, to_line, content, is_end);
    jsonw_object_end(&w);
}
