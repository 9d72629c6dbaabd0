/* SPDX-License-Identifier: Apache-2.0 */
/* Both commands open the source alike: read-only, with its layout and zones; what differs is what
 * they do with it. */
#include "cli/db_source.h"
#include "cli/db_xxl.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cron/rfc3339.h"
#include "cron/schedule.h"
#include "store/store.h"
#include "store/xxl_import.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LISTED_MAX = 20, NEXT_MS = 10000 };
#define HISTORY_MAX 3650

/* ---- check ------------------------------------------------------------------------------------
 */

struct check {
    const struct xxl_source *source;
    int warnings;
    int64_t jobs, running, groups, users, now_ms;
    int64_t refused, other_next; /* jobs that Peal cannot schedule; whose next time differs */
    int64_t unsaid;              /* that are on, and whose next time is 0 or less */
    int last_year;
};

static void on_warning(void *ctx, const char *text)
{
    ((struct check *)ctx)->warnings++;
    printf("warning: %s\n", text);
}

static int64_t number(struct slice v)
{
    int64_t n = 0;
    return v.p && parse_i64(v, &n) ? n : 0;
}

static void on_counts(void *ctx, const struct slice *v)
{
    struct check *c = ctx;
    c->groups = number(v[0]);
    c->users = number(v[1]);
}

static void check_next(struct check *c, const struct slice *v, const struct schedule *schedule)
{
    int64_t theirs_ms = number(v[3]), ours_ms;
    if (schedule->type != SCHEDULE_CRON || theirs_ms <= c->now_ms + NEXT_MS)
        return;
    if (schedule_next(schedule, c->now_ms + NEXT_MS, &ours_ms))
        ours_ms = 0;
    if (ours_ms == theirs_ms || c->other_next++ >= LISTED_MAX)
        return;
    char ours[RFC3339_SIZE] = "never", theirs[RFC3339_SIZE];
    if (ours_ms)
        rfc3339_format(ours_ms, c->source->zone, ours);
    rfc3339_format(theirs_ms, c->source->zone, theirs);
    printf("next: job %.*s would fire at %s, XXL-JOB's next is %s\n", (int)v[0].n, v[0].p, ours,
           theirs);
}

static void check_unsaid(struct check *c, const struct slice *v)
{
    if (number(v[3]) > 0 || c->unsaid++ >= LISTED_MAX)
        return;
    printf("next: job %.*s is on and its trigger_next_time is %.*s: its misfire strategy decides "
           "whether it fires at once, and it goes on from now\n",
           (int)v[0].n, v[0].p, (int)v[3].n, v[3].p);
}

static void on_job(void *ctx, const struct slice *v)
{
    struct check *c = ctx;
    struct why why = { "" };
    struct schedule schedule = { 0 };
    bool running = number(v[4]) == 1;
    c->jobs++;
    c->running += running;
    if (schedule_parse(v[1], v[2].p ? v[2] : slice_of("", 0), c->source->zone, DST_XXL,
                       c->last_year, &schedule, &why)) {
        if (c->refused++ < LISTED_MAX)
            printf("refused: job %.*s: %s\n", (int)v[0].n, v[0].p, why.text);
        return;
    }
    if (running && schedule.type != SCHEDULE_NONE)
        check_unsaid(c, v);
    if (running)
        check_next(c, v, &schedule);
    schedule_done(&schedule);
}

static enum err look(struct check *c, struct why *why)
{
    struct reader *r = c->source->reader;
    enum err err = reader_query(r,
                                "SELECT (SELECT COUNT(*) FROM xxl_job_group), "
                                "(SELECT COUNT(*) FROM xxl_job_user)",
                                on_counts, c, why);
    if (!err)
        err = reader_query(r,
                           "SELECT id, schedule_type, schedule_conf, trigger_next_time, "
                           "trigger_status FROM xxl_job_info ORDER BY id",
                           on_job, c, why);
    return err;
}

static void say_indexes(const struct layout *l)
{
    if (!l->due_index)
        puts("index: xxl_job_info has none on (trigger_status, trigger_next_time); each scan of a "
             "Java admin reads all jobs");
    if (!l->log_index)
        puts("index: xxl_job_log has none on job_id; a job's log reads all rows");
}

