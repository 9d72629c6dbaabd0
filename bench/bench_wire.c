/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of what the wire layer does for each firing: nanoseconds of this thread's CPU clock per
 * call, the best of several rounds (the machine's neighbours only ever add). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "wire/executor_api.h"
#include "wire/log_scan.h"
#include "wire/trigger_text.h"
#include "wire/open_api.h"

#define ROUNDS 7
#define BATCH 100

static struct wire_run_form form;
static struct buf out = BUF_INIT(1 << 20);
static struct buf one = BUF_INIT(1 << 20), both = BUF_INIT(1 << 20), many = BUF_INIT(1 << 20);
static struct slice log_piece;
static uint64_t sink; /* results go here, so that no call can be left out */

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void run_body(int64_t i)
{
    struct wire_run run = { i, 1700000000000 + i, 0, 1, NULL };
    buf_reset(&out);
    wire_run_body(&out, &form, &run);
    sink += out.len;
}

static void run_body_params(int64_t i)
{
    struct slice params = slice_text("date=2026-11-20 region=\"eu\"");
    struct wire_run run = { i, 1700000000000 + i, 3, 8, &params };
    buf_reset(&out);
    wire_run_body(&out, &form, &run);
    sink += out.len;
}

static void reply(const char *text)
{
    struct wire_reply r;
    wire_reply_parse(200, slice_text(text), &r);
    sink += (uint64_t)r.code;
    wire_reply_done(&r);
}

static void reply_common(int64_t i)
{
    (void)i;
    reply("{\"code\":200,\"msg\":\"Success\"}");
}

static void reply_other(int64_t i)
{
    (void)i;
    reply("{\"code\":500,\"msg\":\"job handler [nosuch] not found.\"}");
}

static void callbacks(const struct buf *body)
{
    struct wire_callbacks c;
    if (wire_callbacks_parse(slice_of(body->data, body->len), &c, NULL))
        abort();
    sink += (uint64_t)c.items[c.n - 1].log_id;
    wire_callbacks_done(&c);
}

static void callback_one(int64_t i)
{
    (void)i;
    callbacks(&one);
}

static void callback_both(int64_t i)
{
    (void)i;
    callbacks(&both);
}

static void callback_many(int64_t i)
{
    (void)i;
    callbacks(&many);
}

static void callback_slow(int64_t i)
{
    struct wire_callbacks c;
    (void)i;
    if (wire_callbacks_parse_slowly(slice_of(one.data, one.len), &c, NULL))
        abort();
    sink += c.n;
    wire_callbacks_done(&c);
}

static void log_scan(int64_t i)
{
    struct wire_log_scan s;
    (void)i;
    wire_log_scan_init(&s);
    wire_log_scan_feed(&s, slice_text("{\"code\":200,\"content\":{\"logContent\":\"text of a log"));
    wire_log_scan_feed(&s, log_piece);
    wire_log_scan_feed(&s, slice_text("\"}}"));
    sink += (uint64_t)wire_log_scan_end(&s, 200, true);
}

static void message(int64_t i)
{
    struct wire_trigger_note n = {
        .kind = slice_text("cron"),
        .center = slice_text("10.0.0.1:8080"),
        .registered = true,
        .address_list = slice_text("http://10.0.0.2:9999/,http://10.0.0.3:9999/"),
        .route = slice_text("ROUND"),
        .block = slice_text("SERIAL_EXECUTION"),
        .address = slice_text("http://10.0.0.2:9999/"),
        .handler = slice_text("demoJobHandler"),
        .code = 200,
        .scheduled_ms = 1700000000000 + i,
    };
    buf_reset(&out);
    wire_trigger_message(&out, WIRE_LANG_EN, &n);
    sink += out.len;
}

static void measure(const char *name, void (*call)(int64_t), int64_t calls, double per)
{
    double best = 1e300;
    for (int round = 0; round < ROUNDS; round++) {
        double start = cpu_ns();
        for (int64_t i = 0; i < calls; i++)
            call(i);
        double each = (cpu_ns() - start) / (double)calls / per;
        best = each < best ? each : best;
    }
    printf("%-44s %8.1f ns\n", name, best);
}

static void prepare(void)
{
    struct wire_job job = { 123,
                            slice_text("demoJobHandler"),
                            slice_text("date=2026-11-20"),
                            slice_text("SERIAL_EXECUTION"),
                            30,
                            slice_text("BEAN"),
                            slice_text(""),
                            1541254891000 };
    struct wire_callback c = { .log_id = 123456789, .log_date_ms = 1700000000000, .code = 200 };
    static char dull[1 << 20];
    if (wire_run_form_init(&form, &job, 1 << 20))
        abort();
    c.msg = slice_text("ok");
    buf_text(&one, "[{\"logId\":123456789,\"logDateTim\":1795164424698,\"handleCode\":200,"
                   "\"handleMsg\":\"block strategy effect\xEF\xBC\x9A Cover Early\"}]");
    wire_callback_body(&both, &c, 1);
    buf_char(&many, '[');
    for (int i = 0; i < BATCH; i++)
        buf_printf(&many, "%s{\"logId\":%d,\"logDateTim\":1795164424698,\"handleCode\":200}",
                   i ? "," : "", 123456789 + i);
    buf_char(&many, ']');
    for (size_t i = 0; i < sizeof(dull); i++)
        dull[i] = (char)('a' + i % 26); /* every 26th character could begin a mark */
    log_piece = slice_of(dull, sizeof(dull));
}

int main(void)
{
    prepare();
    measure("run body, the job's own parameters", run_body, 1000000, 1);
    measure("run body, own parameters", run_body_params, 1000000, 1);
    measure("reply, one of the common bodies", reply_common, 1000000, 1);
    measure("reply, any other (refusal)", reply_other, 200000, 1);
    measure("callback, one element", callback_one, 1000000, 1);
    measure("callback, one element of both shapes", callback_both, 1000000, 1);
    measure("callback, per element of a hundred", callback_many, 20000, BATCH);
    measure("callback, one element through jansson", callback_slow, 200000, 1);
    measure("trigger message", message, 200000, 1);
    measure("log verdict, per KiB of log", log_scan, 40, 1024);
    fprintf(stderr, "checksum %llu\n", (unsigned long long)sink);
    wire_run_form_done(&form);
    buf_done(&out);
    buf_done(&one);
    buf_done(&both);
    buf_done(&many);
    return 0;
}
