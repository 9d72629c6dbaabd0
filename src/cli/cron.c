/* SPDX-License-Identifier: Apache-2.0 */
/* peal cron: the scheduler's own answers about an expression, without a server. */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/cron_batch.h"
#include "cron/explain.h"
#include "cron/rfc3339.h"
#include "server/zones.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COUNT_DEFAULT = 10, COUNT_MAX = 100000 };

static const char help_text[] =
    "usage: peal cron next EXPR [--zone Z] [--from MOMENT] [--count N] [--dst smart|xxl]\n"
    "       peal cron explain EXPR [--zone Z] [--lang en|zh-CN|zh-TW]\n"
    "       peal cron next --batch [--count N] [--dst smart|xxl] < LINES\n"
    "\n"
    "An expression has 6 or 7 fields (quote it, the shell knows * and ? too):\n"
    "\n"
    "  second  minute  hour  day-of-month  month    day-of-week  [year]\n"
    "  0-59    0-59    0-23  1-31 L W      1-12     1-7 L #      1970-2299\n"
    "                                      JAN-DEC  SUN-SAT (1 is Sunday)\n"
    "\n"
    "  *  every value          a,b    several        a-b    a range, may run over the end\n"
    "  a/n  every n from a     a-b/n  in a range     ?      in one of the two day fields, always:\n"
    "                                                       the other one chooses the day\n"
    "  L  last day             L-3  3 days before    15W  weekday nearest to the 15th    LW\n"
    "  6L last Friday          6#3  third Friday\n"
    "\n"
    "  0 30 9 ? * MON-FRI     weekdays at 09:30\n"
    "  0 0/5 * * * ?          every 5 minutes\n"
    "  0 0 18 L * ?           the last day of the month at 18:00\n"
    "\n"
    "next prints the times after --from (RFC 3339, such as 2030-01-31T08:30:00+08:00; now, if\n"
    "left out) in --zone (a name such as Asia/Shanghai; this machine's own, if left out), --count\n"
    "of them (10), one a line. If there is none it prints \"never\", with exit status 1.\n"
    "\n"
    "--dst says what becomes of times that summer time skips or repeats. smart (the default): a "
    "job\n"
    "with fixed hours fires exactly once, right after the gap or in the first pass; one that\n"
    "fires in every hour keeps ticking. xxl: as XXL-JOB, skipped times do not fire, and of "
    "repeated\n"
    "ones the second pass does.\n"
    "\n"
    "explain says it in one sentence, in English unless --lang names another language, and names\n"
    "the --zone that it is given.\n"
    "\n"
    "--batch reads lines EXPR<TAB>ZONE<TAB>MOMENT (\\\\ \\t \\n \\r \\uXXXX stand for characters "
    "in EXPR,\n"
    "further columns are ignored) and answers each with one line: epoch milliseconds with commas,\n"
    "\"-\" for never, \"INVALID\" for a line that cannot be read.\n";

struct next_args {
    const char *zone, *from, *count, *dst;
    bool batch, help;
    int n;
    enum dst_policy policy;
};

static int complain(const char *what, const char *problem)
{
    fprintf(stderr, "%s: %s\n", what, problem);
    return EXIT_USAGE;
}

/* Exactly one expression; several words are most likely an unquoted one. */
static bool one_expression(const char *what, int others)
{
    if (others == 1)
        return true;
    complain(what, others == 0 ? "an expression is missing (peal cron --help explains)"
                               : "one expression is wanted; put it in quotes: '0 0 9 * * ?'");
    return false;
}

static int last_year(void)
{
    return wall_year(clock_wall_ms(), zone_utc()) + 100;
}

static bool next_settle(struct next_args *a)
{
    if (a->count && (!parse_int(slice_text(a->count), &a->n) || a->n < 1 || a->n > COUNT_MAX)) {
        complain("peal cron next", "--count must be 1-100000");
        return false;
    }
    if (a->dst && !dst_policy_find(slice_text(a->dst), &a->policy)) {
        complain("peal cron next", "--dst must be smart or xxl");
        return false;
    }
    if (a->batch && (a->zone || a->from)) {
        complain("peal cron next", "--batch takes zone and start from its lines, not from options");
        return false;
    }
    return true;
}

