/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that all engines share: texts that stand in columns are made and
 * read here, so that every engine stores the same bytes. */
#include "store/store.h"
#include "base/buf.h"
#include "base/mem.h"
#include "model/log_outcome.h"
#include "store/shared.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void script_record_done(struct script_record *r)
{
    free(r->glue_type);
    free(r->source);
    free(r->remark);
    *r = (struct script_record){ .id = 0 };
}

void log_record_done(struct log_record *r)
{
    free(r->address);
    free(r->handler);
    free(r->param);
    free(r->sharding);
    free(r->trigger_msg);
    free(r->handle_msg);
    memset(r, 0, sizeof(*r));
}

void clean_request_done(struct clean_request *r)
{
    free((int64_t *)r->walk.scope.ids);
    memset(r, 0, sizeof(*r));
}

/* ---- what the implementations share ---------------------------------------------------------- */

int64_t store_second(int64_t scheduled_ms)
{
    int64_t rest = scheduled_ms % 1000;
    if (rest >= 0)
        return scheduled_ms - rest;
    return scheduled_ms < INT64_MIN + 1000 ? INT64_MIN : scheduled_ms - rest - 1000;
}

bool store_given_up(const char *handle_msg)
{
    static const char *const prefixes[] = { "lost: ", "withdrawn: ", "skipped: " };
    for (size_t i = 0; handle_msg && i < countof(prefixes); i++)
        if (strncmp(handle_msg, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

bool store_no_end(int trigger_code, int handle_code)
{
    return handle_code == 0 && (trigger_code == 0 || trigger_code == 200); /* else it was refused */
}

char *store_end_text(const char *handle_msg, const char *end)
{
    struct buf b = BUF_INIT(2 * STORE_LATE_MAX);
    const char *parts[] = { handle_msg ? handle_msg : "", end ? end : "" };
    for (size_t i = 0; i < countof(parts); i++) {
        if (*parts[i] && b.len)
            buf_text(&b, "<br>");
        size_t room = b.len < STORE_LATE_MAX ? STORE_LATE_MAX - b.len : 0;
        buf_add(&b, parts[i], utf8_cut(parts[i], strlen(parts[i]), room));
    }
    return buf_take(&b);
}

/* Does a line of the message end with that, which a late result left there before? */
static bool has_line(const char *handle_msg, const char *end)
{
    size_t n = strlen(end);
    for (const char *at = handle_msg; (at = strstr(at, end)); at += n)
        if (at[n] == '\0' || at[n] == '\n')
            return true;
    return false;
}

char *store_late_text(const char *handle_msg, const struct late_result *late)
{
    size_t n = strlen(handle_msg);
    if (n >= STORE_LATE_MAX)
        return NULL;
    time_t seconds = (time_t)(store_second(late->at_ms) / 1000);
    struct tm tm;
    char when[40] = "at an unknown time";
    if (gmtime_r(&seconds, &tm))
        strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
    struct buf b = BUF_INIT(STORE_LATE_MAX + 512);
    buf_text(&b, handle_msg);
    buf_printf(&b, "\nlate result, %s.%03d", when, (int)(late->at_ms - store_second(late->at_ms)));
    size_t end = b.len;
    buf_printf(&b, "Z, code %d: ", late->code);
    const char *msg = late->msg ? late->msg : "";
    size_t room = STORE_LATE_MAX + 400 - b.len;
    buf_add(&b, msg, utf8_cut(msg, strlen(msg), room));
    if (has_line(handle_msg, buf_str(&b) + end)) { /* the same one, sent again */
        buf_done(&b);
        return NULL;
    }
    return buf_take(&b);
}

const char *store_sharding(const struct run_row *r, char *text, size_t size)
{
    if (!r->broadcast)
        return NULL;
    snprintf(text, size, "%d/%d", r->shard, r->shard_total);
    return text;
}

static const char *const kind_words[KIND_COUNT] = { "cron",  "misfire", "manual",
                                                    "retry", "parent",  "api" };

const char *store_kind_text(enum kind kind)
{
    return kind == KIND_CRON ? NULL : kind_words[kind];
}

char *store_trigger_text(enum kind kind, const char *msg)
{
    struct buf b = BUF_INIT(strlen(msg) + 16);
    buf_printf(&b, "%s: ", kind_words[kind]);
    buf_text(&b, msg);
    return buf_take(&b);
}

enum kind store_trigger_kind(const char *text, const char **ret_msg)
{
    *ret_msg = text;
    if (!text)
        return KIND_CRON;
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        size_t n = strlen(kind_words[kind]);
        if (strncmp(text, kind_words[kind], n) != 0)
            continue;
        bool more = strncmp(text + n, ": ", 2) == 0;
        if (!more && text[n])
            continue;
        *ret_msg = more ? text + n + 2 : NULL;
        return (enum kind)kind;
    }
    return KIND_COUNT;
}

static bool job_named(const struct runs_filter *f, int64_t job_id)
{
    bool named = f->njobs == 0;
    for (size_t i = 0; i < f->njobs && !named; i++)
        named = f->jobs[i] == job_id;
    return named;
}

static bool kind_named(const struct runs_filter *f, enum kind kind)
{
    return !f->kinds || (kind < KIND_COUNT && f->kinds & 1u << kind);
}

bool store_run_matches(const struct runs_filter *f, const struct log_record *r)
{
    enum log_outcome outcome =
        log_outcome_of(r->phase, r->trigger_code, r->trigger_msg, r->handle_code, r->handle_msg);
    return (scope_is_all(f->scope) || scope_has(f->scope, r->group_id)) &&
           (scope_is_all(f->groups) || scope_has(f->groups, r->group_id)) &&
           job_named(f, r->job_id) && (!f->outcomes || f->outcomes & LOG_OUTCOME_BIT(outcome)) &&
           kind_named(f, r->kind) &&
           (!f->address || strcmp(r->address ? r->address : "", f->address) == 0) &&
           (f->from_ms < 0 || r->trigger_ms >= f->from_ms) &&
           (f->to_ms < 0 || r->trigger_ms < f->to_ms) &&
           (f->min_ms <= 0 || r->handle_ms - r->trigger_ms >= f->min_ms) &&
           (!f->unknown || r->phase == PHASE_UNKNOWN) && (!f->also || f->also(f->also_ctx, r));
}

bool store_rights_count(const struct user_record *r, const char *xxl)
{
    char *now = rights_xxl_text(r->role, r->permission);
    bool same = xxl && strcmp(now, xxl) == 0;
    free(now);
    return same;
}

bool store_argon2_counts(const char *password, const char *legacy)
{
    return strcmp(password ? password : "", legacy ? legacy : "") == 0;
}

enum err store_outcome_known(struct store *s, bool *ret_done, struct why *why)
{
    (void)s;
    (void)why;
    *ret_done = false;
    return OK;
}

enum err store_record_hold(struct store *s, enum store_record kind, int64_t id, struct why *why)
{
    return s->shared && s->ops->cluster ? s->ops->cluster->record_hold(s, kind, id, why) : OK;
}
