/* SPDX-License-Identifier: Apache-2.0 */
/* A log is followed as a stream, and taken up behind its last line when the stream breaks. Where an
 * executor is away, or a run was never sent, a log may not end: then the run's own end counts. */
#include "cli/ctl/follow.h"
#include "base/jsonw.h"
#include "cli/ctl/http.h"
#include "cli/ctl/print.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 16 << 20, POLL_FIRST_MS = 100, POLL_MAX_MS = 2000, AGAIN_MS = 500 };
enum { WATCH_FIRST_MS = 2000, WATCH_MAX_MS = 30000 }; /* then the run is looked at */

static void put_line(const struct ctl *c, const char *text)
{
    struct buf b;
    buf_init(&b, LINE_MAX_BYTES);
    if (c->output == CTL_JSON)
        jsonw_quote(&b, slice_text(text));
    else if (isatty(STDOUT_FILENO))
        ctl_clean(&b, text, strlen(text), true);
    else
        buf_text(&b, text);
    buf_char(&b, '\n');
    fwrite(buf_str(&b), 1, b.len, stdout);
    buf_done(&b);
}

/* A page of lines; *from: the first one that is missing then, 0 behind the last. */
static enum ctl_exit print_page(struct ctl *c, int64_t id, int64_t *from)
{
    char path[96];
    json_t *page = NULL;
    size_t i;
    const json_t *line;
    snprintf(path, sizeof(path), "/runs/%" PRId64 "/log?fromLine=%" PRId64 "&limit=1000", id,
             *from);
    enum ctl_exit status = ctl_get(c, path, &page);
    if (status != CTL_DONE)
        return status;
    const json_t *lines = json_object_get(page, "lines");
    const char *state = ctl_text(page, "state");
    json_array_foreach(lines, i, line) if (json_is_string(line))
        put_line(c, json_string_value(line));
    int64_t next = ctl_i64(page, "toLine") + 1;
    bool good = strcmp(state, "running") == 0 || strcmp(state, "finished") == 0;
    if (!good && strcmp(state, "not_started") != 0)
        status = ctl_say(c, CTL_FAILED, "the log cannot be read: %s",
                         strcmp(state, "cleaned") == 0 ? "it is no longer kept"
                                                       : "its executor does not answer");
    *from = i && next > *from && !json_is_true(json_object_get(page, "end")) ? next : 0;
    json_decref(page);
    return status;
}

enum ctl_exit ctl_log_pages(struct ctl *c, int64_t run, int64_t from_line)
{
    enum ctl_exit status = CTL_DONE;
    while (status == CTL_DONE && from_line && !ferror(stdout))
        status = print_page(c, run, &from_line);
    return status;
}

/* ---- as it is written ------------------------------------------------------------------------ */

struct following {
    struct ctl *c;
    int64_t next; /* line that is missing */
    bool end;     /* no more lines will come */
};

static void take_lines(struct following *f, const json_t *data)
{
    const json_t *lines = json_object_get(data, "lines"), *line;
    int64_t from = ctl_i64(data, "fromLine");
    size_t i;
    json_array_foreach(lines, i, line)
    {
        if (json_is_string(line) && from + (int64_t)i >= f->next)
            put_line(f->c, json_string_value(line));
    }
    if (from + (int64_t)i > f->next)
        f->next = from + (int64_t)i;
    fflush(stdout);
}

static bool on_event(void *ctx, const char *event, const json_t *data)
{
    struct following *f = ctx;
    if (strcmp(event, "lines") == 0)
        take_lines(f, data);
    if (strcmp(event, "state") != 0)
        return !ferror(stdout);
    f->end = json_is_true(json_object_get(data, "end"));
    const char *state = ctl_text(data, "state");
    return !f->end && strcmp(state, "unreachable") != 0 && strcmp(state, "cleaned") != 0;
}

/* Has it ended? */
static enum ctl_exit look(struct ctl *c, int64_t run, json_t **ret)
{
    char path[64];
    json_t *page = NULL;
    snprintf(path, sizeof(path), "/runs/%" PRId64, run);
    enum ctl_exit status = ctl_get(c, path, &page);
    const json_t *it = json_object_get(page, "run");
    if (status == CTL_DONE && !json_is_object(it))
        status = ctl_say(c, CTL_FAILED, "the answer has no run");
    if (status == CTL_DONE && strcmp(ctl_text(it, "outcome"), "open") != 0)
        *ret = json_deep_copy(it);
    json_decref(page);
    return status;
}

/* The stream has nothing now: go on, unless the run has ended; what is left of its log is read
 * then.
 */
static enum ctl_exit between(struct following *f, int64_t run)
{
    json_t *ended = NULL;
    enum ctl_exit status = look(f->c, run, &ended);
    if (status == CTL_DONE && !ended)
        return ctl_pause(f->c, AGAIN_MS);
    json_decref(ended);
    f->end = true;
    return status == CTL_DONE ? ctl_log_pages(f->c, run, f->next) : status;
}

enum ctl_exit ctl_follow(struct ctl *c, int64_t run, int64_t from_line)
{
    struct following f = { .c = c, .next = from_line };
    enum ctl_exit status = CTL_DONE;
    for (int64_t ms = WATCH_FIRST_MS; status == CTL_DONE && !f.end && !ferror(stdout);
         ms = ms * 2 < WATCH_MAX_MS ? ms * 2 : WATCH_MAX_MS) {
        char path[96];
        bool more;
        snprintf(path, sizeof(path), "/runs/%" PRId64 "/log/stream?fromLine=%" PRId64, run, f.next);
        status = ctl_stream(c, path, ms, on_event, &f, &more);
        if (status == CTL_DONE && !f.end)
            status = between(&f, run);
    }
    return status;
}

enum ctl_exit ctl_wait(struct ctl *c, int64_t run, json_t **ret)
{
    int64_t pause_ms = POLL_FIRST_MS;
    enum ctl_exit status = look(c, run, ret);
    while (status == CTL_DONE && !*ret) {
        status = ctl_pause(c, pause_ms);
        if (status == CTL_DONE)
            status = look(c, run, ret);
        pause_ms = pause_ms * 2 < POLL_MAX_MS ? pause_ms * 2 : POLL_MAX_MS;
    }
    return status;
}
