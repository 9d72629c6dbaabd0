/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of verbs. Order: as --help and the manual page list them. */
#include "cli/ctl/ctl.h"
#include "base/mem.h"

static const struct ctl_option common[] = {
    { .name = "--output",
      .brief = "-o",
      .value = "FORMAT",
      .choices = "table json name",
      .help = "table (default), json: what the API answers, name: one a line" },
    { .name = "--url", .value = "URL", .help = "the center; environment: PEAL_URL" },
    { .name = "--token-file",
      .value = "FILE",
      .word = CTL_WORD_FILE,
      .help = "a file with the token, - for standard input; environment: PEAL_TOKEN" },
    { .name = "--ca",
      .value = "FILE",
      .word = CTL_WORD_FILE,
      .help = "certificates that an https center's is signed by; environment: PEAL_CA" },
    { .name = "--timeout",
      .value = "TIME",
      .help = "give up after so long with status 124: 30, 90s, 5m (a request: 30s)" },
    { .name = "--help", .brief = "-h", .help = "explain the command" },
};

/* ---- login ----------------------------------------------------------------------------------- */

static const struct ctl_option login_options[] = {
    { .name = "--user", .value = "NAME", .help = "else the terminal is asked" },
    { .name = "--password-file",
      .value = "FILE",
      .word = CTL_WORD_FILE,
      .help = "its first line is the password, - for standard input" },
    { .name = "--permissions",
      .value = "LIST",
      .help = "of the token, separated by commas: read,run (without: all that the user has)" },
    { .name = "--days", .value = "N", .help = "days that the token is good for (30)" },
};

/* ---- jobs ------------------------------------------------------------------------------------ */

#define LIMIT_OPTION                                                                               \
    {                                                                                              \
        .name = "--limit", .value = "N", .help = "rows at most (500)"                              \
    }
#define GROUP_OPTION                                                                               \
    {                                                                                              \
        .name = "--group", .value = "LIST", .help = "ids or app names, separated by commas"        \
    }

static const struct ctl_option job_list_options[] = {
    GROUP_OPTION,
    { .name = "--state", .value = "STATE", .choices = "scheduled stopped", .help = "state" },
    { .name = "--result",
      .value = "RESULT",
      .choices = "failing ok never",
      .help = "of the last run" },
    { .name = "--type",
      .value = "TYPE",
      .choices = "NONE CRON FIX_RATE FIX_DELAY ONCE",
      .help = "type of schedule" },
    { .name = "--owner", .value = "NAME", .help = "exactly" },
    { .name = "--match", .value = "WORDS", .help = "words in names, handlers, owners" },
    { .name = "--sort",
      .value = "ORDER",
      .choices = "id -id name next last -last streak",
      .help = "order of the rows" },
    LIMIT_OPTION,
};

#define JOB_OPTIONS                                                                                \
    { .name = "--file",                                                                            \
      .brief = "-f",                                                                               \
      .value = "FILE",                                                                             \
      .word = CTL_WORD_FILE,                                                                       \
      .help = "an object as the API takes it (docs/api.md), - for standard input" },               \
        { .name = "--name", .value = "TEXT", .help = "what it is called" },                        \
        { .name = "--group", .value = "GROUP", .help = "its executors: id or app name" },          \
        { .name = "--owner", .value = "TEXT", .help = "who answers for it" },                      \
        { .name = "--cron", .value = "EXPRESSION", .help = "fires by cron: '0 30 2 * * ?'" },      \
        { .name = "--every", .value = "SECONDS", .help = "fires every so many seconds" },          \
        { .name = "--zone", .value = "ZONE", .help = "of the cron expression: Europe/Berlin" },    \
        { .name = "--handler", .value = "NAME", .help = "what the executor runs" },                \
        { .name = "--param", .value = "TEXT", .help = "parameter; @FILE: what is in it" },         \
    {                                                                                              \
        .name = "--set", .value = "PATH=VALUE", .repeats = true,                                   \
        .help = "any other member: running.timeoutS=60; may be repeated"                           \
    }

static const struct ctl_option job_add_options[] = {
    JOB_OPTIONS,
    { .name = "--start", .help = "schedule it at once" },
};
static const struct ctl_option job_edit_options[] = { JOB_OPTIONS };

