/* SPDX-License-Identifier: Apache-2.0 */
/* peal db: work on a database while no server uses it. */
#include "base/mem.h"
#include "cli/bar.h"
#include "cli/command.h"
#include "store/store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] =
    "usage: peal db compact [--data DIR | --db sqlite:FILE]\n"
    "\n"
    "compact writes the database anew without the room that deleted rows have left, and puts the\n"
    "new file in the old one's place. The server must be stopped. The disk must have room for the\n"
    "new file beside the old one. Whatever stops this before the end leaves the old file.\n"
    "\n"
    "  --data DIR        the server's data folder (peal-data); the file is peal.db in it\n"
    "  --db sqlite:FILE  the file, if it is elsewhere\n";

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

int cmd_db(int argc, char **argv)
{
    const char *data = "peal-data", *db = NULL;
    bool help = false;
    const struct option_row rows[] = { { "--data", &data, NULL },
                                       { "--db", &db, NULL },
                                       { "--help", NULL, &help } };
    int n = options_read("peal db", rows, (int)countof(rows), argc, argv);
    if (n < 0)
        return EXIT_USAGE;
    if (help || n == 0) {
        fputs(help_text, help ? stdout : stderr);
        return help ? EXIT_DONE : EXIT_USAGE;
    }
    if (n != 1 || strcmp(argv[1], "compact") != 0)
        return complain("there is only compact");
    char *made = mem_join("sqlite:", data), *url = mem_join(made, "/peal.db");
    int status = compact(db ? db : url);
    free(made);
    free(url);
    return status;
}
