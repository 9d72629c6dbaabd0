/* SPDX-License-Identifier: Apache-2.0 */
/* bar.h - how far a long work is, on standard error, if that is a terminal. One thread. */
#ifndef PEAL_CLI_BAR_H
#define PEAL_CLI_BAR_H

#include <stdbool.h>
#include <stdint.h>

struct bar {
    bool on; /* a terminal sees it */
    int64_t next_ms;
};

struct bar bar_new(void);
/* done of all, a few times a second; all 0: "checking". */
void bar_show(struct bar *bar, int64_t done, int64_t all);
void bar_end(struct bar *bar, bool good);

#endif
