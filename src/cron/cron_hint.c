/* SPDX-License-Identifier: Apache-2.0 */
/* cron_hint.c - cron_parse, which guesses what the author of a refused expression meant: a Unix
 * line of five fields, an @name, or the day rule forgotten. A guess is shown only after it has
 * parsed. */
#include "cron/cron_internal.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>

static const struct at_name {
    const char *name, *form;
} at_names[] = {
    { "@yearly", "0 0 0 1 1 ?" },   { "@annually", "0 0 0 1 1 ?" }, { "@monthly", "0 0 0 1 * ?" },
    { "@weekly", "0 0 0 ? * SUN" }, { "@daily", "0 0 0 * * ?" },    { "@midnight", "0 0 0 * * ?" },
    { "@hourly", "0 0 * * * ?" },   { "@minutely", "0 * * * * ?" }, { "@secondly", "* * * * * ?" },
};

enum { HINT_SIZE = 256, LINE_SIZE = 160, WORD_SIZE = 64 };

static const struct at_name *at_find(struct slice text)
{
    for (size_t i = 0; i < countof(at_names); i++)
        if (slice_eq_nocase(text, at_names[i].name))
            return &at_names[i];
    return NULL;
}

static void hint_at(struct slice text, char hint[HINT_SIZE])
{
    const struct at_name *at = at_find(text);
    if (at)
        snprintf(hint, HINT_SIZE, "; for %s write: %s", at->name, at->form);
    else if (text.n >= 6 && slice_eq_nocase(slice_of(text.p, 6), "@every"))
        snprintf(hint, HINT_SIZE,
                 "; for @every use the schedule type FIX_RATE with the number of seconds");
    else
        snprintf(hint, HINT_SIZE, "; @names are not part of the language");
}

/* Unix counts weekdays 0-7 with 0 and 7 for Sunday; here Sunday is 1. Steps stay. */
static void weekday_from_unix(struct slice s, char *to)
{
    for (size_t i = 0; i < s.n; i++) {
        bool step = i && s.p[i - 1] == '/';
        bool single = i + 1 == s.n || s.p[i + 1] < '0' || s.p[i + 1] > '9';
        char c = s.p[i];
        if (!step && single && c >= '0' && c <= '7')
            c = (char)('1' + (c - '0') % 7);
        *to++ = c;
    }
    *to = '\0';
}

/* Put ? into the day field that says nothing; false where both choose days. */
static bool settle_days(char day[WORD_SIZE], char weekday[WORD_SIZE])
{
    bool no_day = strcmp(day, "?") == 0, no_weekday = strcmp(weekday, "?") == 0;
    if (no_day && no_weekday)
        text_copy(day, WORD_SIZE, slice_text("*"));
    else if (no_day || no_weekday)
        return true;
    else if (strcmp(weekday, "*") == 0)
        text_copy(weekday, WORD_SIZE, slice_text("?"));
    else if (strcmp(day, "*") == 0)
        text_copy(day, WORD_SIZE, slice_text("?"));
    else
        return false;
    return true;
}

/* Compose seconds to year from words; those too long for a hint give none. */
static bool compose(const struct slice *fields, size_t n, bool is_unix, char line[LINE_SIZE],
                    bool *ret_both_days)
{
    char words[CRON_FIELDS][WORD_SIZE];
    for (size_t i = 0; i < n; i++)
        if (fields[i].n >= WORD_SIZE)
            return false;
    size_t shift = is_unix ? 1 : 0;
    text_copy(words[0], WORD_SIZE, slice_text("0"));
    for (size_t i = 0; i < n; i++)
        text_copy(words[i + shift], WORD_SIZE, fields[i]);
    if (is_unix)
        weekday_from_unix(fields[4], words[FIELD_WEEKDAY]);
    if (!settle_days(words[FIELD_DAY], words[FIELD_WEEKDAY])) {
        *ret_both_days = true;
        return false;
    }
    int used = 0;
    for (size_t i = 0; i < n + shift; i++) {
        used += snprintf(line + used, (size_t)(LINE_SIZE - used), "%s%s", i ? " " : "", words[i]);
        if (used >= LINE_SIZE)
            return false;
    }
    return true;
}

/* Five to seven fields, put right: into line. 0: no guess; else how many fields there were. */
static size_t put_right(struct slice text, int last_year, char line[LINE_SIZE], bool *ret_both_days)
{
    struct slice fields[CRON_FIELDS];
    struct cron c;
    size_t n = text.n > CRON_TEXT_MAX ? 0 : cron_split(text, fields);
    *ret_both_days = false;
    if (n < 5 || n > CRON_FIELDS || !compose(fields, n, n == 5, line, ret_both_days) ||
        cron_parse_plain(slice_text(line), last_year, &c, NULL))
        return 0;
    return n;
}

/* The form that the author probably meant, with words around it, such as "; write 0 0 0 * * ?".
 * Empty if there is no good guess. */
static void cron_hint(struct slice text, int last_year, char hint[HINT_SIZE])
{
    hint[0] = '\0';
    if (text.n > CRON_TEXT_MAX)
        return;
    struct slice trimmed = slice_trim(text), fields[CRON_FIELDS];
    if (trimmed.n && trimmed.p[0] == '@') {
        hint_at(trimmed, hint);
        return;
    }
    char line[LINE_SIZE];
    bool both;
    size_t n = put_right(text, last_year, line, &both);
    if (n)
        snprintf(hint, HINT_SIZE, "; %s: %s",
                 n == 5 ? "for this Unix line of 5 fields write" : "write", line);
    else if (both)
        snprintf(hint, HINT_SIZE,
                 "; to fire on days of the month and on weekdays use two jobs, each with ? in the "
                 "other field");
    else if (cron_split(text, fields) == 5)
        snprintf(hint, HINT_SIZE, "; Unix lines of 5 fields lack the second in front");
}

bool cron_guess(struct slice text, int last_year, char to[CRON_TEXT_MAX + 1])
{
    char line[LINE_SIZE];
    bool both;
    const struct at_name *at = at_find(slice_trim(text));
    const char *form = at ? at->form : NULL;
    if (!form && put_right(text, last_year, line, &both))
        form = line;
    if (form)
        text_copy(to, CRON_TEXT_MAX + 1, slice_text(form));
    return form != NULL;
}

bool cron_both_days(struct slice text, int last_year)
{
    char line[LINE_SIZE];
    bool both;
    return !put_right(text, last_year, line, &both) && both;
}

enum err cron_parse(struct slice text, int last_year, struct cron *ret, struct why *why)
{
    if (!why)
        return cron_parse_plain(text, last_year, ret, NULL);
    struct why rule = { { 0 } };
    enum err err = cron_parse_plain(text, last_year, ret, &rule);
    if (err) {
        char hint[HINT_SIZE];
        cron_hint(text, last_year, hint);
        why_set(why, "%s%s", rule.text, hint);
    }
    return err;
}
