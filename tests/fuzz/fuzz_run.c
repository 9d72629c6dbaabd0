/* SPDX-License-Identifier: Apache-2.0 */
/* A /run that our executor takes is written by our center and read again as the same. */
#include <string.h>
#include "fuzz.h"
#include "wire/executor_api.h"
#include "wire/executor_side.h"

static bool equal(struct slice a, struct slice b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static void write_again(const struct wire_run_request *r)
{
    static const char *const blocks[] = { "SERIAL_EXECUTION", "DISCARD_LATER", "COVER_EARLY" };
    struct wire_run_form form;
    struct wire_run_request again;
    struct wire_job job = { r->job_id,      r->handler,
                            r->params,      slice_text(blocks[r->block]),
                            r->timeout_s,   r->glue_type,
                            r->glue_source, r->glue_update_ms };
    struct buf b = BUF_INIT(16 << 20), other = BUF_INIT(16 << 20);
    struct wire_run run = { r->log_id, r->log_date_ms, r->shard, r->shard_total, NULL };
    CHECK(wire_run_form_init(&form, &job, 16 << 20) == OK);
    wire_run_body(&b, &form, &run);
    run.params = &r->params;
    wire_run_body(&other, &form, &run);
    CHECK(!b.failed && equal(slice_of(b.data, b.len), slice_of(other.data, other.len)));
    CHECK(wire_run_request_parse(slice_of(b.data, b.len), &again, NULL) == OK);
    CHECK(again.job_id == r->job_id && again.log_id == r->log_id && again.block == r->block);
    CHECK(again.shard == r->shard && again.shard_total == r->shard_total);
    CHECK(equal(again.handler, r->handler) && equal(again.params, r->params));
    CHECK(equal(again.glue_type, r->glue_type) && equal(again.glue_source, r->glue_source));
    wire_run_request_done(&again);
    wire_run_form_done(&form);
    buf_done(&b);
    buf_done(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice body = slice_of((const char *)data, size);
    struct wire_run_request r;
    struct wire_log_request log;
    int64_t job_id;
    struct why why = { "" };
    if (wire_job_request_parse(body, &job_id, NULL) == OK)
        CHECK(size > 1);
    if (wire_log_request_parse(body, &log, NULL) == OK)
        CHECK(size > 1);
    if (wire_run_request_parse(body, &r, &why)) {
        CHECK(why.text[0]);
        return 0;
    }
    write_again(&r);
    wire_run_request_done(&r);
    return 0;
}
