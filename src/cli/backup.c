/* SPDX-License-Identifier: Apache-2.0 */
/* peal backup and peal restore: a database copied while its server runs, and put back. */
#include "store/backup.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/bar.h"
#include "cli/command.h"
#include "server/journal_look.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEEP_MAX 100000
#define NICE 10 /* the server comes first */

static const char backup_help[] =
    "usage: peal backup OUT [--keep N] [--data DIR | --db sqlite:FILE]\n"
    "\n"
    "Copies the database as it is now, whether its server runs or not; a running server is not\n"
    "held up. The copy is checked before it gets its name. Beside it, OUT.sha256 has its SHA-256\n"
    "in the format of sha256sum. It holds passwords' hashes and parameters: its rights are 0600.\n"
    "Run it as the server's user.\n"
    "\n"
    "  OUT               a file that does not exist, or a folder: then the file is named by the\n"
    "                    time, peal-20261122T030000.000Z.db\n"
    "  --keep N          of the backups so named in the folder, remove all but the newest N, once\n"
    "                    the new one is checked\n"
    "  --data DIR        the server's data folder (peal-data); the file is peal.db in it\n"
    "  --db sqlite:FILE  the file, if it is elsewhere\n"
    "\n"
    "Exit status: 0 done; 1 the backup is made, but its rows do not fit together, or older ones\n"
    "could not be removed (standard error says what); 2 the arguments are wrong; 3 failed, and\n"
    "there is no new backup.\n";

static const char restore_help[] =
    "usage: peal restore FILE [--data DIR | --db sqlite:FILE]\n"
    "\n"
    "Puts a backup in the database's place. The server must be stopped. The file is checked (by\n"
    "FILE.sha256 if that is there, and by SQLite) and copied first; whatever stops this before "
    "the\n"
    "end leaves the old database. That is kept in a folder replaced-TIME beside the new one.\n"
    "\n"
    "What happened after the backup is not known to it: see docs/operations.md, Backup and "
    "restore.\n"
    "\n"
    "  --data DIR        the server's data folder (peal-data); the file is peal.db in it\n"
    "  --db sqlite:FILE  the file, if it is elsewhere\n"
    "\n"
    "Exit status: 0 done; 1 done, but the backup's rows do not fit together; 2 the arguments are\n"
    "wrong; 3 failed, and the old database is in its place.\n";

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

/* What is half done is removed. */
static void catch_signals(void)
{
    struct sigaction stop = { .sa_handler = on_signal };
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGHUP, &stop, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is a full disk, not an end */
}

static bool step(void *ctx, int64_t done, int64_t all)
{
    bar_show(ctx, done, all);
    return !stopped;
}

static int failed(const char *command, enum err err, const struct why *why)
{
    const char *text = err == ERR_STOPPING ? "stopped" : why->text[0] ? why->text : err_text(err);
    fprintf(stderr, "peal %s: %s\n", command, text);
    return EXIT_FAILED;
}

