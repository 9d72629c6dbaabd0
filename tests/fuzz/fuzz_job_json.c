/* SPDX-License-Identifier: Apache-2.0 */
/* A job as JSON: the first byte says whether it is new ('n') or a merge patch of one that is there;
 * the rest is the body. What is taken keeps the columns' limits and is written as JSON that reads
 * back; what is not is told, field by field. */
#include <string.h>
#include "fuzz.h"
#include "api/body.h"
#include "api/v1/job_json.h"
#include "base/mem.h"
#include "wire/json.h"

static bool may(const void *ctx, int64_t group_id)
{
    (void)ctx;
    return group_id == 1;
}

static struct store *store_with_a_group(void)
{
    struct store_options options = { .node = 1, .epoch = 1 };
    struct store *s = store_memory_new(&options);
    struct group_record g = { .app = "app-one", .title = "t" };
    CHECK(!s->ops->txn->begin(s, NULL) && !s->ops->catalog->group_insert(s, &g, NULL) &&
          !s->ops->txn->commit(s, NULL, NULL) && g.id == 1);
    return s;
}

static void within_limits(struct job_record *r)
{
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++) {
        const char *text = c->type >= JOB_TEXT ? *job_text(r, c) : NULL;
        if (c->use != JOB_TAKEN)
            continue;
        if (text && c->type == JOB_TEXT && c->max)
            CHECK(utf8_units(text, strlen(text)) <= (size_t)c->max);
        if (text && c->type == JOB_BYTES && c->max)
            CHECK(strlen(text) <= (size_t)c->max);
        if (c->type == JOB_INT || c->type == JOB_I64)
            CHECK(job_number(r, c) >= c->min && job_number(r, c) <= c->max);
    }
    CHECK(r->retry_backoff >= 1 && r->retry_backoff <= 10);
}

static void reads_back(struct buf *out, const char *what)
{
    struct json_t *doc;
    CHECK(!out->failed);
    CHECK(wire_json_parse(slice_of(out->data, out->len), 8 << 20, what, &doc, NULL) == OK);
    wire_json_free(doc);
    buf_done(out);
}

static void written(struct job_record *r)
{
    struct buf out = BUF_INIT(8 << 20);
    struct jsonw w = jsonw_on(&out);
    jsonw_object(&w, NULL);
    job_json_object(&w, "schedule", r);
    job_json_object(&w, "task", r);
    job_json_object(&w, "running", r);
    job_json_children(&w, r);
    job_json_emails(&w, r);
    jsonw_object_end(&w);
    reads_back(&out, "job");
}

static void told(const struct problem_errors *errors)
{
    struct buf out = BUF_INIT(1 << 20);
    CHECK(errors->n > 0 && !errors->list.failed);
    problem_write(&out, PROBLEM_INVALID, "ID", errors->first, errors, -1);
    reads_back(&out, "problem");
}

/* A job of which everything is said. */
static const char before[] =
    "{\"name\":\"n\",\"groupId\":1,\"schedule\":{\"type\":\"CRON\",\"conf\":\"0 0 9 * * ?\"},"
    "\"task\":{\"kind\":\"BEAN\",\"handler\":\"h\",\"param\":\"p\"},\"alarmEmails\":[\"a@b\"]}";

static enum err read_job(struct slice text, const struct job_rules *rules, bool new,
                         struct job_record *r)
{
    struct problem_errors errors;
    struct why why = { "" };
    struct json_t *doc;
    uint64_t said;
    if (body_parse(text, &doc, &why))
        return ERR_INVALID;
    problem_errors_init(&errors);
    enum err err = new ? job_json_insert(doc, rules, r, &errors, &why)
                       : job_json_update(doc, rules, r, &said, &errors, &why);
    CHECK(err == OK || err == ERR_INVALID);
    if (err)
        told(&errors);
    else
        CHECK(errors.n == 0);
    problem_errors_done(&errors);
    wire_json_free(doc);
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct store *store;
    static struct zones *zones;
    if (!store) {
        store = store_with_a_group();
        zones = zones_new("/nonexistent");
    }
    const struct job_rules rules = { store, zones, "UTC", 2120, "fuzz", 60000, may, NULL, false };
    struct job_record r;
    job_record_init(&r);
    if (size == 0)
        return 0;
    bool new = data[0] == 'n';
    if (!new)
        CHECK(!read_job(slice_text(before), &rules, true, &r));
    if (!read_job(slice_of((const char *)data + 1, size - 1), &rules, new, &r)) {
        within_limits(&r);
        written(&r);
    }
    job_record_done(&r);
    return 0;
}
