/* SPDX-License-Identifier: Apache-2.0 */
/* peal db move: a database of Peal into an empty one on any engine. */
#include "cli/command.h"
#include "cli/db_source.h"
#include "store/move.h"
#include <stdio.h>
#include <unistd.h>

static void progress(void *ctx, enum move_step step, const char *table, int64_t rows)
{
    if (*(const bool *)ctx && rows > 0)
        fprintf(stderr, "\r%s: %s %lld\033[K", table, step == MOVE_COPY ? "written" : "compared",
                (long long)rows);
}

int db_move(const struct db_args *a)
{
    bool terminal = isatty(STDERR_FILENO);
    struct why why = { "" };
    struct store_moved got;
    const struct store_move m = {
        .from = a->from, .to = a->to, .dry = a->dry, .progress = progress, .ctx = &terminal
    };
    enum err err = store_move(&m, &got, &why);
    if (terminal)
        fputs("\r\033[K", stderr);
    if (err)
        return xxl_complain(&why, err);
    if (a->dry) {
        printf("%d tables, %lld rows; nothing was written\n", got.tables, (long long)got.rows);
        return EXIT_DONE;
    }
    if (got.resumed)
        printf("gone on where a move was cut off: %lld rows were left\n", (long long)got.copied);
    printf(
        "%d tables, %lld rows, read in both and found equal (sum %016llx); log ids go on at %lld\n",
        got.tables, (long long)got.rows, (unsigned long long)got.sum, (long long)got.next_log_id);
    puts("start the server with the new --db and the data folder that it had; do not start one on "
         "the old database again");
    return EXIT_DONE;
}
