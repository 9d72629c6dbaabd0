/* SPDX-License-Identifier: Apache-2.0 */
/* The rolling log of a run, which its executor has: a page of lines, or all of it as a file. Lines
 * go out as plain text, as the job wrote them. */
#include "api/run_trace.h"
#include "api/v1/query.h"
#include "api/v1/run_page.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"
#include "wire/log_lines.h"
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 10000
#define LINES_DEFAULT 1000
#define DOWNLOAD_MS 60000
#define DOWNLOAD_PAGES 10000 /* an executor that gives a line a page is not asked for ever */
#define CLEANED "readLog fail, logFile not exists" /* as Java's executors say it */

/* ---- asking ------------------------------------------------------------------------------------
 */

static bool has_log(const struct log_record *r)
{
    return r->address && r->address[0] && (r->trigger_code == 200 || r->phase);
}

static void refuse(struct web_call *call, enum err err, const struct why *why)
{
    if (err == ERR_NET)
        problem(call, PROBLEM_TIMEOUT, "%s", why->text);
    else
        problem_err(call, err, why);
}

/* The executor has no file: it is made when the run starts, and goes after some days. */
static bool is_missing(const struct center_log *page)
{
    return page->n >= sizeof(CLEANED) - 1 &&
           memmem(page->content, page->n, CLEANED, sizeof(CLEANED) - 1);
}

/* Nothing more will come: the run has ended, and the executor says so or had nothing. Of a run that
 * is open it speaks of what its file has now. */
static bool is_end(const struct center_log *page, const struct log_record *r)
{
    return r->handle_code > 0 && (page->is_end || page->from_line > page->to_line);
}

/* ---- a page ------------------------------------------------------------------------------------
 */

/* The lines of a page as elements; how many, at most max. */
static int write_lines(struct jsonw *w, struct slice text, int max)
{
    struct log_lines lines;
    struct slice line;
    int n = 0;
    log_lines_begin(&lines, text);
    while (n < max && log_lines_next(&lines, &line)) {
        jsonw_slice(w, NULL, line);
        n++;
    }
    log_lines_done(&lines);
    return n;
}

static const char *state_of(bool missing, bool ended)
{
    if (missing)
        return ended ? "cleaned" : "not_started";
    return ended ? "finished" : "running";
}

static void write_page(struct web_call *call, const struct log_record *r,
                       const struct center_log *page, int from, int max)
{
    struct jsonw w = jsonw_on(&call->output);
    bool missing = is_missing(page), ended = r->handle_code > 0;
    jsonw_object(&w, NULL);
    jsonw_i64(&w, "fromLine", from);
    jsonw_array(&w, "lines");
    struct slice text = slice_of(page->content, missing ? 0 : page->n);
    int n = write_lines(&w, text, max);
    jsonw_array_end(&w);
    /* all of the lines that came, whatever the executor says of their number */
    bool all = missing || n < max || (int64_t)from + n > page->to_line;
    jsonw_i64(&w, "toLine", (int64_t)from + n - 1);
    jsonw_bool(&w, "end", all && (missing ? ended : is_end(page, r)));
    jsonw_text(&w, "state", state_of(missing, ended));
    v1_instant(&w, "read", clock_wall_ms());
    jsonw_object_end(&w);
}

static void write_nothing(struct web_call *call, int from, bool ended)
{
    struct jsonw w = jsonw_on(&call->output);
    jsonw_object(&w, NULL);
    jsonw_i64(&w, "fromLine", from);
    jsonw_i64(&w, "toLine", from - 1);
    jsonw_array(&w, "lines");
    jsonw_array_end(&w);
    jsonw_bool(&w, "end", ended);
    jsonw_text(&w, "state", "not_started");
    jsonw_object_end(&w);
}

static void page(struct web_call *call, const struct log_record *r, int from, int max)
{
    const struct center_log_of of = run_trace_log_of(call, r);
    struct center_log page = { 0 };
    struct why why = { "" };
    if (!has_log(r)) {
        write_nothing(call, from, !r->phase);
        return;
    }
    enum err err = center_log_page(call->center, &of, from, &page, &why);
    if (err)
        refuse(call, err, &why);
    else
        write_page(call, r, &page, from, max);
    free(page.content);
}

void v1_run_log(struct web_call *call)
{
    struct log_record r;
    struct query q;
    query_begin(&q, call);
    int from = (int)query_i64(&q, "fromLine", 1, INT32_MAX, 1);
    int max = (int)query_i64(&q, "limit", 1, LINES_MAX, LINES_DEFAULT);
    if (!query_end(&q) || !run_find_for(call, &r))
        return;
    page(call, &r, from, max);
    log_record_done(&r);
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

/* Text without what makes terminals show it in colours (ECMA-48: CSI sequences, and two-character
 * ones). */
static void add_plain(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '\x1b') {
            buf_char(out, text.p[i]);
            continue;
        }
        i++;
        if (i < text.n && text.p[i] == '[')
            for (i++; i < text.n && !(text.p[i] >= '@' && text.p[i] <= '~');)
                i++;
    }
}

static enum err add_page(struct web_call *call, const struct log_record *r, bool ansi, int *from,
                         bool *ret_end, struct why *why)
{
    const struct center_log_of of = run_trace_log_of(call, r);
    struct center_log page = { 0 };
    enum err err = center_log_page(call->center, &of, *from, &page, why);
    if (err)
        return err;
    struct slice text = slice_of(page.content, page.n);
    if (ansi)
        buf_slice(&call->output, text);
    else
        add_plain(&call->output, text);
    *ret_end = page.is_end || text.n == 0 || page.to_line < *from || page.to_line == INT32_MAX;
    if (!*ret_end)
        *from = page.to_line + 1;
    free(page.content);
    if (call->output.failed) {
        why_set(why, "the log is larger than 32 MiB: read it by pages");
        return ERR_TOOBIG;
    }
    return OK;
}

static void download(struct web_call *call, const struct log_record *r, bool ansi)
{
    int64_t end_ms = clock_boot_ms() + DOWNLOAD_MS;
    struct why why = { "" };
    bool end = !has_log(r);
    int from = 1;
    enum err err = OK;
    for (int i = 0; !err && !end && i < DOWNLOAD_PAGES && clock_boot_ms() < end_ms; i++)
        err = add_page(call, r, ansi, &from, &end, &why);
    if (err) {
        refuse(call, err, &why);
        return;
    }
    call->content_type = "text/plain;charset=UTF-8";
    buf_printf(&call->headers, "Content-Disposition: attachment; filename=\"run-%lld.log\"\r\n",
               (long long)r->id);
}

void v1_run_log_download(struct web_call *call)
{
    struct log_record r;
    struct query q;
    query_begin(&q, call);
    bool ansi = query_bool(&q, "ansi", true);
    if (!query_end(&q) || !run_find_for(call, &r))
        return;
    download(call, &r, ansi);
    log_record_done(&r);
}