static const struct ctl_option job_stop_options[] = {
    { .name = "--reason", .value = "TEXT", .help = "kept in the audit" },
};

static const struct ctl_option job_trigger_options[] = {
    { .name = "--param",
      .value = "TEXT",
      .help = "instead of the job's; @FILE: what is in it, -: standard input" },
    { .name = "--address",
      .value = "URL",
      .repeats = true,
      .help = "only executors at these addresses; may be repeated" },
    { .name = "--wait", .help = "until it has ended; the exit status is its outcome" },
    { .name = "--logs", .help = "print its log as it is written, and wait" },
};

/* ---- runs ------------------------------------------------------------------------------------ */

#define TIME_OPTIONS                                                                               \
    { .name = "--since",                                                                           \
      .value = "TIME",                                                                             \
      .help = "from then on: 2h, 7d, or an instant such as 2026-11-21T14:00:00Z" },                \
    {                                                                                              \
        .name = "--until", .value = "TIME", .help = "before that instant"                          \
    }

static const struct ctl_option run_list_options[] = {
    { .name = "--job", .value = "JOB", .word = CTL_WORD_JOB, .help = "of this job only" },
    GROUP_OPTION,
    { .name = "--outcome",
      .value = "LIST",
      .choices = "open succeeded failed timed_out killed lost rejected unroutable",
      .help = "outcomes, separated by commas" },
    TIME_OPTIONS,
    LIMIT_OPTION,
};

static const struct ctl_option run_kill_options[] = {
    { .name = "--yes", .brief = "-y", .help = "do not ask" },
};

static const struct ctl_option logs_options[] = {
    { .name = "--follow", .brief = "-f", .help = "go on as lines are written, to the log's end" },
    { .name = "--from-line", .value = "N", .help = "first line (1)" },
};

static const struct ctl_option executor_list_options[] = {
    GROUP_OPTION,
    { .name = "--state",
      .value = "STATE",
      .choices = "up refusing silent draining",
      .help = "state" },
    LIMIT_OPTION,
};

static const struct ctl_option node_list_options[] = { LIMIT_OPTION };

static const struct ctl_option node_drain_options[] = {
    { .name = "--wait", .help = "until it has no open run" },
};

static const struct ctl_option alarm_list_options[] = {
    { .name = "--all", .help = "also those that were closed in the last 30 days" },
    LIMIT_OPTION,
};

static const struct ctl_option audit_options[] = {
    { .name = "--actor", .value = "NAME", .help = "a user" },
    { .name = "--action", .value = "ACTION", .help = "such as job.update, or job.*" },
    { .name = "--object", .value = "OBJECT", .help = "such as job:42" },
    TIME_OPTIONS,
    LIMIT_OPTION,
};

static const struct ctl_option export_options[] = {
    GROUP_OPTION,
    { .name = "--include",
      .value = "LISTS",
      .help = "of groups, jobs, users, channels, rules, silences, comma separated, or all;\n"
              "groups and jobs if left out" },
};

static const struct ctl_option apply_options[] = {
    { .name = "--file",
      .brief = "-f",
      .value = "PATH",
      .word = CTL_WORD_FILE,
      .help = "a file, - for standard input, or a folder: its files that end in .json" },
    { .name = "--dry-run", .help = "say what would change, and which firings; change nothing" },
    { .name = "--prune",
      .help = "delete jobs that no file has, in the groups that the files name" },
    { .name = "--yes", .brief = "-y", .help = "do not ask" },
};

#define OPTIONS(rows) .options = (rows), .noptions = (int)countof(rows)
#define ONE .least = 1, .most = 1
#define SOME .least = 1, .most = -1

