/* SPDX-License-Identifier: Apache-2.0 */
/* A rule of alarms or a channel as JSON, as its resource and import files have it. The first byte
 * says what: 'r' a new rule, 'R' a change of one; 'c' a new channel, any other a change of one; the
 * rest is the body. What is taken keeps its bounds and is written so that it reads back; what is
 * not is told, field by field. */
#include <string.h>
#include "fuzz.h"
#include "alarm/settings.h"
#include "api/body.h"
#include "api/v1/channel_json.h"
#include "api/v1/rule_json.h"
#include "base/mem.h"
#include "wire/json.h"

static void reads_back(struct buf *out, const char *what)
{
    struct json_t *doc;
    CHECK(!out->failed);
    CHECK(wire_json_parse(slice_of(out->data, out->len), 8 << 20, what, &doc, NULL) == OK);
    wire_json_free(doc);
    buf_done(out);
}

static void told(const struct problem_errors *errors)
{
    struct buf out = BUF_INIT(1 << 20);
    CHECK(errors->n > 0 && !errors->list.failed);
    problem_write(&out, PROBLEM_INVALID, "ID", errors->first, errors, -1);
    reads_back(&out, "problem");
}

static bool within(int64_t v, int64_t min, int64_t max)
{
    return v >= min && v <= max;
}

static void check_rule(const struct rule_record *r)
{
    struct slice rest = slice_text(r->channels), one;
    struct buf out = BUF_INIT(1 << 20);
    struct jsonw w = jsonw_on(&out);
    int channels = 0;
    CHECK(r->name && within((int64_t)utf8_units(r->name, strlen(r->name)), 1, RULE_NAME_MAX));
    CHECK(within(r->kind, 0, RULE_KINDS - 1) && within(r->level, 0, RULE_LEVELS - 1));
    CHECK(within(r->in_a_row, 0, RULE_IN_A_ROW_MAX));
    CHECK(!r->longer_ms || within(r->longer_ms, RULE_LONGER_MIN_MS, RULE_LONGER_MAX_MS));
    CHECK(!r->repeat_ms || within(r->repeat_ms, RULE_REPEAT_MIN_MS, RULE_REPEAT_MAX_MS));
    CHECK(within(r->quiet_from, -1, RULE_DAY_MINUTES - 1) &&
          within(r->quiet_to, -1, RULE_DAY_MINUTES - 1));
    CHECK((r->quiet_from < 0) == (r->quiet_to < 0));
    while (slice_item(&rest, &one))
        channels++;
    CHECK(within(channels, 1, RULE_CHANNELS_MAX));
    rule_json_write(&w, r);
    reads_back(&out, "rule");
}

static void check_channel(const struct channel_record *r)
{
    struct settings s;
    struct why why = { "" };
    CHECK(r->name && r->kind && r->settings);
    CHECK(within((int64_t)strlen(r->name), 1, CHANNEL_NAME_MAX) && !strchr(r->name, ','));
    CHECK(within(r->per_minute, 0, CHANNEL_PER_MINUTE_MAX));
    CHECK(strlen(r->settings) <= SETTINGS_MAX);
    CHECK(settings_read(r->kind, r->settings, &s, &why) == OK);
    settings_free(&s);
}

static bool read_rule(struct slice text, bool is_new, struct rule_record *r)
{
    struct problem_errors errors;
    struct why why = { "" };
    struct json_t *doc;
    if (body_parse(text, &doc, &why))
        return false;
    problem_errors_init(&errors);
    bool good = rule_json_read(doc, is_new, r, &errors);
    CHECK(good == (errors.n == 0));
    if (good)
        rule_json_kind(r, &errors);
    if (errors.n)
        told(&errors);
    good = errors.n == 0;
    problem_errors_done(&errors);
    wire_json_free(doc);
    return good;
}

static bool read_channel(struct slice text, bool is_new, struct channel_record *r)
{
    struct problem_errors errors;
    struct why why = { "" };
    struct json_t *doc;
    if (body_parse(text, &doc, &why))
        return false;
    problem_errors_init(&errors);
    bool good = channel_json_read(doc, is_new, r, &errors);
    CHECK(good == (errors.n == 0));
    if (!good)
        told(&errors);
    problem_errors_done(&errors);
    wire_json_free(doc);
    return good;
}

static void play_rule(struct slice text, bool is_new)
{
    static const char whole[] =
        "{\"name\":\"n\",\"kind\":\"failed\",\"channels\":[\"mail\"],\"inARow\":2,"
        "\"quiet\":{\"from\":\"22:00\",\"to\":\"06:30\"},\"repeatMs\":3600000}";
    struct rule_record r = {
        .level = RULE_WARNING, .quiet_from = -1, .quiet_to = -1, .enabled = true
    };
    if (!is_new)
        CHECK(read_rule(slice_text(whole), true, &r));
    if (read_rule(text, is_new, &r))
        check_rule(&r);
    rule_record_done(&r);
}

static void play_channel(struct slice text, bool is_new)
{
    static const char whole[] =
        "{\"name\":\"n\",\"kind\":\"webhook\",\"settings\":{\"url\":\"https://example.org/a\","
        "\"secret\":\"s\"},\"perMinute\":3}";
    struct channel_record r = { .enabled = true };
    if (!is_new)
        CHECK(read_channel(slice_text(whole), true, &r));
    if (read_channel(text, is_new, &r))
        check_channel(&r);
    channel_record_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct slice text = slice_of((const char *)data + 1, size - 1);
    if (data[0] == 'r' || data[0] == 'R')
        play_rule(text, data[0] == 'r');
    else
        play_channel(text, data[0] == 'c');
    return 0;
}
