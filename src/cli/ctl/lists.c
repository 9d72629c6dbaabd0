/* SPDX-License-Identifier: Apache-2.0 */
/* Executors, alarms and the audit, as lists; how far back a list goes; and a channel's
 * test. */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/ctl/http.h"
#include "cli/ctl/names.h"
#include "cli/ctl/print.h"
#include "cli/ctl/since.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add_instant(struct buf *path, const char *name, const char *text)
{
    char instant[24];
    int64_t ago_ms;
    if (text && ctl_duration(text, &ago_ms) && ago_ms < clock_wall_ms()) {
        snprintf(instant, sizeof(instant), "%" PRId64, clock_wall_ms() - ago_ms);
        text = instant;
    }
    ctl_query(path, name, text);
}

void ctl_since(const struct ctl *c, struct buf *path)
{
    add_instant(path, "from", ctl_option(c, "--since"));
    add_instant(path, "to", ctl_option(c, "--until"));
}

static const struct ctl_column executor_columns[] = {
    { "ADDRESS", "address", 48 },      { "STATE", "state", 0 },
    { "GROUPS", "groups", 40 },        { "OPEN", "open", 0 },
    { "WAITING", "lane.waiting", 0 },  { "BEAT-AGE-MS", "beatAgeMs", 0 },
    { "LAST-ERROR", "lastError", 60 },
};

enum ctl_exit ctl_executor_list(struct ctl *c)
{
    struct buf path = BUF_INIT(65536);
    struct ctl_list list = {
        .columns = executor_columns,
        .ncolumns = (int)countof(executor_columns),
        .name = "address",
        .empty = "no executor",
    };
    buf_text(&path, "/executors");
    ctl_query(&path, "group", ctl_option(c, "--group"));
    ctl_query(&path, "state", ctl_option(c, "--state"));
    list.path = buf_str(&path);
    enum ctl_exit status = ctl_print_list(c, &list);
    buf_done(&path);
    return status;
}

static const struct ctl_column alarm_columns[] = {
    { "ID", "id", 0 },           { "LEVEL", "level", 0 },
    { "RULE", "rule.name", 32 }, { "GROUP", "group.app", 24 },
    { "SINCE", "sinceAt", 0 },   { "JOBS", "jobs", 0 },
    { "CLOSED", "closedAt", 0 }, { "TEXT", "text", 80 },
};

enum ctl_exit ctl_alarm_list(struct ctl *c)
{
    struct ctl_list list = {
        .path = ctl_flag(c, "--all") ? "/alarms" : "/alarms?open=true",
        .columns = alarm_columns,
        .ncolumns = (int)countof(alarm_columns),
        .name = "id",
        .empty = "no alarm",
    };
    return ctl_print_list(c, &list);
}

static void print_test(const struct ctl *c, const json_t *answer)
{
    char text[512];
    if (c->output != CTL_TABLE) {
        ctl_print_object(c, answer, "outcome");
        return;
    }
    snprintf(text, sizeof(text), "%.20s after %" PRId64 " ms: %.400s", ctl_text(answer, "outcome"),
             ctl_i64(answer, "tookMs"), ctl_text(answer, "said"));
    ctl_put(stdout, text);
}

enum ctl_exit ctl_alarm_test(struct ctl *c)
{
    char path[64];
    int64_t id = 0;
    struct ctl_answer a;
    struct ctl_ask ask = { .method = "POST", .path = path };
    enum ctl_exit status = ctl_channel_id(c, c->args[0], &id);
    if (status != CTL_DONE)
        return status;
    snprintf(path, sizeof(path), "/alarm-channels/%" PRId64 "/test", id);
    status = ctl_ask(c, &ask, &a);
    if (status == CTL_DONE) {
        print_test(c, a.body);
        status = strcmp(ctl_text(a.body, "outcome"), "sent") == 0 ? CTL_DONE : CTL_FAILED;
    }
    ctl_answer_done(&a);
    return status;
}

static const struct ctl_column audit_columns[] = {
    { "ID", "id", 0 },
    { "AT", "at", 0 },
    { "ACTOR", "actor.name", 24 },
    { "VIA", "via", 0 },
    { "ACTION", "action", 0 },
    { "OBJECT", "object.id", 0 },
    { "NAME", "object.name", 40 },
    { "REASON", "reason", 40 },
};

enum ctl_exit ctl_audit(struct ctl *c)
{
    struct buf path = BUF_INIT(65536);
    struct ctl_list list = {
        .columns = audit_columns,
        .ncolumns = (int)countof(audit_columns),
        .name = "id",
        .empty = "no entry",
    };
    buf_text(&path, "/audit");
    ctl_query(&path, "actor", ctl_option(c, "--actor"));
    ctl_query(&path, "action", ctl_option(c, "--action"));
    ctl_query(&path, "object", ctl_option(c, "--object"));
    ctl_since(c, &path);
    list.path = buf_str(&path);
    enum ctl_exit status = ctl_print_list(c, &list);
    buf_done(&path);
    return status;
}
