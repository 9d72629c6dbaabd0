/* SPDX-License-Identifier: Apache-2.0 */
/* peal shadow: beside a live XXL-JOB installation, what would Peal do? It reads its database,
 * writes nothing, and says where the two differ. */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/shadow_report.h"
#include "cli/xxl_zones.h"
#include "cron/rfc3339.h"
#include "shadow/shadow.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    EXIT_NOTHING = 4, /* nothing was due, so nothing was compared */
    EVERY_MS = 10000,
    GRACE_MS = 75000, /* the Java admin's ring may be a minute late */
};

static const char help_text[] =
    "usage: peal shadow --db mysql://USER@HOST/DATABASE [--for DURATION] [--json] ...\n"
    "\n"
    "Reads the database of a live XXL-JOB installation (2.3 to 3.5, on MySQL or MariaDB), plans "
    "its\n"
    "jobs as Peal would from now on, and compares that with what the log shows was fired. It "
    "writes\n"
    "nothing: its session is read-only, and the right to SELECT is enough.\n"
    "\n"
    "  missing     Peal would have fired, XXL-JOB has not\n"
    "  doubled     XXL-JOB fired twice\n"
    "  late        it fired more than a second late (early: in the second before)\n"
    "  executor    it went to another address than the route allows\n"
    "  unexpected  XXL-JOB fired when Peal would not\n"
    "  next        the next scheduled time of a cron job is another one\n"
    "  refused     Peal cannot schedule the job\n"
    "\n"
    "Manual runs, retries, children and the shards of a broadcast are no second firings. While a\n"
    "job is being edited, started or stopped, nothing is certain for some seconds and nothing "
    "said.\n"
    "\n"
    "  --db URL         or the jdbc:mysql: URL of XXL-JOB's configuration, with user=NAME; "
    "options:\n"
    "                   password-file=FILE (or PEAL_DB_PASSWORD), socket=FILE, tls=on, zone=NAME\n"
    "  --zone NAME      in which the admins read cron expressions: their machine's own (this "
    "one's)\n"
    "  --log-zone NAME  in which they write datetimes: serverTimezone of their JDBC URL "
    "(--zone's)\n"
    "  --for DURATION   compare what is due in that time: 30s, 10m, 8h, 7d (until it is stopped)\n"
    "  --every DURATION from one look to the next (10s)\n"
    "  --grace DURATION how late a firing may come before it is missing (75s); the report is\n"
    "                   complete that much after the end of --for\n"
    "  --json           one JSON document at the end, in place of lines as they are found\n"
    "\n"
    "exit status: 0 no difference, 1 differences, 2 wrong arguments or a database that cannot be\n"
    "compared, 3 it does not answer, 4 nothing was due, so nothing was compared\n";

struct shadow_args {
    const char *db, *zone, *log_zone, *length, *every, *grace;
    bool json, help;
    int64_t for_ms, every_ms, grace_ms; /* for_ms 0: until it is stopped */
};

static volatile sig_atomic_t stopped;

static void on_stop(int number)
{
    (void)number;
    stopped = 1;
}

static int complain(const char *text)
{
    fprintf(stderr, "peal shadow: %s; see peal shadow --help\n", text);
    return EXIT_USAGE;
}

static bool read_duration(const char *text, int64_t *ret_ms)
{
    static const struct {
        char unit;
        int64_t ms;
    } units[] = { { 's', 1000 }, { 'm', 60000 }, { 'h', 3600000 }, { 'd', 86400000 } };
    size_t n = strlen(text);
    int64_t v;
    for (size_t i = 0; n && i < countof(units); i++)
        if (text[n - 1] == units[i].unit && parse_i64(slice_of(text, n - 1), &v) && v > 0 &&
            v <= 36500) {
            *ret_ms = v * units[i].ms;
            return true;
        }
    return false;
}

static int read_durations(struct shadow_args *a)
{
    a->every_ms = EVERY_MS;
    a->grace_ms = GRACE_MS;
    if ((a->length && !read_duration(a->length, &a->for_ms)) ||
        (a->every && !read_duration(a->every, &a->every_ms)) ||
        (a->grace && !read_duration(a->grace, &a->grace_ms)))
        return complain("--for, --every and --grace want a duration such as 30s, 10m, 8h or 7d");
    if (a->every_ms > 60000)
        return complain("--every is 60s at most");
    if (a->grace_ms < 2 * a->every_ms || a->grace_ms > 3600000)
        return complain("--grace is at least twice --every, and 60m at most");
    return EXIT_DONE;
}

