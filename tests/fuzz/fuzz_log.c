/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of /log, /kill and /idleBeat: what our executor takes is written by our center and read
 * again as the same. And a page of any bytes is a reply that our center reads as that page. */
#include <string.h>
#include "fuzz.h"
#include "wire/executor_api.h"
#include "wire/executor_side.h"
#include "wire/log_scan.h"

/* Our center writes no negative number: an id and a line have none. */
static int64_t natural(int64_t v)
{
    return v < 0 ? 0 : v;
}

static void write_log_again(const struct wire_log_request *r)
{
    struct wire_log_request again;
    struct buf b = BUF_INIT(65536);
    wire_log_body(&b, r->log_id, r->log_date_ms, r->from_line);
    CHECK(wire_log_request_parse(slice_of(b.data, b.len), &again, NULL) == OK);
    CHECK(again.log_id == natural(r->log_id) && again.log_date_ms == natural(r->log_date_ms));
    CHECK(again.from_line == natural(r->from_line));
    buf_done(&b);
}

static void write_job_again(int64_t job_id)
{
    int64_t again;
    struct buf b = BUF_INIT(65536);
    wire_job_body(&b, job_id);
    CHECK(wire_job_request_parse(slice_of(b.data, b.len), &again, NULL) == OK &&
          again == natural(job_id));
    buf_done(&b);
}

/* What a reader gets of the content: texts of the center have no NUL, so each is replaced. */
static void as_read(struct slice content, struct buf *ret)
{
    for (size_t i = 0; i < content.n; i++)
        content.p[i] ? buf_add(ret, content.p + i, 1) : buf_text(ret, "\xEF\xBF\xBD");
}

static void write_page(struct slice content)
{
    struct wire_log_page page;
    struct wire_log_scan scan;
    struct buf b = BUF_INIT(16 << 20);
    wire_log_page_reply(&b, 1, 7, content, false);
    CHECK(!b.failed && utf8_valid(b.data, b.len));
    wire_log_page_parse(200, slice_of(b.data, b.len), 16 << 20, &page);
    CHECK(page.present && page.from_line == 1 && page.to_line == 7 && !page.is_end);
    if (utf8_valid(content.p, content.n)) {
        struct buf expected = BUF_INIT(16 << 20);
        as_read(content, &expected);
        CHECK(page.content.n == expected.len &&
              (!expected.len || memcmp(page.content.p, expected.data, expected.len) == 0));
        buf_done(&expected);
    }
    wire_log_page_done(&page);
    wire_log_scan_init(&scan);
    wire_log_scan_feed(&scan, slice_of(b.data, b.len));
    CHECK(wire_log_scan_end(&scan, 200, NULL) != WIRE_LOG_NONE);
    buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice body = slice_of((const char *)data, size);
    struct wire_log_request log;
    struct why why = { "" };
    int64_t job_id;
    if (wire_log_request_parse(body, &log, &why) == OK)
        write_log_again(&log);
    else
        CHECK(why.text[0]);
    why.text[0] = '\0';
    if (wire_job_request_parse(body, &job_id, &why) == OK)
        write_job_again(job_id);
    else
        CHECK(why.text[0]);
    write_page(body);
    return 0;
}
