/* SPDX-License-Identifier: Apache-2.0 */
/* rule.c - the texts of rules, and when one keeps quiet. */
#include "model/rule.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

static const char *const kinds[RULE_KINDS] = {
    [RULE_FAILED] = "failed",   [RULE_RECOVERED] = "recovered", [RULE_SLOW] = "slow",
    [RULE_STOPPED] = "stopped", [RULE_LATE] = "late",           [RULE_EMPTY] = "empty",
    [RULE_GONE] = "gone",       [RULE_CENTER] = "center",
};

static const char *const levels[RULE_LEVELS] = {
    [RULE_INFO] = "info",
    [RULE_WARNING] = "warning",
    [RULE_CRITICAL] = "critical",
};

void rule_record_done(struct rule_record *r)
{
    free(r->name);
    free(r->channels);
    memset(r, 0, sizeof(*r));
}

void rule_record_copy(struct rule_record *to, const struct rule_record *from)
{
    *to = *from;
    to->name = mem_dup(from->name);
    to->channels = mem_dup(from->channels);
}

void silence_record_done(struct silence_record *r)
{
    free(r->reason);
    free(r->by);
    memset(r, 0, sizeof(*r));
}

void silence_record_copy(struct silence_record *to, const struct silence_record *from)
{
    *to = *from;
    to->reason = mem_dup(from->reason);
    to->by = mem_dup(from->by);
}

const char *rule_kind_text(enum rule_kind k)
{
    return kinds[k];
}

const char *rule_level_text(enum rule_level l)
{
    return levels[l];
}

/* The place of a text in a table; n if it is not there. */
static int place(const char *const *texts, int n, struct slice text)
{
    int i = 0;
    while (i < n && !slice_eq(text, texts[i]))
        i++;
    return i;
}

bool rule_kind_of(struct slice text, enum rule_kind *ret)
{
    int i = place(kinds, RULE_KINDS, text);
    if (i < RULE_KINDS)
        *ret = (enum rule_kind)i;
    return i < RULE_KINDS;
}

bool rule_level_of(struct slice text, enum rule_level *ret)
{
    int i = place(levels, RULE_LEVELS, text);
    if (i < RULE_LEVELS)
        *ret = (enum rule_level)i;
    return i < RULE_LEVELS;
}

int rule_quiet_left(const struct rule_record *r, int minute)
{
    if (r->quiet_from < 0)
        return 0;
    int length = (r->quiet_to - r->quiet_from + RULE_DAY_MINUTES) % RULE_DAY_MINUTES;
    int in = (minute - r->quiet_from + RULE_DAY_MINUTES) % RULE_DAY_MINUTES;
    return in < length ? length - in : 0;
}
