/* SPDX-License-Identifier: Apache-2.0 */
/* Clients of both generations name the row by id or by ids[]. An update reads the row, puts the
 * form's fields on top and writes with the version it read; if another edit was faster, it starts
 * over. */
#include "api/xxl/fields.h"
#include "api/edits.h"
#include "api/xxl/reply.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define EDIT_TRIES 50

enum err field_id(const struct form *f, int64_t *ret, struct why *why)
{
    const char *found = NULL;
    int n = 0;
    for (size_t i = 0; i < f->n; i++) {
        const char *name = f->items[i].name;
        if (strcmp(name, "id") && strcmp(name, "ids[]") && strcmp(name, "ids"))
            continue;
        found = f->items[i].value;
        n++;
    }
    if (n != 1) {
        why_set(why, n ? "ids[]: exactly one id is wanted" : "id (or ids[]): is missing");
        return ERR_INVALID;
    }
    if (parse_i64(slice_trim(slice_text(found)), ret) && *ret > 0)
        return OK;
    why_set(why, "id: must be a number of a row");
    return ERR_INVALID;
}

enum err field_width(const char *name, const char *text, size_t max, struct why *why)
{
    if (!text || utf8_units(text, strlen(text)) <= max)
        return OK;
    why_set(why, "%s: at most %zu characters", name, max);
    return ERR_TOOBIG;
}

bool field_blank(const char *text)
{
    return slice_trim(slice_text(text)).n == 0;
}

void field_trimmed(char **to, const char *text)
{
    struct slice s = slice_trim(slice_text(text));
    free(*to);
    *to = mem_dupn(s.n ? s.p : "", s.n);
}

void field_finish(struct web_call *call, struct edit *e, enum err err, struct why *why)
{
    if (err)
        edit_free(e);
    else
        err = edit_make(call, e, NULL, why);
    if (err)
        reply_err(call, err, why);
    else
        reply_ok(call);
}

void field_update(struct web_call *call, enum err (*update)(struct web_call *call, struct why *why))
{
    struct why why = { "" };
    enum err err = ERR_OVERTAKEN;
    for (int i = 0; err == ERR_OVERTAKEN && i < EDIT_TRIES; i++) {
        why_clear(&why);
        err = update(call, &why);
    }
    if (err)
        reply_err(call, err, &why);
    else
        reply_ok(call);
}
