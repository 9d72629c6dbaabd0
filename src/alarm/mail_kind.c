/* SPDX-License-Identifier: Apache-2.0 */
/* mail_kind.c - the kind "mail": addresses that rules tell, by the mail server of the settings. The
 * mail itself is mail.c's. */
#include "alarm/kind.h"
#include "alarm/mime.h"

#define ADDRESSES_MAX 20

static const struct channel_field fields[] = {
    { "to", CHANNEL_TO, true, false, 4000 },
};

static enum err check(const struct channel_values *v, const char **field, struct why *why)
{
    struct slice rest = slice_text(v->v[CHANNEL_TO]), one;
    struct why rule = { "" };
    int n = 0;
    *field = "to";
    while (slice_item(&rest, &one)) {
        if (mime_address(one, &rule)) {
            why_set(why, "%.*s: %s", (int)utf8_cut(one.p, one.n, 60), one.p, rule.text);
            return ERR_INVALID;
        }
        n++;
    }
    if (n && n <= ADDRESSES_MAX)
        return OK;
    why_set(why, "must be 1 to %d addresses, separated by commas", ADDRESSES_MAX);
    return ERR_INVALID;
}

const struct channel_kind kind_mail = {
    .name = "mail",
    .fields = fields,
    .nfields = countof(fields),
    .check = check,
    .by_mail = true,
};
