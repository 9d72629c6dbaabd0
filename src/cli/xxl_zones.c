/* SPDX-License-Identifier: Apache-2.0 */
/* Java takes GMT+8 for a zone's name; the tz database has it as Etc/GMT-8. */
#include "cli/xxl_zones.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum err take_zone(struct zones *zones, const char *name, struct zone **ret, struct why *why)
{
    char text[ZONES_NAME_MAX + 1];
    int hours;
    bool offset = (strncmp(name, "GMT", 3) == 0 || strncmp(name, "UTC", 3) == 0) &&
                  (name[3] == '+' || name[3] == '-') && parse_int(slice_text(name + 4), &hours) &&
                  hours >= 0 && hours <= 14;
    if (offset)
        snprintf(text, sizeof(text), "Etc/GMT%c%d", name[3] == '+' ? '-' : '+', hours);
    return zones_get(zones, offset ? text : name, ret, why);
}

enum err xxl_zones(struct zones *zones, const char *zone, const char *log_zone,
                   const struct db_url *url, struct zone **ret_zone, struct zone **ret_log_zone,
                   struct why *why)
{
    *ret_zone = *ret_log_zone = NULL;
    enum err err = take_zone(zones, zone ? zone : "", ret_zone, why);
    log_zone = log_zone ? log_zone : url->zone;
    if (!err && log_zone[0])
        err = take_zone(zones, log_zone, ret_log_zone, why);
    else if (!err)
        *ret_log_zone = zone_ref(*ret_zone);
    return err;
}

enum err xxl_url(const char *text, struct db_url *ret, struct why *why)
{
    enum err err = db_url_parse(text, ret, why);
    return err ? err : db_url_password(ret, getenv("PEAL_DB_PASSWORD"), why);
}
