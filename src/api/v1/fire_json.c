/* SPDX-License-Identifier: Apache-2.0 */
/* An instant three times: in UTC, in milliseconds, and as the clock on the wall shows it. */
#include "api/v1/fire_json.h"
#include "api/v1/v1.h"
#include "cron/outlook.h"
#include "cron/rfc3339.h"
#include <stdio.h>

static const char *const notes[] = {
    [NOTE_GAP_MOVED] = "gap_moved",
    [NOTE_OVERLAP_FIRST] = "overlap_first",
    [NOTE_OVERLAP_SECOND] = "overlap_second",
};

char *offset_text(int east_s, char to[OFFSET_SIZE])
{
    int minutes = (east_s < 0 ? -east_s : east_s) / 60;
    snprintf(to, OFFSET_SIZE, "%c%02d:%02d", east_s < 0 ? '-' : '+', minutes / 60 % 100,
             minutes % 60);
    return to;
}

void fire_write(struct jsonw *w, const struct schedule *s, struct fire fire)
{
    char instant[V1_INSTANT_SIZE], wall[RFC3339_SIZE], offset[OFFSET_SIZE];
    walltime_format(fire.ms, s->zone, wall);
    wall[10] = 'T';
    jsonw_object(w, NULL);
    jsonw_text(w, "at", v1_instant_text(fire.ms, instant));
    jsonw_i64(w, "ms", fire.ms);
    jsonw_text(w, "local", wall);
    jsonw_text(w, "offset", offset_text(zone_offset_at(s->zone, fire.ms / 1000), offset));
    jsonw_text(w, "zone", zone_name(s->zone));
    jsonw_bool(w, "planned", fire.planned);
    jsonw_text(w, "note", notes[schedule_note(s, fire.ms)]);
    if (fire.crowd >= 0)
        jsonw_i64(w, "crowd", fire.crowd);
    jsonw_object_end(w);
}