/* ---- what it works on -------------------------------------------------------------------------
 */

static enum err settle(const struct shadow_args *a, struct zones *zones,
                       struct shadow_config *config, struct why *why)
{
    enum err err = xxl_url(a->db, &config->url, why);
    if (!err)
        err = xxl_zones(zones, a->zone, a->log_zone, &config->url, &config->zone, &config->log_zone,
                        why);
    config->grace_ms = a->grace_ms;
    config->last_year = wall_year(clock_wall_ms(), zone_utc()) + 100;
    return err;
}

/* ---- the comparison ---------------------------------------------------------------------------
 */

static void wait_ms(int64_t ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
    if (ms > 0 && !stopped)
        nanosleep(&t, NULL);
}

static void begin_text(const struct shadow_args *a, const struct shadow_config *config,
                       const struct shadow *s)
{
    struct shadow_state state = shadow_state(s);
    if (a->json)
        return;
    printf("XXL-JOB %s, %lld jobs, %lld running; cron in %s, datetimes in %s\n",
           layout_text(state.layout), (long long)state.jobs, (long long)state.running,
           zone_name(config->zone), zone_name(config->log_zone));
    fflush(stdout);
}

/* Until the time is over and its firings are judged, or somebody stops it. */
static void compare(const struct shadow_args *a, struct shadow *s)
{
    bool away = false;
    int64_t begun_ms = clock_boot_ms(), next_ms = begun_ms;
    int64_t until_ms = a->for_ms ? begun_ms + a->for_ms + a->grace_ms + 3000 : INT64_MAX;
    while (!stopped && clock_boot_ms() < until_ms) {
        next_ms += a->every_ms;
        wait_ms(next_ms - clock_boot_ms());
        struct why why = { "" };
        enum err err = shadow_look(s, &why);
        if (err && !away)
            fprintf(stderr, "peal shadow: %s; trying again\n", why.text);
        else if (!err && away)
            fprintf(stderr, "peal shadow: the database answers again\n");
        away = err != OK;
    }
}

static void take_signals(void)
{
    struct sigaction action = { .sa_handler = on_stop };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static int verdict(const struct shadow_report *r, const struct shadow *s)
{
    if (shadow_report_findings(r) > 0)
        return EXIT_NO;
    return shadow_counts(s)->firings > 0 ? EXIT_DONE : EXIT_NOTHING;
}

static int run(const struct shadow_args *a, const struct shadow_config *config)
{
    struct why why = { "" };
    struct shadow_report *report = shadow_report_new(a->json, config->zone);
    struct shadow *s = shadow_new(config, shadow_report_finding, report);
    take_signals();
    enum err err = shadow_start(s, shadow_report_warning, report, &why);
    int status = err == ERR_INVALID ? EXIT_USAGE : EXIT_FAILED;
    if (err) {
        fprintf(stderr, "peal shadow: %s\n", why.text[0] ? why.text : err_text(err));
    } else {
        begin_text(a, config, s);
        compare(a, s);
        status = verdict(report, s);
        if (!shadow_report_end(report, s, config, clock_wall_ms()))
            status = EXIT_FAILED;
    }
    shadow_free(s);
    shadow_report_free(report);
    return status;
}

int cmd_shadow(int argc, char **argv)
{
    struct shadow_args a = { 0 };
    const struct option_row rows[] = {
        { "--db", &a.db, NULL },       { "--zone", &a.zone, NULL },
        { "--for", &a.length, NULL },  { "--log-zone", &a.log_zone, NULL },
        { "--every", &a.every, NULL }, { "--grace", &a.grace, NULL },
        { "--json", NULL, &a.json },   { "--help", NULL, &a.help },
    };
    int n = options_read("peal shadow", rows, (int)countof(rows), argc, argv);
    if (n < 0)
        return EXIT_USAGE;
    if (a.help) {
        fputs(help_text, stdout);
        return EXIT_DONE;
    }
    if (n > 0 || !a.db)
        return complain(n > 0 ? "it takes options only" : "--db is missing");
    int status = read_durations(&a);
    if (status)
        return status;
    struct why why = { "" };
    struct shadow_config config = { 0 };
    struct zones *zones = zones_new(NULL);
    enum err err = settle(&a, zones, &config, &why);
    if (err) {
        if (why.text[0])
            fprintf(stderr, "peal shadow: %s\n", why.text);
        status = EXIT_USAGE;
    } else {
        status = run(&a, &config);
    }
    zone_unref(config.zone);
    zone_unref(config.log_zone);
    db_url_wipe(&config.url);
    zones_free(zones);
    return status;
}
