/* SPDX-License-Identifier: Apache-2.0 */
/* peal db migrate: what is said and refused before anything is written, and then the store's work.
 */
#include "base/mem.h"
#include "cli/command.h"
#include "cli/db_source.h"
#include "cli/db_xxl.h"
#include "store/mysql/mysql.h"
#include "store/store.h"
#include "store/xxl_import.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_AGO_S INT64_C(946684800)    /* 2000: a zone's offset before is of no row's concern */
#define LONG_AFTER_S INT64_C(4102444800) /* 2100 */

static int64_t number(struct slice v)
{
    int64_t n = 0;
    return v.p && parse_i64(v, &n) ? n : 0;
}

static void on_number(void *ctx, const struct slice *v)
{
    *(int64_t *)ctx = number(v[0]);
}

static enum err count(struct xxl_source *s, const char *sql, int64_t *ret, struct why *why)
{
    *ret = 0;
    return reader_query(s->reader, sql, on_number, ret, why);
}

static enum err no_others(struct xxl_source *s, struct why *why)
{
    int64_t others = 0;
    bool live = false;
    enum err err = count(s,
                         "SELECT COUNT(*) FROM information_schema.processlist WHERE "
                         "db = DATABASE() AND id <> CONNECTION_ID()",
                         &others, why);
    if (!err && others > 0) {
        why_set(why,
                "%" PRId64
                " other sessions are on this database: stop the Java admins first, or say "
                "--anyway if these are none",
                others);
        return ERR_INVALID;
    }
    if (!err)
        err = xxl_import_live(s->reader, &live, why);
    if (!err && live) {
        why_set(why, "a Java admin works on this database: stop the admins first");
        err = ERR_INVALID;
    }
    return err;
}

static void on_warning(void *ctx, const char *text)
{
    (void)ctx;
    printf("warning: %s\n", text);
}

static enum err say(struct xxl_source *s, const struct db_args *a, struct why *why)
{
    int64_t jobs = 0, rows = 0;
    const struct layout *l = &s->layout;
    enum err err = count(s, "SELECT COUNT(*) FROM xxl_job_info", &jobs, why);
    if (!err)
        err = count(s,
                    "SELECT table_rows FROM information_schema.tables WHERE table_schema = "
                    "DATABASE() AND table_name = 'xxl_job_log'",
                    &rows, why);
    if (err)
        return err;
    printf("XXL-JOB %s; datetimes in %s\n", layout_text(l), zone_name(s->log_zone));
    layout_warnings(l, on_warning, NULL);
    if (a->live)
        puts("Java admins go on scheduling beside Peal");
    if (a->live && !l->registry_unique)
        on_warning(NULL, "Java admins up to 2.4.2 write jobs back as they have read them, so that "
                         "a stop may be undone; 2.5 and later do not");
    if (a->live && !l->due_index && !a->indexes)
        on_warning(NULL, "each scan reads all jobs: --indexes adds an index for it");
    puts(l->ours ? "tables of Peal are there: what is missing of them is added"
                 : "tables of Peal are added; those of XXL-JOB stay as they are");
    printf("%" PRId64 " jobs keep their next scheduled times, about %" PRId64
           " log rows are found by time\n",
           jobs, rows);
    if (a->indexes && !l->due_index)
        puts("index: xxl_job_info (trigger_status, trigger_next_time)");
    if (a->indexes && !l->log_index)
        puts("index: xxl_job_log (job_id)");
    return OK;
}

/* XXL-JOB's lock row keeps apart those that are at the same server. */
static enum err one_server(const struct xxl_source *s, const struct db_args *a, struct why *why)
{
    if (!a->live || !s->layout.galera || s->url.nhosts <= 1)
        return OK;
    why_set(why, "this is a Galera cluster, where schedule_lock excludes nobody at another server: "
                 "name one server in --db, the one that all Java admins use");
    return ERR_INVALID;
}

static struct mysql_zone zone_of(const struct zone *z, bool beside)
{
    struct zone_span span = zone_span_at(z, LONG_AGO_S);
    return (struct mysql_zone){ beside, zone_name(z), span.end_s >= LONG_AFTER_S, span.offset };
}

/* A server that was killed could not do it. */
static enum err give_back(struct xxl_source *s, const char *url, struct why *why)
{
    int64_t parked = 0;
    struct store_options options = { 0 };
    struct store *store = NULL;
    enum err err = count(s,
                         "SELECT COUNT(*) FROM xxl_job_info WHERE trigger_status = 1 AND "
                         "trigger_next_time = 4102444800000",
                         &parked, why);
    if (err || !parked)
        return err;
    err = store_open(url, &options, &store, why);
    store_close(store);
    if (!err)
        puts("what a killed server had taken is given back to XXL-JOB");
    return err;
}

int db_migrate(const struct db_args *a)
{
    struct why why = { "" };
    struct xxl_source s;
    enum err err = xxl_source_open(&s, a->from, a, &why);
    if (!err)
        err = layout_usable(&s.layout, &why);
    if (!err)
        err = say(&s, a, &why);
    if (!err)
        err = one_server(&s, a, &why);
    if (!err && !a->dry && !a->anyway && !a->live)
        err = no_others(&s, &why);
    if (!err && !a->dry) {
        struct mysql_zone zone = zone_of(s.log_zone, a->live);
        err = mysql_adopt(&s.url, &zone, a->indexes, &why);
    }
    if (!err && !a->dry && !a->live)
        err = give_back(&s, a->from, &why);
    if (!err)
        puts(a->dry ? "nothing was written" : "done: start the server with this --db");
    xxl_source_done(&s);
    return err ? xxl_complain(&why, err) : EXIT_DONE;
}
