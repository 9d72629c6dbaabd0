/* SPDX-License-Identifier: Apache-2.0 */
/* peal db: work on a database while no server uses it, and on that of an XXL-JOB. */
#include "base/mem.h"
#include "cli/bar.h"
#include "cli/command.h"
#include "cli/db_xxl.h"
#include "store/store.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help_text[] =
    "usage: peal db compact [--data DIR | --db sqlite:FILE]\n"
    "       peal db check --db mysql://USER@HOST/DATABASE [--zone NAME] [--log-zone NAME]\n"
    "       peal db check --selftest --db URL [--json]\n"
    "       peal db migrate --db mysql://USER@HOST/DATABASE [--indexes] [--dry-run] [--anyway]\n"
    "                       [--beside] [--zone NAME] [--log-zone NAME]\n"
    "       peal db import --from mysql://USER@HOST/DATABASE [--data DIR | --db URL] [--stopped]\n"
    "                      [--history DAYS] [--dry-run] [--zone NAME] [--log-zone NAME]\n"
    "       peal db move --from URL [--data DIR | --db URL] [--dry-run]\n"
    "\n"
    "compact writes the database anew without the room that deleted rows have left, and puts the\n"
    "new file in the old one's place. The server must be stopped. The disk must have room for the\n"
    "new file beside the old one. Whatever stops this before the end leaves the old file.\n"
    "\n"
    "check reads the database of an XXL-JOB (2.3 to 3.5) and says which release's tables it has,\n"
    "what is wrong with them, which jobs Peal cannot schedule, and which have another next time. "
    "It\n"
    "writes nothing. Exit status: 0 all is well, 1 something was said, 2 no database of XXL-JOB.\n"
    "\n"
    "check --selftest tries on any database server what Peal needs of one: rights, transactions,\n"
    "locks, ids, times, texts, a session that is ended. It makes a table peal_selftest_rows, and\n"
    "drops it; no other table is touched. One line each, with what mends a failure. Exit status: "
    "0\n"
    "all is well, 1 a check has failed, 2 no URL of a server.\n"
    "\n"
    "migrate adds Peal's tables to the database of an XXL-JOB (2.3 to 3.5), in place: a server "
    "opens\n"
    "it then, and XXL-JOB may take it back after each clean stop. Stop the Java admins first: a "
    "live\n"
    "one, or another session on the database, is refused. Called again it goes on where it was "
    "cut\n"
    "off, and after a kill of the server it gives the jobs back to XXL-JOB. With --beside the "
    "Java\n"
    "admins need not stop, and go on scheduling while a server of Peal works on the database.\n"
    "\n"
    "import copies groups, jobs, scripts, users and registrations of an XXL-JOB into an empty\n"
    "database of Peal, with their ids, and compares what it has written; the source is only read.\n"
    "All of it or nothing is there afterwards; an import with --history that was cut off goes on\n"
    "when it is called again, and no server starts on the database before. Jobs that run there "
    "run\n"
    "in Peal as soon as its\n"
    "server starts: stop the Java admins first (a live one is refused), or use --stopped.\n"
    "\n"
    "move copies a database of Peal into an empty one, on the same or another engine, reads both "
    "again\n"
    "and compares them. Stop its server first. Called again it goes on where it was cut off, and "
    "no\n"
    "server starts on the new database before that. Then start the server with the new --db and "
    "the\n"
    "data folder that it had.\n"
    "\n"
    "  --data DIR        the server's data folder (peal-data); the file is peal.db in it\n"
    "  --db sqlite:FILE  the file, if it is elsewhere\n"
    "  --from URL        move: of Peal's database, also sqlite:FILE. import: of XXL-JOB's,\n"
    "                    also as its jdbc:mysql: URL with user=NAME; the\n"
    "                    password in it, in PEAL_DB_PASSWORD, or by password-file=FILE\n"
    "  --zone NAME       of cron expressions: the Java admins' own (this machine's)\n"
    "  --log-zone NAME   of datetimes: serverTimezone of their JDBC URL (--zone's)\n"
    "  --stopped         all jobs come stopped\n"
    "  --beside          import: jobs come as they are, although a Java admin may be at work;\n"
    "                    migrate: Java admins go on scheduling, each time is fired by one of them\n"
    "  --history DAYS    the log of that many days, too; it goes first, the rest when it is there\n"
    "  --indexes         add indexes that XXL-JOB has not: jobs by next time, the log by job\n"
    "  --anyway          the other sessions on the database are no Java admins\n"
    "  --json            check --selftest: one JSON document in place of the lines\n"
    "  --dry-run         import, move: do all of it and undo it; migrate: say what would be done\n";