int db_check(const struct db_args *a)
{
    struct why why = { "" };
    struct xxl_source s;
    enum err err = xxl_source_open(&s, a->from, a, &why);
    struct check c = { .source = &s, .now_ms = clock_wall_ms() };
    c.last_year = wall_year(c.now_ms, zone_utc()) + 100;
    if (!err) {
        printf("XXL-JOB %s; cron in %s, datetimes in %s\n", layout_text(&s.layout),
               zone_name(s.zone), zone_name(s.log_zone));
        layout_warnings(&s.layout, on_warning, &c);
        say_indexes(&s.layout);
        err = look(&c, &why);
    }
    int status = err ? xxl_complain(&why, err) : EXIT_DONE;
    if (!err) {
        printf("%lld groups, %lld jobs, %lld of them running, %lld users; refused by Peal: %lld; "
               "another next time: %lld; without a next time: %lld\n",
               (long long)c.groups, (long long)c.jobs, (long long)c.running, (long long)c.users,
               (long long)c.refused, (long long)c.other_next, (long long)c.unsaid);
        if (c.warnings || c.refused || c.other_next || c.unsaid)
            status = EXIT_NO;
    }
    xxl_source_done(&s);
    return status;
}

/* ---- import -----------------------------------------------------------------------------------
 */

static void on_progress(void *ctx, const char *what, int64_t rows)
{
    if (*(const bool *)ctx && rows > 0)
        fprintf(stderr, "\r%s: %lld\033[K", what, (long long)rows);
}

static void say_done(const struct db_args *a, const struct xxl_imported *got)
{
    if (got->resumed)
        printf("gone on where an import was cut off: %lld log rows were there\n",
               (long long)got->there);
    for (int i = 0; i < XXL_IMPORT_TABLES; i++)
        printf("%s%lld %s", i ? ", " : "", (long long)got->counts[i].rows, got->counts[i].what);
    if (a->dry)
        puts("; nothing was written");
    else
        printf("; written, read again and found equal (sum %016llx)\n",
               (unsigned long long)got->sum);
}

/* Of what the URL says of the place, not of the way to it: the user and the options may change. */
static uint64_t place_of(const struct db_url *u)
{
    uint64_t place = hash_text(slice_text(u->database));
    if (u->socket[0])
        return hash_u64(place ^ hash_text(slice_text(u->socket)));
    for (int i = 0; i < u->nhosts; i++)
        place = hash_u64(place ^ hash_text(slice_text(u->hosts[i].name)) ^ u->hosts[i].port);
    return place;
}

/* Jobs that run in both would fire twice. */
static enum err may_run(const struct db_args *a, struct xxl_source *s, struct why *why)
{
    bool live = false;
    if (a->stopped || a->live || a->dry)
        return OK;
    enum err err = xxl_import_live(s->reader, &live, why);
    if (err || !live)
        return err;
    why_set(why, "a Java admin works on this database, and its running jobs would fire in Peal as "
                 "well: stop the admins first, or import the jobs --stopped");
    return ERR_INVALID;
}

static enum err import_into(const struct db_args *a, struct xxl_source *s, struct xxl_imported *got,
                            struct why *why)
{
    int days = 0;
    if (a->history &&
        (!parse_int(slice_text(a->history), &days) || days < 1 || days > HISTORY_MAX)) {
        why_set(why, "--history is a number of days, 1-" TEXT_OF(HISTORY_MAX));
        return ERR_INVALID;
    }
    int64_t since_ms = days ? clock_wall_ms() - days * INT64_C(86400000) : 0;
    const struct xxl_import m = { .from = s->reader,
                                  .layout = &s->layout,
                                  .zone = s->log_zone,
                                  .place = place_of(&s->url),
                                  .days = days,
                                  .since_ms = since_ms,
                                  .stopped = a->stopped,
                                  .dry = a->dry };
    const struct store_options options = { .bulk = STORE_BULK_WRITE };
    struct store *to = NULL;
    bool terminal = isatty(STDERR_FILENO);
    enum err err = store_open(a->to, &options, &to, why);
    if (!err)
        err = reader_snapshot(s->reader, why);
    if (!err)
        err = xxl_import_run(&m, to, on_progress, &terminal, got, why);
    if (terminal)
        fputs("\r\033[K", stderr);
    store_close(to);
    return err;
}

int db_import(const struct db_args *a)
{
    struct why why = { "" };
    struct xxl_source s;
    struct xxl_imported got;
    enum err err = xxl_source_open(&s, a->from, a, &why);
    if (!err)
        err = may_run(a, &s, &why);
    if (!err)
        err = import_into(a, &s, &got, &why);
    int status = err ? xxl_complain(&why, err) : EXIT_DONE;
    if (!err) {
        say_done(a, &got);
        if (strcmp(zone_name(s.zone), "UTC") != 0)
            printf("start the server with --zone %s, in which the cron expressions are written\n",
                   zone_name(s.zone));
    }
    xxl_source_done(&s);
    return status;
}
