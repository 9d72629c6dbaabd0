/* SPDX-License-Identifier: Apache-2.0 */
/* peal import: files into a database, without its server. A center of this process's own that is
 * still makes the change by the same code as a server, so that all rules hold and what is planned
 * already follows the edits; `peal ctl apply` prints and asks. */
#include "alarm/alarm.h"
#include "api/offline.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "cli/command.h"
#include "cli/ctl/http.h"
#include "cli/server.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] =
    "usage: peal import --file PATH [--dry-run] [--prune] [--yes] [--output json]\n"
    "                   [--data DIR | --db URL] [--config FILE] [SETTINGS]\n"
    "\n"
    "Makes groups, jobs, channels and rules of alarms, and users in a database as files say, "
    "while\n"
    "no server uses it. The files are those of peal export and peal ctl export; what they do not\n"
    "say stays. All of it is one change, or nothing: what breaks a rule is told with file, member\n"
    "and rule. It lists what changes, and of schedules the firings of the next 24 hours that "
    "vanish,\n"
    "appear or move; then it asks. A second time there is nothing to do. Nothing fires meanwhile.\n"
    "peal ctl apply does the same with a server that runs.\n"
    "\n"
    "  -f, --file PATH    a file, - for standard input, or a folder: its files that end in .json\n"
    "      --dry-run      say what would change, and which firings; change nothing\n"
    "      --prune        delete jobs that no file has, in the groups that the files name\n"
    "  -y, --yes          do not ask\n"
    "  -o, --output json  print the steps as JSON\n"
    "\n"
    "Settings are those of peal server: give the same as to the server (--data, --db, --zone, …).\n"
    "The database must be there: the first start of the server makes it.\n"
    "\n"
    "Exit status: as peal ctl apply's; 3 is also a database that cannot be opened.\n";

static const struct ctl_option options[] = {
    { .name = "--file", .brief = "-f", .value = "PATH" },
    { .name = "--dry-run" },
    { .name = "--prune" },
    { .name = "--yes", .brief = "-y" },
    { .name = "--output", .brief = "-o", .value = "json", .choices = "table json" },
    { .name = "--help", .brief = "-h" },
};
static const struct ctl_verb verb = {
    .words = "import", .args = "", .options = options, .noptions = countof(options), .alone = true
};
static const struct ctl_table table = { .verbs = &verb, .n = 1 };

struct offline {
    struct center *center;
    struct api_config api;
};

/* ---- asked ----------------------------------------------------------------------------------- */

static void answer(void *arg, const struct ctl_ask *ask, const char *body, struct ctl_answer *ret)
{
    const struct offline *o = arg;
    const char *mark = strchr(ask->path, '?');
    struct offline_answer a = { .status = 0 };
    struct why why = { "" };
    enum err err = offline_import(o->center, &o->api, mark ? mark + 1 : "", slice_text(body),
                                  ask->if_match, &a, &why);
    ret->status = err ? 500 : a.status;
    ret->body = err ? json_pack("{ss}", "detail", why.text[0] ? why.text : err_text(err))
                    : json_loadb(a.body.data, a.body.len, 0, NULL);
    snprintf(ret->etag, sizeof(ret->etag), "%s", a.etag);
    buf_done(&a.body);
}

/* ---- the center ------------------------------------------------------------------------------ */

static void *turn(void *arg)
{
    center_run(arg);
    return NULL;
}

static int complain(const char *text, int status)
{
    fprintf(stderr, "peal import: %s%s\n", text,
            status == EXIT_USAGE ? "; see peal import --help" : "");
    return status;
}

static int with_center(struct ctl *c, struct offline *o, const struct center_config *config)
{
    struct why why = { "" };
    pthread_t thread;
    if (center_new(config, &o->center, &why))
        return complain(why.text, EXIT_FAILED);
    int rc = thread_start(&thread, "peal-center", 0, turn, o->center);
    int status = EXIT_FAILED;
    if (rc) {
        (void)complain("no thread can be started", EXIT_FAILED);
    } else {
        c->local = answer;
        c->local_arg = o;
        status = ctl_apply_files(c, ctl_option(c, "--file"));
        center_stop(o->center);
        pthread_join(thread, NULL);
    }
    center_free(o->center);
    return status;
}

