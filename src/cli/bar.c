/* SPDX-License-Identifier: Apache-2.0 */
/* One line, drawn anew from its beginning; a file or a pipe gets nothing. */
#include "cli/bar.h"
#include "base/clock.h"
#include <stdio.h>
#include <unistd.h>

#define WIDTH 40
#define EVERY_MS 200

struct bar bar_new(void)
{
    return (struct bar){ .on = isatty(STDERR_FILENO) };
}

static void draw(int64_t done, int64_t all)
{
    int part = all > 0 ? (int)(done * WIDTH / all) : WIDTH;
    fprintf(stderr, "\r[%.*s%*s] %3d %%", part, "########################################",
            WIDTH - part, "", all > 0 ? (int)(done * 100 / all) : 100);
    if (all == 0)
        fputs(", checking", stderr);
    fflush(stderr);
}

void bar_show(struct bar *bar, int64_t done, int64_t all)
{
    int64_t now_ms = clock_boot_ms();
    if (!bar->on || now_ms < bar->next_ms)
        return;
    draw(done, all);
    bar->next_ms = now_ms + EVERY_MS;
}

void bar_end(struct bar *bar, bool good)
{
    if (bar->on && good)
        draw(1, 1);
    if (bar->on)
        fputs("          \n", stderr); /* over ", checking" */
}