static const struct ctl_verb verbs[] = {
    { .words = "login",
      .args = "[URL]",
      .line = "make a token for this user, and keep it",
      .text = "Logs in with name and password and keeps an access token of that user in\n"
              "~/.config/peal/ctl.json, which only its owner may read. The password is not kept\n"
              "and never stands on the command line. With --token-file a token that exists\n"
              "already is kept, such as one from the console.",
      .examples = "peal ctl login https://center.example.com --user ops-1\n"
                  "peal ctl login http://127.0.0.1:8080 --token-file token",
      OPTIONS(login_options),
      .most = 1,
      .word = CTL_WORD_NONE,
      .alone = true,
      .run = ctl_login },
    { .words = "logout",
      .args = "",
      .line = "forget the kept token",
      .text = "Removes the file. The token itself stays valid until it ends: the console's page\n"
              "of access tokens revokes it.",
      .alone = true,
      .word = CTL_WORD_NONE,
      .run = ctl_logout },
    { .words = "job list",
      .args = "",
      .line = "jobs, with their schedule and last run",
      .examples = "peal ctl job list --group ops-agent --result failing\n"
                  "peal ctl job list -o name",
      OPTIONS(job_list_options),
      .word = CTL_WORD_NONE,
      .run = ctl_job_list },
    { .words = "job get",
      .args = "JOB",
      .line = "one job, whole",
      .text = "JOB is an id or a whole name, here and in the other commands.",
      .examples = "peal ctl job get 'Nightly backup' -o json",
      ONE,
      .word = CTL_WORD_JOB,
      .run = ctl_job_get },
    { .words = "job add",
      .args = "",
      .line = "make a job",
      .text = "From options, or a file, or both: options count more. Prints the id.",
      .examples = "peal ctl job add --name 'Nightly backup' --group ops-agent --cron '0 30 2 * * "
                  "?' --zone Europe/Berlin --handler backup --start\n"
                  "peal ctl job add -f job.json",
      OPTIONS(job_add_options),
      .word = CTL_WORD_NONE,
      .run = ctl_job_add },
    { .words = "job edit",
      .args = "JOB",
      .line = "change members of a job",
      .text = "Only what is named changes. If another change was faster nothing happens, and the\n"
              "exit status is 5.",
      .examples = "peal ctl job edit 42 --cron '0 0 3 * * ?' --set running.timeoutS=600",
      OPTIONS(job_edit_options),
      ONE,
      .word = CTL_WORD_JOB,
      .run = ctl_job_edit },
    { .words = "job start",
      .args = "JOB...",
      .line = "schedule jobs",
      SOME,
      .word = CTL_WORD_JOB,
      .run = ctl_job_start },
    { .words = "job stop",
      .args = "JOB...",
      .line = "stop scheduling jobs",
      .examples = "peal ctl job stop 42 118 --reason 'release of 14:00'",
      OPTIONS(job_stop_options),
      SOME,
      .word = CTL_WORD_JOB,
      .run = ctl_job_stop },
    { .words = "job trigger",
      .args = "JOB",
      .line = "run a job now",
      .text = "Prints the id of the run. With --wait or --logs the exit status is 0 if the run\n"
              "succeeded and 1 if it did not; the run goes on when the command is interrupted\n"
              "or its --timeout passes.",
      .examples = "peal ctl job trigger 42 --wait --logs\n"
                  "peal ctl job trigger 'Nightly backup' --param --full --wait --timeout 10m",
      OPTIONS(job_trigger_options),
      ONE,
      .word = CTL_WORD_JOB,
      .run = ctl_job_trigger },
    { .words = "run list",
      .args = "",
      .line = "runs, newest first (without --since of 7 days)",
      .examples = "peal ctl run list --job 42 --outcome failed,timed_out --since 1d",
      OPTIONS(run_list_options),
      .word = CTL_WORD_NONE,
      .run = ctl_run_list },
    { .words = "run get",
      .args = "RUN",
      .line = "one run: what became of it, and why",
      ONE,
      .word = CTL_WORD_NONE,
      .run = ctl_run_get },
    { .words = "run kill",
      .args = "RUN...",
      .line = "end runs",
      .text = "Asks first. Without a terminal --yes is needed.",
      OPTIONS(run_kill_options),
      SOME,
      .word = CTL_WORD_NONE,
      .run = ctl_run_kill },
    { .words = "logs",
      .args = "RUN",
      .line = "the log of a run",
      .text = "With -o json each line is a JSON string.",
      .examples = "peal ctl logs 9006120 -f",
      OPTIONS(logs_options),
      ONE,
      .word = CTL_WORD_NONE,
      .run = ctl_logs },
    { .words = "executor list",
      .args = "",
      .line = "executors: state, runs, last error",
      OPTIONS(executor_list_options),
      .word = CTL_WORD_NONE,
      .run = ctl_executor_list },
    { .words = "node list",
      .args = "",
      .line = "servers of the database: state, beat, clock",
      .text = "The newest life first. One at a time uses a database, unless its servers share it\n"
              "(node.cluster): the others have stopped or died.",
      OPTIONS(node_list_options),
      .word = CTL_WORD_NONE,
      .run = ctl_node_list },
    { .words = "node drain",
      .args = "NODE",
      .line = "let a server leave its jobs to the others",
      .text = "It plans nothing more and takes no runs over; what it has planned and begun, and\n"
              "what is asked for by hand at it, ends there. It goes on to answer. Its next start\n"
              "plans again. Refused where no other server plans.",
      .examples = "peal ctl node drain db-host-2 --wait --timeout 10m",
      OPTIONS(node_drain_options),
      ONE,
      .word = CTL_WORD_NONE,
      .run = ctl_node_drain },
    { .words = "node undrain",
      .args = "NODE",
      .line = "let a server plan again",
      ONE,
      .word = CTL_WORD_NONE,
      .run = ctl_node_undrain },
    { .words = "alarm list",
      .args = "",
      .line = "alarms that rules have found, and that are open",
      OPTIONS(alarm_list_options),
      .word = CTL_WORD_NONE,
      .run = ctl_alarm_list },
    { .words = "alarm test",
      .args = "CHANNEL",
      .line = "send a test message by a channel, and say what came of it",
      .text = "CHANNEL is an id or a whole name. Waits at most 10 seconds for what the other side\n"
              "says, whether the channel is on or off. The exit status is 0 if it took the\n"
              "message and 1 if it did not.",
      .examples = "peal ctl alarm test 'night shift'",
      ONE,
      .word = CTL_WORD_CHANNEL,
      .run = ctl_alarm_test },
    { .words = "audit",
      .args = "",
      .line = "who changed what, newest first",
      .examples = "peal ctl audit --object job:42 --since 7d",
      OPTIONS(audit_options),
      .word = CTL_WORD_NONE,
      .run = ctl_audit },
    { .words = "export",
      .args = "",
      .line = "groups and jobs as a file, for apply",
      .text = "JSON in an order that only names decide: the same while nothing has changed. With\n"
              "the newest script of each job; without secrets and results. Users with their\n"
              "rights, and what is set up for alarms, are in it where --include says so. apply\n"
              "takes all of it but silences.",
      .examples = "peal ctl export > jobs.json\n"
                  "peal ctl export --group ops-agent > jobs/ops-agent.json",
      OPTIONS(export_options),
      .word = CTL_WORD_NONE,
      .run = ctl_export },
    { .words = "apply",
      .args = "",
      .line = "make groups, jobs, alarms and users as files say",
      .text = "Groups are found by their app name, jobs by group and name, channels, rules and\n"
              "users by name. What a file does not say of them stays. The center looks at all of "
              "it by all rules first; when one is\n"
              "broken nothing changes, and file, member and rule are told. A second time there\n"
              "is nothing to do.",
      .examples = "peal ctl apply -f jobs --dry-run\n"
                  "peal ctl apply -f jobs --prune --yes",
      OPTIONS(apply_options),
      .word = CTL_WORD_NONE,
      .run = ctl_apply },
    { .words = "completion",
      .args = "bash",
      .line = "a script that completes these commands",
      .text = "Names of jobs are asked of the center, for a second at most.",
      .examples = "peal ctl completion bash > ~/.local/share/bash-completion/completions/peal",
      ONE,
      .alone = true,
      .word = CTL_WORD_NONE,
      .run = ctl_completion },
    { .words = "complete",
      .args = "",
      .line = NULL, /* of the completion's script */
      .most = -1,
      .alone = true,
      .word = CTL_WORD_NONE,
      .run = ctl_complete },
    { .words = "man",
      .args = "",
      .line = NULL, /* man/peal-ctl.1 is made with it */
      .alone = true,
      .word = CTL_WORD_NONE,
      .run = ctl_man },
};

const struct ctl_table ctl_table = {
    .verbs = verbs,
    .n = (int)countof(verbs),
    .common = common,
    .ncommon = (int)countof(common),
};