/* An empty database would get users, and no admin with them. */
static enum err database_there(const struct config *config, struct why *why)
{
    const struct store_options read = { .read_only = true,
                                        .password = config_text(config, "db.password") };
    char *folder = mem_join("sqlite:", config_text(config, "data"));
    char *file = mem_join(folder, "/peal.db");
    const char *url = config_text(config, "db");
    struct store *db;
    enum err err = store_open(url ? url : file, &read, &db, why);
    if (!err)
        store_close(db);
    free(file);
    free(folder);
    return err;
}

static int import(struct ctl *c, const struct config *config)
{
    struct why why = { "" };
    struct offline o = { .center = NULL };
    struct alarms *alarms;
    struct center_config center;
    if (database_there(config, &why)) {
        (void)complain(why.text, EXIT_FAILED);
        return complain("the settings are those of the server, whose first start makes the "
                        "database",
                        EXIT_FAILED);
    }
    if (alarms_open(config, &alarms, &why))
        return complain(why.text, EXIT_USAGE);
    log_set_level(LOG_WARN);
    api_config_default(&o.api);
    o.api.alarms = alarms;
    o.api.write_passwords = config_flag(config, "compat.write-passwords");
    o.api.audit_keep_ms = config_int(config, "audit.keep");
    server_center(config, &center);
    center.still = true;
    center.alarm_channels = alarms_for_all(alarms);
    int status = with_center(c, &o, &center);
    alarms_free(alarms);
    return status;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* Is it one of ours? *ret_value: it takes one, which is the next word. */
static bool ours(const char *word, bool *ret_value)
{
    size_t n = strcspn(word, "=");
    for (size_t i = 0; i < countof(options); i++) {
        const struct ctl_option *o = &options[i];
        bool named = strlen(o->name) == n && strncmp(o->name, word, n) == 0;
        *ret_value = o->value && !word[n];
        if (named || (o->brief && strcmp(o->brief, word) == 0))
            return true;
    }
    return false;
}

/* Ours into mine, the server's settings into its; both have room for all, and a name in front. */
static void part(int argc, char **argv, char **mine, int *ret_mine, char **its, int *ret_its)
{
    *ret_mine = 0;
    *ret_its = 1;
    its[0] = argv[0];
    for (int i = 1; i < argc; i++) {
        bool value;
        if (!ours(argv[i], &value)) {
            its[(*ret_its)++] = argv[i];
            continue;
        }
        mine[(*ret_mine)++] = argv[i];
        if (value && i + 1 < argc)
            mine[(*ret_mine)++] = argv[++i];
    }
}

static int import_by(struct ctl *c, int argc, char **argv)
{
    struct config config;
    struct config_table settings;
    struct why why = { "" };
    struct config_row *all = server_options(&settings);
    int status = EXIT_USAGE;
    if (server_config_read(&settings, argc, argv, &config, &why) ||
        server_settings_check(&config, &why))
        (void)complain(why.text, EXIT_USAGE);
    else
        status = import(c, &config);
    config_done(&config);
    free(all);
    return status;
}

int cmd_import(int argc, char **argv)
{
    struct ctl c = { .program = "peal", .table = &table, .verb = &verb };
    char **mine = mem_new(((size_t)argc + 1) * sizeof(*mine));
    char **its = mem_new(((size_t)argc + 1) * sizeof(*its));
    int nmine, nits;
    part(argc, argv, mine, &nmine, its, &nits);
    int status = ctl_args(&c, nmine, mine);
    if (status == CTL_DONE && ctl_flag(&c, "--help"))
        fputs(help_text, stdout);
    else if (status == CTL_DONE && !ctl_option(&c, "--file"))
        status = complain("--file is missing: a file or a folder", EXIT_USAGE);
    else if (status == CTL_DONE)
        status = import_by(&c, nits, its);
    free(mine);
    free(its);
    return status;
}