static int complain(const char *problem)
{
    fprintf(stderr, "peal db: %s; see peal db --help\n", problem);
    return EXIT_USAGE;
}

static void progress(void *ctx, int64_t done, int64_t all)
{
    bar_show(ctx, done, all > 0 ? all : 1);
}

static int compact(const char *url)
{
    struct bar bar = bar_new();
    struct store_compacted got = { 0 };
    struct why why = { "" };
    enum err err = store_compact(url, progress, &bar, &got, &why);
    bar_end(&bar, !err);
    if (err) {
        fprintf(stderr, "peal db: %s\n", why.text[0] ? why.text : err_text(err));
        return EXIT_FAILED;
    }
    printf("%.1f MiB, was %.1f MiB\n", (double)got.after / (1 << 20),
           (double)got.before / (1 << 20));
    return EXIT_DONE;
}

/* The file of a data folder, which is made if it is not there, as a URL; owned. NULL after a
 * complaint. */
static char *url_of(const char *data, bool make)
{
    if (make && mkdir(data, 0750) < 0 && errno != EEXIST) {
        fprintf(stderr, "peal db: %s: %s\n", data, strerror(errno));
        return NULL;
    }
    char *made = mem_join("sqlite:", data), *url = mem_join(made, "/peal.db");
    free(made);
    return url;
}

static int run(const char *what, struct db_args *a, const char *data)
{
    bool import = strcmp(what, "import") == 0, move = strcmp(what, "move") == 0;
    if (strcmp(what, "check") == 0) {
        a->from = a->to;
        if (!a->from)
            return complain("check wants --db mysql://USER@HOST/DATABASE");
        return a->selftest ? db_selftest(a) : db_check(a);
    }
    if (strcmp(what, "migrate") == 0) {
        a->from = a->to;
        return a->from ? db_migrate(a) : complain("migrate wants --db mysql://USER@HOST/DATABASE");
    }
    if (!import && !move && strcmp(what, "compact") != 0)
        return complain("there are compact, check, migrate, import and move");
    if (move && !a->from)
        return complain("move wants --from URL, of the database that there is");
    if (import && !a->from)
        return complain("import wants --from mysql://USER@HOST/DATABASE");
    char *made = a->to ? NULL : url_of(data, import || move);
    if (!a->to && !made)
        return EXIT_FAILED;
    a->to = a->to ? a->to : made;
    int status = import ? db_import(a) : move ? db_move(a) : compact(a->to);
    free(made);
    return status;
}

int cmd_db(int argc, char **argv)
{
    struct db_args a = { 0 };
    const char *data = "peal-data";
    bool help = false;
    const struct option_row rows[] = {
        { "--data", &data, NULL },           { "--db", &a.to, NULL },
        { "--from", &a.from, NULL },         { "--zone", &a.zone, NULL },
        { "--log-zone", &a.log_zone, NULL }, { "--stopped", NULL, &a.stopped },
        { "--history", &a.history, NULL },   { "--beside", NULL, &a.live },
        { "--indexes", NULL, &a.indexes },   { "--anyway", NULL, &a.anyway },
        { "--dry-run", NULL, &a.dry },       { "--selftest", NULL, &a.selftest },
        { "--json", NULL, &a.json },         { "--help", NULL, &help },
    };
    int n = options_read("peal db", rows, (int)countof(rows), argc, argv);
    if (n < 0)
        return EXIT_USAGE;
    if (help || n == 0) {
        fputs(help_text, help ? stdout : stderr);
        return help ? EXIT_DONE : EXIT_USAGE;
    }
    if (n != 1)
        return complain("one of compact, check, migrate, import and move is wanted");
    return run(argv[1], &a, data);
}
