/* SPDX-License-Identifier: Apache-2.0 */
/* peal: one binary, its subcommands in one table. */
#include "base/mem.h"
#include "cli/command.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int cmd_help(int argc, char **argv);
static int cmd_version(int argc, char **argv);

static const struct command commands[] = {
    { "server", "the scheduling center", cmd_server },
    { "executor", "take runs from a center, run them, report back", cmd_executor },
    { "demo", "a center, two executors and sample jobs, to watch", cmd_demo },
    { "ctl", "jobs, runs and logs of a center, over its API", cmd_ctl },
    { "cron", "when a cron expression fires, and what it means", cmd_cron },
    { "config", "a server's settings, where they come from, is a file right?", cmd_config },
    { "doctor", "what of a server is insecure or risky, and how to mend it", cmd_doctor },
    { "health", "does the server on this machine answer?", cmd_health },
    { "backup", "copy a center's database, also while it runs", cmd_backup },
    { "restore", "put a backup in the place of a stopped center's database", cmd_restore },
    { "shadow", "what Peal would do beside a live XXL-JOB", cmd_shadow },
    { "export", "what is configured in a database, as a file", cmd_export },
    { "import", "files into the database of a stopped center", cmd_import },
    { "db", "shrink a database file; check and import XXL-JOB's", cmd_db },
    { "help", "this list, or the help of one command", cmd_help },
    { "version", "the version of this binary", cmd_version },
};

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < countof(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static void usage(FILE *to)
{
    fprintf(to, "peal %s, a distributed job scheduler\n\nusage: peal COMMAND [ARGUMENTS]\n\n",
            PEAL_VERSION);
    for (size_t i = 0; i < countof(commands); i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].line);
    fprintf(to, "\npeal COMMAND --help explains a command.\n");
}

static int unknown(const char *name)
{
    fprintf(stderr, "peal: there is no command %.64s; peal help lists them\n", name);
    return EXIT_USAGE;
}

static int cmd_help(int argc, char **argv)
{
    if (argc < 2 || argv[1][0] == '-') {
        usage(stdout);
        return EXIT_DONE;
    }
    const struct command *c = find(argv[1]);
    if (!c)
        return unknown(argv[1]);
    if (c->run == cmd_help || c->run == cmd_version) {
        printf("peal %s: %s\n", c->name, c->line);
        return EXIT_DONE;
    }
    char help[] = "--help";
    char *args[] = { argv[1], help, NULL };
    return c->run(2, args);
}

static int cmd_version(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    printf("peal %s\n", PEAL_VERSION);
    return EXIT_DONE;
}

/* May this command make a database or a file of one? Tokens, channels' secrets and passwords'
 * hashes stand in it, and SQLite itself opens with what the umask leaves. The executor is none of
 * them: what users' scripts make is as they want it. */
static bool makes_secrets(int (*run)(int argc, char **argv))
{
    return run == cmd_server || run == cmd_db || run == cmd_import || run == cmd_backup ||
           run == cmd_restore;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return cmd_help(1, argv + 1);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return cmd_version(1, argv + 1);
    const struct command *c = find(argv[1]);
    if (!c)
        return unknown(argv[1]);
    if (makes_secrets(c->run))
        (void)umask(0077);
    return c->run(argc - 1, argv + 1);
}
