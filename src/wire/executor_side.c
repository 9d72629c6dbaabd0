/* SPDX-License-Identifier: Apache-2.0 */
/* Fields are read leniently, as XXL-JOB's Java executors would, and then range-checked in one
 * place. Defaults stand for fields that existing clients omit. */
#include "wire/executor_side.h"
#include <limits.h>
#include <string.h>
#include "base/jsonw.h"
#include "base/mem.h"
#include "wire/json.h"
#include "wire/open_api.h"
#include "wire/quick.h"
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

/* A number that a Java center sends when it is left at its default. */
static void one_shard(struct wire_run_request *r)
{
    if (r->shard == 0 && r->shard_total == 0)
        r->shard_total = 1;
}

static enum err read_document(struct slice body, struct wire_run_request *r, struct why *why)
{
    enum err err = object_of(body, "run body", &r->doc, why);
    if (!err)
        err = read_numbers(r, why);
    one_shard(r);
    if (!err)
        err = read_texts(r, why);
    return err;
}

/* ---- the usual body: each member at most once, of its own type, and no others ---- */

struct run_member { /* in the order in which centers write them */
    struct slice name;
    int64_t *number;
    struct slice *text;
};
enum { RUN_MEMBERS = 12 };

/* Members mostly come in the table's order, so the search goes on behind the one before. */
static const struct run_member *next_member(const struct run_member *all, struct slice name,
                                            unsigned *at, unsigned *seen)
{
    for (unsigned i = 0; i < RUN_MEMBERS; i++) {
        unsigned k = (*at + i) % RUN_MEMBERS;
        if (all[k].name.n != name.n || memcmp(all[k].name.p, name.p, name.n) != 0)
            continue;
        if (*seen & 1u << k)
            return NULL;
        *seen |= 1u << k;
        *at = k + 1;
        return &all[k];
    }
    return NULL;
}

static bool quick_members(struct wire_quick *c, const struct run_member *all,
                          struct wire_arena *arena)
{
    unsigned at = 0, seen = 0;
    struct slice name;
    if (!wire_quick_take(c, '{'))
        return false;
    do {
        if (!wire_quick_name(c, &name))
            return false;
        const struct run_member *m = next_member(all, name, &at, &seen);
        if (!m)
            return false;
        if (wire_quick_word(c, "null", 4))
            continue;
        if (m->text ? !wire_quick_text(c, arena, m->text) : !wire_quick_integer(c, m->number))
            return false;
    } while (wire_quick_take(c, ','));
    if (!wire_quick_take(c, '}'))
        return false;
    wire_quick_blanks(c);
    return c->p == c->end;
}

static bool fits_int(int64_t v)
{
    return v >= INT_MIN && v <= INT_MAX;
}

#define TEXT(s)                                                                                    \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }

/* False: let jansson look; *r may be half filled. */
static bool read_quickly(struct slice body, struct wire_run_request *r)
{
    int64_t shard = 0, shard_total = 1;
    struct slice block = { NULL, 0 };
    const struct run_member all[RUN_MEMBERS] = {
        { TEXT("jobId"), &r->job_id, NULL },
        { TEXT("executorHandler"), NULL, &r->handler },
        { TEXT("executorParams"), NULL, &r->params },
        { TEXT("executorBlockStrategy"), NULL, &block },
        { TEXT("executorTimeout"), &r->timeout_s, NULL },
        { TEXT("logId"), &r->log_id, NULL },
        { TEXT("logDateTime"), &r->log_date_ms, NULL },
        { TEXT("glueType"), NULL, &r->glue_type },
        { TEXT("glueSource"), NULL, &r->glue_source },
        { TEXT("glueUpdatetime"), &r->glue_update_ms, NULL },
        { TEXT("broadcastIndex"), &shard, NULL },
        { TEXT("broadcastTotal"), &shard_total, NULL },
    };
    struct wire_quick c = { body.p, body.p + body.n };
    if (body.n > WIRE_REQUEST_MAX || !quick_members(&c, all, &r->arena) || !fits_int(shard) ||
        !fits_int(shard_total))
        return false;
    r->shard = (int)shard;
    r->shard_total = (int)shard_total;
    r->block = block_of(block);
    one_shard(r);
    return true;
}

static enum err parse_run(struct slice body, bool quick, struct wire_run_request *ret,
                          struct why *why)
{
    struct wire_run_request r = { .shard_total = 1 };
    enum err err = OK;
    if (!quick || !read_quickly(body, &r)) {
        wire_run_request_done(&r);
        err = read_document(body, &r, why);
    }
    if (!err)
        err = check_ranges(&r, why);
    if (err)
        wire_run_request_done(&r);
    else
        *ret = r;
    return err;
}

enum err wire_run_request_parse(struct slice body, struct wire_run_request *ret, struct why *why)
{
    return parse_run(body, true, ret, why);
}

enum err wire_run_request_parse_slowly(struct slice body, struct wire_run_request *ret,
                                       struct why *why)
{
    return parse_run(body, false, ret, why);
}

void wire_run_request_done(struct wire_run_request *r)
{
    wire_json_free(r->doc);
    wire_arena_done(&r->arena);
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
