/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - a program's settings out of one table: flag > environment > file > default.
 *
 * A row is a key such as "lane.queue": `--lane.queue 100` or `--lane.queue=100` on the command
 * line, PEAL_LANE_QUEUE in the environment, `lane.queue=100` in the file that `-c` (`--config`)
 * names. Keys that begin with "peal." or "xxl." have no second prefix in the environment:
 * XXL_JOB_EXECUTOR_PORT, as Java programs have it. The same table prints --help. Unknown keys are
 * refused wherever they are a choice of the user's, with the nearest known one. One thread, at
 * start. */
#ifndef PEAL_BASE_CONFIG_H
#define PEAL_BASE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/err.h"
#include "base/str.h"
#include "base/why.h"

enum config_type {
    CONFIG_TEXT,
    CONFIG_SECRET, /* text that is not to be shown */
    CONFIG_INT,    /* decimal, within min and max */
    CONFIG_MS,   /* a duration: plain milliseconds, or 250ms, 5s, 10m, 2h, 1d; in ms min and max */
    CONFIG_FLAG, /* true or false; on the command line the bare key means true */
};

struct config_row {
    const char *key;
    const char *alias; /* more names in all three places, comma separated; NULL: none */
    enum config_type type;
    const char *fallback; /* default as text; NULL: not set */
    const char *what;     /* placeholder in the help: "DIR" */
    const char *help;     /* one or more lines */
    int64_t min, max;
};

/* Settings of another program that its file may hold, or options (--key=value): known, and of no
 * use here. */
struct config_foreign {
    const char *name; /* a key; with a dot at its end: each key that begins so */
    const char *text; /* why, or what to set instead */
    bool loud;        /* whoever sets it must hear that at start */
};

struct config_table {
    const struct config_row *rows;
    int n;
    const struct config_foreign *foreign; /* the first that fits counts */
    int nforeign;
    char **environment; /* for ${NAME:default} in values of the file (placeholder.h); NULL: they
                         * are taken as they stand */
    bool shared_file; /* the file may hold other programs' keys: only unknown peal.* are refused */
};

enum config_origin { CONFIG_DEFAULT, CONFIG_FILE, CONFIG_ENV, CONFIG_ARGUMENT };

struct config {
    const struct config_table *table;
    char **values;                     /* owned; NULL: not set */
    enum config_origin *origin;        /* of each value */
    char **places;                     /* owned: "FILE:12" of a value of the file; else NULL */
    bool help;                         /* --help or -h was given: nothing else has been looked at */
    int foreign;                       /* lines of files and options that were of another program */
    const struct config_foreign *loud; /* one of them that is loud; NULL: there is none */
};

/* Read and check everything. environ_list: "NAME=value" entries, NULL-terminated (environ).
 * ERR_INVALID, ERR_IO, ERR_TOOBIG: why names key, origin and rule. *ret always needs config_done,
 * and borrows the table. */
MUST_CHECK enum err config_read(const struct config_table *table, int argc, char **argv,
                                char **environ_list, struct config *ret, struct why *why);
void config_done(struct config *c);

/* The same, piece by piece, for a program that sets its values itself: the defaults, then a file,
 * then single values, each of which replaces the one before. config_begin needs config_done. */
void config_begin(const struct config_table *table, struct config *ret);
MUST_CHECK enum err config_load(struct config *c, const char *path, struct why *why);
MUST_CHECK enum err config_set(struct config *c, const char *key, const char *value,
                               struct why *why);
/* The same, as if it stood where the value of the key from comes from. */
MUST_CHECK enum err config_set_like(struct config *c, const char *key, const char *value,
                                    const char *from, struct why *why);

/* The value as text, NULL if not set; the key must be one of the table's. */
const char *config_text(const struct config *c, const char *key);
int64_t config_int(const struct config *c, const char *key);
bool config_flag(const struct config *c, const char *key);
enum config_origin config_origin(const struct config *c, const char *key);
/* Where the value comes from, for people: "default", "FILE:12", "environment", "command line". */
const char *config_place(const struct config *c, const char *key);

/* Must its value not be shown? By its type; and by the end of its name, in case a table has
 * forgotten the type. A URL can carry a token. */
bool config_is_secret(const struct config_row *row);
/* The same of a value, also for what it says: a URL with a user's password, of whatever scheme, or
 * with one among its parameters. */
bool config_hides(const struct config_row *row, const char *value);

/* ---- a file as such, line by line -------------------------------------------------------------
 */

enum config_verdict { CONFIG_USED, CONFIG_FOREIGN, CONFIG_UNKNOWN, CONFIG_BAD, CONFIG_VERDICTS };

struct config_line { /* texts are lent */
    int line;
    struct slice key; /* as it stands there */
    enum config_verdict verdict;
    const char *text; /* used: its own name here; foreign: why; unknown: "" or the nearest name, as
                       * "; did you mean …?"; bad: the rule */
};
typedef void config_line_fn(void *ctx, const struct config_line *l);

/* Look at every line of a file, whatever is wrong with others. ERR_IO, ERR_TOOBIG, ERR_INVALID: the
 * rest cannot be read, why says the line and the rule. */
MUST_CHECK enum err config_examine(const struct config_table *table, const char *path,
                                   config_line_fn *fn, void *ctx, struct why *why);

/* Take a secret out of this process's environment and arguments under all its names, so that no
 * child inherits it, and overwrite it where it stood, so that it is not read in /proc/PID/environ
 * or cmdline. What config_read was given; the value that it read stays. */
void config_forget(const struct config *c, const char *key, int argc, char **argv,
                   char **environ_list);

/* The table for people. */
void config_help(const struct config_table *table, FILE *to);

#endif
