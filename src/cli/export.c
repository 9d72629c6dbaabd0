/* SPDX-License-Identifier: Apache-2.0 */
/* peal export: what is configured in a database, as a file, without its server. The same bytes as
 * peal ctl export has from a server that runs. */
#include "api/export.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/command.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)256 << 20)

static const char help_text[] =
    "usage: peal export [--include LISTS] [--group APPS] [--data DIR | --db sqlite:FILE]\n"
    "\n"
    "Prints what is configured in a database as JSON, with names in place of ids, in an order "
    "that\n"
    "only names decide. It changes nothing, needs no server, and reads backups as well. No secret\n"
    "is in it. peal ctl export prints the same of a server that runs, and peal ctl apply takes it\n"
    "(silences stay behind).\n"
    "\n"
    "  --include LISTS   of groups, jobs, users, channels, rules, silences, comma separated; all\n"
    "                    of them: all (groups,jobs)\n"
    "  --group APPS      only these groups, by app name, and what is about them\n"
    "  --data DIR        the server's data folder (peal-data); the file is peal.db in it\n"
    "  --db sqlite:FILE  the file, if it is elsewhere, or a backup\n"
    "\n"
    "Exit status: 0 done; 1 two things have one name; 2 the arguments are wrong; 3 failed.\n";

static int complain(const char *text, int status)
{
    fprintf(stderr, "peal export: %s%s\n", text,
            status == EXIT_USAGE ? "; see peal export --help" : "");
    return status;
}

static bool lists_of(const char *words, unsigned *ret)
{
    struct slice rest = slice_text(words), one;
    if (strcmp(words, "all") == 0) {
        *ret = (1u << EXPORT_LISTS) - 1;
        return true;
    }
    *ret = 0;
    while (slice_item(&rest, &one)) {
        int i = 0;
        while (i < EXPORT_LISTS && !slice_eq(one, export_lists[i]))
            i++;
        if (i == EXPORT_LISTS)
            return false;
        *ret |= 1u << i;
    }
    return *ret != 0;
}

static int print(const struct buf *b)
{
    json_t *doc = json_loadb(b->data, b->len, 0, NULL);
    bool good = doc && json_dumpf(doc, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0 &&
                putchar('\n') != EOF && fflush(stdout) == 0;
    json_decref(doc);
    return good ? EXIT_DONE : complain("standard output cannot be written", EXIT_FAILED);
}

static int export_from(const char *url, const struct export_what *what)
{
    const struct store_options options = { .read_only = true };
    struct buf b = BUF_INIT(FILE_MAX);
    struct store *db = NULL;
    struct why why = { "" };
    enum err err = store_open(url, &options, &db, &why);
    if (!err)
        err = export_write(db, what, &b, &why);
    store_close(db);
    int status = err ? complain(why.text[0] ? why.text : err_text(err),
                                err == ERR_EXISTS ? EXIT_NO : EXIT_FAILED)
                     : print(&b);
    buf_done(&b);
    return status;
}

int cmd_export(int argc, char **argv)
{
    const char *data = "peal-data", *db = NULL, *include = NULL;
    struct export_what what = { .lists = EXPORT_DEFAULT, .now_ms = clock_wall_ms() };
    bool help = false;
    const struct option_row rows[] = { { "--data", &data, NULL },
                                       { "--db", &db, NULL },
                                       { "--include", &include, NULL },
                                       { "--group", &what.apps, NULL },
                                       { "--help", NULL, &help } };
    int n = options_read("peal export", rows, (int)countof(rows), argc, argv);
    if (n < 0)
        return EXIT_USAGE;
    if (help) {
        fputs(help_text, stdout);
        return EXIT_DONE;
    }
    if (n)
        return complain("there is more than options", EXIT_USAGE);
    if (include && !lists_of(include, &what.lists))
        return complain("--include is some of groups, jobs, users, channels, rules, silences, or "
                        "all",
                        EXIT_USAGE);
    char *made = mem_join("sqlite:", data), *url = mem_join(made, "/peal.db");
    int status = export_from(db ? db : url, &what);
    free(made);
    free(url);
    return status;
}
