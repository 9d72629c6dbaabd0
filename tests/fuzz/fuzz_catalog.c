/* SPDX-License-Identifier: Apache-2.0 */
/* A file of what was configured: what is taken has the shape that its readers lean on, and is taken
 * again as it is written; what is not says where and why. */
#include <jansson.h>
#include "fuzz.h"
#include "wire/catalog.h"
#include "wire/json.h"

static void named(const json_t *items, const char *first, const char *second)
{
    size_t i;
    const json_t *o;
    json_array_foreach(items, i, o)
    {
        CHECK(json_string_length(json_object_get(o, first)) > 0);
        CHECK(!second || json_string_length(json_object_get(o, second)) > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_t *doc = NULL, *again = NULL;
    struct why why = { "" };
    enum err err = catalog_read(slice_of((const char *)data, size), &doc, &why);
    if (err) {
        CHECK(why.text[0]);
        return 0;
    }
    named(json_object_get(doc, "groups"), "app", NULL);
    named(json_object_get(doc, "jobs"), "group", "name");
    named(json_object_get(doc, "users"), "name", NULL);
    named(json_object_get(doc, "channels"), "name", "kind");
    named(json_object_get(doc, "rules"), "name", "kind");
    named(json_object_get(doc, "silences"), "reason", NULL);
    char *text = json_dumps(doc, JSON_COMPACT);
    CHECK(text && !catalog_read(slice_text(text), &again, &why) && json_equal(doc, again));
    free(text);
    wire_json_free(again);
    wire_json_free(doc);
    return 0;
}
