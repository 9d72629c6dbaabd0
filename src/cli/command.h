/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - the subcommands of peal: one row of main.c's table each.
 *
 * A command gets its own name as argv[0] and what followed it. It answers `--help` itself, prints
 * results to standard output and complaints to standard error, and returns the exit status. */
#ifndef PEAL_CLI_COMMAND_H
#define PEAL_CLI_COMMAND_H

#include <stdbool.h>

enum {
    EXIT_DONE = 0,
    EXIT_NO = 1,    /* it worked, and the answer is no (a schedule that never fires) */
    EXIT_USAGE = 2, /* the arguments are wrong */
    EXIT_FAILED = 3 /* input or output failed, and the like */
};

struct command {
    const char *name;
    const char *line; /* what it does, in at most 60 characters */
    int (*run)(int argc, char **argv);
};

int cmd_backup(int argc, char **argv);
int cmd_config(int argc, char **argv);
int cmd_cron(int argc, char **argv);
int cmd_ctl(int argc, char **argv);
int cmd_db(int argc, char **argv);
int cmd_demo(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_executor(int argc, char **argv);
int cmd_health(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_restore(int argc, char **argv);
int cmd_server(int argc, char **argv);
int cmd_shadow(int argc, char **argv);

/* Options of the form `--name value`, `--name=value` and plain flags, in any order with the other
 * arguments, which are moved to the front of argv and counted. `--` ends the options. */
struct option_row {
    const char *name;   /* with its dashes */
    const char **value; /* where the value goes; NULL for a flag */
    bool *flag;         /* set when it was given; may be NULL */
};

/* Returns the number of other arguments (now argv[1..n]), or -1 after a complaint that names the
 * option and points to `--help`. what: the words before, such as "peal cron next". */
int options_read(const char *what, const struct option_row *rows, int nrows, int argc, char **argv);
/* Take "NAME VALUE" or "NAME=VALUE" out of argv, for a command that hands the others on. False: the
 * value is missing. */
bool option_take(int *argc, char **argv, const char *option, const char **ret);

#endif
