/* SPDX-License-Identifier: Apache-2.0 */
/* ctl.h - `peal ctl`: a verb is a row of one table, which the help, the manual page and the
 * completion are made of.
 *
 * A verb asks a center's /api/v1 and prints: data to standard output, messages to standard error.
 * What a center answers is input like any other: its size is bounded, and control characters do not
 * reach a terminal. One thread; the process ends behind one verb. Private to src/cli/ctl. */
#ifndef PEAL_CLI_CTL_CTL_H
#define PEAL_CLI_CTL_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <jansson.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/why.h"

enum ctl_exit { /* docs/ctl.md */
                CTL_DONE = 0,
                CTL_FAILED = 1, /* refused, or a run did not succeed */
                CTL_USAGE = 2,
                CTL_NOT_FOUND = 3,
                CTL_NOT_PERMITTED = 4,
                CTL_CONFLICT = 5,
                CTL_UNREACHABLE = 6,
                CTL_TIMED_OUT = 124
};

enum {
    CTL_OPTIONS_MAX = 24, /* of a verb, the ones of all verbs included */
    CTL_REPEAT_MAX = 64,  /* values of an option that may be repeated */
    CTL_ITEMS_MAX = 10000 /* rows that a list prints */
};

/* What a word is, for the completion. */
enum ctl_word { CTL_WORD_ANY, CTL_WORD_JOB, CTL_WORD_CHANNEL, CTL_WORD_FILE, CTL_WORD_NONE };

struct ctl_option {
    const char *name;    /* with its dashes */
    const char *brief;   /* "-o", or NULL */
    const char *value;   /* placeholder; NULL: a flag */
    const char *choices; /* separated by blanks; NULL: any */
    const char *help;
    enum ctl_word word;
    bool repeats;
};

struct ctl;

struct ctl_verb {
    const char *words;    /* "job list" */
    const char *args;     /* "JOB...", "" */
    const char *line;     /* in at most 60 characters */
    const char *text;     /* more, or NULL: lines */
    const char *examples; /* lines that begin with "peal ctl", or NULL */
    const struct ctl_option *options;
    int noptions;
    int least, most; /* arguments; most -1: as many as there are */
    enum ctl_word word;
    bool alone; /* needs no center: neither address nor token are looked for */
    enum ctl_exit (*run)(struct ctl *c);
};

struct ctl_table {
    const struct ctl_verb *verbs;
    int n;
    const struct ctl_option *common; /* of every verb */
    int ncommon;
};

extern const struct ctl_table ctl_table;

enum ctl_output { CTL_TABLE, CTL_JSON, CTL_NAME };

struct ctl_values { /* of one option; borrowed from argv */
    const char *items[CTL_REPEAT_MAX];
    int n;
};

struct ctl_http; /* http.h */
struct ctl_ask;
struct ctl_answer;

struct ctl {
    const char *program; /* before the verb's words in messages; NULL: "peal ctl" */
    /* Answers in place of a center that listens; body: JSON. NULL: over HTTP. */
    void (*local)(void *arg, const struct ctl_ask *ask, const char *body, struct ctl_answer *ret);
    void *local_arg;
    const struct ctl_table *table;
    const struct ctl_verb *verb;
    const struct ctl_option *options[CTL_OPTIONS_MAX];
    struct ctl_values values[CTL_OPTIONS_MAX];
    int noptions;
    char **args;
    int nargs;
    enum ctl_output output;
    int64_t deadline_ms; /* on the boot clock; 0: none */
    struct ctl_http *http;
    char *url, *token, *ca; /* owned; NULL: none */
};

/* ---- the command line (args.c) --------------------------------------------------------------- */

/* The option's last value; NULL: it was not given. The name must be one of the verb's. */
const char *ctl_option(const struct ctl *c, const char *name);
const struct ctl_values *ctl_options(const struct ctl *c, const char *name);
bool ctl_flag(const struct ctl *c, const char *name);
/* CTL_USAGE behind a complaint. argv: what stands behind the verb's words. */
enum ctl_exit ctl_args(struct ctl *c, int argc, char **argv);
/* How many words of argv are options of every command in front of the verb, with their values; it
 * may be one more than argv has. -1 - N: word N is no such option. */
int ctl_options_in_front(const struct ctl_table *t, int argc, char **argv);
/* "peal ctl VERB: …" on standard error; the status as it was given. */
enum ctl_exit ctl_say(const struct ctl *c, enum ctl_exit status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A number of the option, within min and max; false behind a complaint. Not given: *ret stays. */
bool ctl_number(const struct ctl *c, const char *name, int64_t min, int64_t max, int64_t *ret);
/* A duration: 90, 90s, 5m, 2h, 1d; ms. False: it is none. */
bool ctl_duration(const char *text, int64_t *ret_ms);

/* A yes of the person at the terminal, or --yes. False behind a complaint. */
bool ctl_confirm(const struct ctl *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- files (files.c) ------------------------------------------------------------------------- */

enum { CTL_FILE_MAX = 16 << 20 };

/* A file, or standard input for "-", of at most max bytes. False behind a complaint that names what
 * it is for. */
bool ctl_read(const struct ctl *c, const char *what, const char *path, size_t max, struct buf *ret);
/* The same, and it is a JSON object. NULL behind a complaint; else owned. */
json_t *ctl_read_object(const struct ctl *c, const char *path);
/* A secret: its first line, owned; NULL behind a complaint. */
char *ctl_read_secret(const struct ctl *c, const char *what, const char *path);

/* ---- verbs ----------------------------------------------------------------------------------- */

enum ctl_exit ctl_login(struct ctl *c);
enum ctl_exit ctl_logout(struct ctl *c);
enum ctl_exit ctl_job_list(struct ctl *c);
enum ctl_exit ctl_job_get(struct ctl *c);
enum ctl_exit ctl_job_add(struct ctl *c);
enum ctl_exit ctl_job_edit(struct ctl *c);
enum ctl_exit ctl_job_start(struct ctl *c);
enum ctl_exit ctl_job_stop(struct ctl *c);
enum ctl_exit ctl_job_trigger(struct ctl *c);
enum ctl_exit ctl_run_list(struct ctl *c);
enum ctl_exit ctl_run_get(struct ctl *c);
enum ctl_exit ctl_run_kill(struct ctl *c);
enum ctl_exit ctl_logs(struct ctl *c);
enum ctl_exit ctl_executor_list(struct ctl *c);
enum ctl_exit ctl_node_list(struct ctl *c);
enum ctl_exit ctl_node_drain(struct ctl *c);
enum ctl_exit ctl_node_undrain(struct ctl *c);
enum ctl_exit ctl_alarm_list(struct ctl *c);
enum ctl_exit ctl_alarm_test(struct ctl *c);
enum ctl_exit ctl_audit(struct ctl *c);
enum ctl_exit ctl_export(struct ctl *c);
enum ctl_exit ctl_apply(struct ctl *c);
/* With the files at path. (apply.c) */
enum ctl_exit ctl_apply_files(struct ctl *c, const char *path);
enum ctl_exit ctl_completion(struct ctl *c);
enum ctl_exit ctl_complete(struct ctl *c);
enum ctl_exit ctl_man(struct ctl *c);

/* The help of everything (verb NULL), of one verb. (help.c) */
void ctl_help(const struct ctl_table *t, const struct ctl_verb *verb);

#endif