static const char *time_text(int64_t ms, char to[32])
{
    struct tm tm;
    time_t s = (time_t)(ms / 1000);
    if (!gmtime_r(&s, &tm) || !strftime(to, 32, "%Y-%m-%d %H:%M:%S UTC", &tm))
        to[0] = '\0';
    return to;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Where the database is: owned text. */
static char *url_of(const char *data, const char *db)
{
    char *folder = mem_join("sqlite:", data), *made = mem_join(folder, "/peal.db");
    free(folder);
    if (!db)
        return made;
    free(made);
    return mem_dup(db);
}

/* ---- backup ---------------------------------------------------------------------------------- */

static void tell_of_journals(const char *data)
{
    unsigned n = journal_look(data);
    if (n)
        printf(
            "  %u results stand in %s/callbacks.journal* and may not be in it: a running server\n"
            "  writes them to the database within a second; after a kill, start it once before\n",
            n, data);
}

static int make(const char *url, const char *out, int keep, const char *data)
{
    struct bar bar = bar_new();
    struct store_backup *got = mem_new(sizeof(*got));
    struct why why = { "" };
    char when[32];
    enum err err = store_backup(url, out, step, &bar, got, &why);
    bar_end(&bar, !err);
    int status = err ? failed("backup", err, &why) : EXIT_DONE;
    if (!err) {
        printf("%s, %.1f MiB, SHA-256 %s\n"
               "  has all that was committed until %s; log ids to %lld; %lld runs were open\n",
               got->path, (double)got->bytes / (1 << 20), got->sha256, time_text(got->at_ms, when),
               (long long)got->last_id, (long long)got->open);
        if (data)
            tell_of_journals(data);
        if (got->odd.text[0]) {
            fprintf(stderr, "peal backup: the backup is made, but %s\n", got->odd.text);
            status = EXIT_NO;
        }
        if (keep && store_backup_keep(out, keep, got->path, &why)) {
            fprintf(stderr, "peal backup: the backup is made, but %s\n", why.text);
            status = EXIT_NO;
        }
    }
    free(got);
    return status;
}

static int complain(const char *command, const char *problem)
{
    fprintf(stderr, "peal %s: %s; see peal %s --help\n", command, problem, command);
    return EXIT_USAGE;
}

int cmd_backup(int argc, char **argv)
{
    const char *data = "peal-data", *db = NULL, *keep_text = NULL;
    bool help = false;
    int keep = 0;
    const struct option_row rows[] = { { "--data", &data, NULL },
                                       { "--db", &db, NULL },
                                       { "--keep", &keep_text, NULL },
                                       { "--help", NULL, &help } };
    int n = options_read("peal backup", rows, (int)countof(rows), argc, argv);
    if (n < 0)
        return EXIT_USAGE;
    if (help || n == 0) {
        fputs(backup_help, help ? stdout : stderr);
        return help ? EXIT_DONE : EXIT_USAGE;
    }
    if (n != 1)
        return complain("backup", "one file or folder is to be named");
    if (keep_text && (!parse_int(slice_text(keep_text), &keep) || keep < 1 || keep > KEEP_MAX))
        return complain("backup", "--keep must be a whole number from 1 to " TEXT_OF(KEEP_MAX));
    if (keep && !is_folder(argv[1]))
        return complain("backup", "--keep needs a folder that exists as OUT");
    catch_signals();
    (void)!nice(NICE);
    char *url = url_of(data, db);
    int status = make(url, argv[1], keep, db ? NULL : data);
    free(url);
    return status;
}

/* ---- restore --------------------------------------------------------------------------------- */

/* Its results are of the database that was replaced. */
static void move_journals(const char *data, const char *kept)
{
    static const char *const names[] = { "callbacks.journal", "callbacks.journal.2" };
    char from[PATH_MAX], to[PATH_MAX + 32];
    for (size_t i = 0; i < countof(names); i++) {
        snprintf(from, sizeof(from), "%s/%s", data, names[i]);
        snprintf(to, sizeof(to), "%s/%s", kept, names[i]);
        if (rename(from, to) && errno != ENOENT)
            fprintf(stderr, "peal restore: cannot move %s to %s: %s\n", from, to, strerror(errno));
    }
}

static void tell(const char *from, const struct store_restored *got)
{
    char when[32];
    printf("restored %s%s\n"
           "  state of about %s; log ids go on behind %lld\n",
           from, got->summed ? ", whose SHA-256 is right" : "", time_text(got->until_ms, when),
           (long long)got->last_id);
    if (!got->summed)
        printf("  there is no %s.sha256: only SQLite has checked the file\n", from);
    printf(
        "  %lld runs were open: the server reconciles them with their executors\n"
        "  runs that began since are not known. Their scheduled times count as missed: of %lld\n"
        "  started jobs, %lld fire for them again (FIRE_ONCE_NOW, FIRE_ALL), the others skip them\n"
        "  jobs, users, passwords and tokens are as they were then: what was revoked since is "
        "valid\n",
        (long long)got->open, (long long)got->jobs, (long long)got->jobs_again);
    if (got->kept[0])
        printf("  the database that was replaced is in %s\n", got->kept);
}

static int restore(const char *url, const char *from, const char *data)
{
    struct bar bar = bar_new();
    struct store_restored *got = mem_new(sizeof(*got));
    struct why why = { "" };
    enum err err = store_restore(url, from, step, &bar, got, &why);
    bar_end(&bar, !err);
    int status = err ? failed("restore", err, &why) : EXIT_DONE;
    if (!err && got->kept[0])
        move_journals(data, got->kept);
    if (!err)
        tell(from, got);
    if (!err && got->odd.text[0]) {
        fprintf(stderr, "peal restore: it is done, but %s\n", got->odd.text);
        status = EXIT_NO;
    }
    free(got);
    return status;
}

int cmd_restore(int argc, char **argv)
{
    const char *data = "peal-data", *db = NULL;
    bool help = false;
    const struct option_row rows[] = { { "--data", &data, NULL },
                                       { "--db", &db, NULL },
                                       { "--help", NULL, &help } };
    int n = options_read("peal restore", rows, (int)countof(rows), argc, argv);
    if (n < 0)
        return EXIT_USAGE;
    if (help || n == 0) {
        fputs(restore_help, help ? stdout : stderr);
        return help ? EXIT_DONE : EXIT_USAGE;
    }
    if (n != 1)
        return complain("restore", "one backup is to be named");
    catch_signals();
    char *url = url_of(data, db);
    int status = restore(url, argv[1], data);
    free(url);
    return status;
}