static int print_times(const struct cron *c, const struct zone *z, const struct next_args *a,
                       int64_t ms)
{
    char text[RFC3339_SIZE];
    int i = 0;
    for (; i < a->n && !cron_next(c, z, a->policy, ms, &ms); i++)
        puts(rfc3339_format(ms, z, text));
    if (i == 0)
        puts("never");
    if (fflush(stdout) != 0 || ferror(stdout))
        return EXIT_FAILED;
    return i ? EXIT_DONE : EXIT_NO;
}

static int next_one(const char *expression, const struct next_args *a)
{
    struct why why = { { 0 } };
    struct cron c;
    int64_t ms = clock_wall_ms();
    if (cron_parse(slice_text(expression), last_year(), &c, &why) ||
        (a->from && rfc3339_parse(slice_text(a->from), &ms, &why)))
        return complain("peal cron next", why.text);
    struct zones *zones = zones_new(NULL);
    struct zone *z;
    int status = EXIT_USAGE;
    if (zones_get(zones, a->zone ? a->zone : "", &z, &why)) {
        complain("peal cron next", why.text);
    } else {
        status = print_times(&c, z, a, ms);
        zone_unref(z);
    }
    zones_free(zones);
    return status;
}

static int next_batch(const struct next_args *a)
{
    struct why why = { { 0 } };
    if (!cron_batch(STDIN_FILENO, STDOUT_FILENO, a->n, a->policy, &why))
        return EXIT_DONE;
    complain("peal cron next --batch", why.text);
    return EXIT_FAILED;
}

static int print_help(void)
{
    fputs(help_text, stdout);
    return EXIT_DONE;
}

static int cron_next_command(int argc, char **argv)
{
    struct next_args a = { .n = COUNT_DEFAULT, .policy = DST_SMART };
    const struct option_row rows[] = {
        { "--zone", &a.zone, NULL }, { "--from", &a.from, NULL },   { "--count", &a.count, NULL },
        { "--dst", &a.dst, NULL },   { "--batch", NULL, &a.batch }, { "--help", NULL, &a.help },
        { "-h", NULL, &a.help },
    };
    int others = options_read("peal cron next", rows, (int)countof(rows), argc, argv);
    if (others < 0)
        return EXIT_USAGE;
    if (a.help)
        return print_help();
    if (!next_settle(&a))
        return EXIT_USAGE;
    if (a.batch && others == 0)
        return next_batch(&a);
    if (a.batch)
        return complain("peal cron next", "--batch takes its expressions from standard input");
    return one_expression("peal cron next", others) ? next_one(argv[1], &a) : EXIT_USAGE;
}

static bool zone_is_there(const char *name, struct why *why)
{
    struct zones *zones = zones_new(NULL);
    struct zone *z;
    enum err err = zones_get(zones, name, &z, why);
    if (!err)
        zone_unref(z);
    zones_free(zones);
    return !err;
}

static int cron_explain_command(int argc, char **argv)
{
    bool help = false;
    const char *language = "en", *zone = NULL;
    enum language lang;
    const struct option_row rows[] = { { "--lang", &language, NULL },
                                       { "--zone", &zone, NULL },
                                       { "--help", NULL, &help },
                                       { "-h", NULL, &help } };
    int others = options_read("peal cron explain", rows, (int)countof(rows), argc, argv);
    if (others < 0)
        return EXIT_USAGE;
    if (help)
        return print_help();
    if (!one_expression("peal cron explain", others))
        return EXIT_USAGE;
    if (!language_find(slice_text(language), &lang))
        return complain("peal cron explain", "--lang must be en, zh-CN or zh-TW");
    struct why why = { { 0 } };
    struct cron c;
    if (cron_parse(slice_text(argv[1]), last_year(), &c, &why) ||
        (zone && !zone_is_there(zone, &why)))
        return complain("peal cron explain", why.text);
    struct buf text = BUF_INIT(EXPLAIN_MAX);
    cron_explain(&c, lang, &text);
    if (zone)
        printf("%s (%s)\n", buf_str(&text), zone);
    else
        puts(buf_str(&text));
    buf_done(&text);
    return EXIT_DONE;
}

int cmd_cron(int argc, char **argv)
{
    static const struct command commands[] = {
        { "next", "the next scheduled times of an expression", cron_next_command },
        { "explain", "an expression in words", cron_explain_command },
    };
    if (argc < 2) {
        fputs(help_text, stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help();
    for (size_t i = 0; i < countof(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return complain("peal cron", "next or explain is wanted (peal cron --help explains)");
}
