/* SPDX-License-Identifier: Apache-2.0 */
/* The database of an XXL-JOB as the commands of peal db open it. */
#include "cli/db_source.h"
#include "cli/command.h"
#include "cli/xxl_zones.h"
#include <stdio.h>
#include <string.h>

int xxl_complain(const struct why *why, enum err err)
{
    fprintf(stderr, "peal db: %s\n", why->text[0] ? why->text : err_text(err));
    return err == ERR_INVALID || err == ERR_EXISTS ? EXIT_USAGE : EXIT_FAILED;
}

enum err xxl_source_open(struct xxl_source *s, const char *url, const struct db_args *a,
                         struct why *why)
{
    memset(s, 0, sizeof(*s));
    s->zones = zones_new(NULL);
    enum err err = xxl_url(url, &s->url, why);
    if (!err)
        err = xxl_zones(s->zones, a->zone, a->log_zone, &s->url, &s->zone, &s->log_zone, why);
    if (!err)
        err = reader_open(&s->url, &s->reader, why);
    if (!err) {
        err = layout_read(reader_query, s->reader, &s->layout, why);
        s->known = true;
    }
    return err;
}

void xxl_source_done(struct xxl_source *s)
{
    if (s->known)
        layout_done(&s->layout);
    reader_free(s->reader);
    zone_unref(s->zone);
    zone_unref(s->log_zone);
    zones_free(s->zones);
    db_url_wipe(&s->url);
}
