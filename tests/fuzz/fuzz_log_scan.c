/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict about a log: the same however the reply is split, and for a reply that jansson reads,
 * the one that its tree gives. The first byte chooses the splitting. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "wire/json.h"
#include "wire/log_scan.h"
#include "wire/texts.h"

static enum wire_log_verdict scan(const char *p, size_t n, unsigned seed)
{
    struct wire_log_scan s;
    wire_log_scan_init(&s);
    while (n) {
        seed = seed * 1103515245 + 12345;
        size_t piece = seed ? 1 + (seed >> 16) % 17 : n;
        if (piece > n)
            piece = n;
        wire_log_scan_feed(&s, slice_of(p, piece));
        p += piece;
        n -= piece;
    }
    return wire_log_scan_end(&s, 200, true);
}

static enum wire_log_verdict whole(const char *p, size_t n)
{
    struct wire_log_scan s;
    wire_log_scan_init(&s);
    wire_log_scan_feed(&s, slice_of(p, n));
    return wire_log_scan_end(&s, 200, true);
}

static bool contains(json_t *text, const char *mark)
{
    return json_is_string(text) &&
           memmem(json_string_value(text), json_string_length(text), mark, strlen(mark)) != NULL;
}

static enum wire_log_verdict by_tree(json_t *doc)
{
    int code = 0, to_line = -1;
    bool is_end = false;
    json_t *page = json_object_get(doc, "content");
    if (!json_is_object(page))
        page = json_object_get(doc, "data");
    if (!json_is_object(page) || wire_json_int(doc, "code", &code, NULL) || code != 200)
        return WIRE_LOG_CANNOT_TELL;
    json_t *text = json_object_get(page, "logContent");
    if (contains(text, WIRE_END_MARK))
        return WIRE_LOG_ENDED;
    if (contains(text, WIRE_START_MARK))
        return WIRE_LOG_STARTED;
    if (json_is_string(text) && json_string_length(text) == sizeof(WIRE_TEXT_NO_LOG) - 1 &&
        strcmp(json_string_value(text), WIRE_TEXT_NO_LOG) == 0)
        return WIRE_LOG_NONE;
    if (wire_json_int(page, "toLineNum", &to_line, NULL) ||
        wire_json_bool(page, "isEnd", &is_end, NULL))
        return WIRE_LOG_CANNOT_TELL;
    return to_line == 0 && is_end ? WIRE_LOG_NONE : WIRE_LOG_CANNOT_TELL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *p = (const char *)data + 1;
    size_t n = size - 1;
    CHECK(scan(p, n, data[0]) == whole(p, n));
    json_t *doc = NULL;
    if (wire_json_parse(slice_of(p, n), 1 << 20, "log", &doc, NULL))
        return 0;
    /* numbers in one spelling: the scan reads plain ones only */
    char *plain = json_dumps(doc, JSON_COMPACT | JSON_ENCODE_ANY);
    if (plain && json_is_object(doc))
        CHECK(whole(plain, strlen(plain)) == by_tree(doc));
    free(plain);
    json_decref(doc);
    return 0;
}
