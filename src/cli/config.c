/* SPDX-License-Identifier: Apache-2.0 */
/* peal config: what the server's settings are and where each comes from; is a file right? Both use
 * the server's own table, so they say what the server would. */
#include "base/config.h"
#include "alarm/alarm.h"
#include "store/url.h"
#include "base/buf.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/server.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_MAX (1u << 20)
#define SHOWN "********"

static const char help_text[] =
    "usage: peal config show [-o text|json] [OPTIONS OF peal server]\n"
    "       peal config check [--all] FILE\n"
    "\n"
    "show prints each setting of peal server, its value and where that comes from: default, "
    "FILE:LINE,\n"
    "environment, or command line. Give it what the server gets (-c FILE, the environment). "
    "Secrets\n"
    "are printed as " SHOWN ".\n"
    "\n"
    "check looks at every line of a file for peal server -c FILE, also at an "
    "application.properties\n"
    "of XXL-JOB: lines with an unknown name (and the nearest known one) or a bad value, and those\n"
    "that are known and do nothing here, with what to set instead.\n"
    "\n"
    "  -o text|json      how show prints (text)\n"
    "  --all             check also names the lines that are right\n"
    "\n"
    "Exit status: 0 fine, also with lines that do nothing here; 1 the server would refuse; 2 the\n"
    "arguments are wrong; 3 the file cannot be read.\n";

static int complain(const char *problem)
{
    fprintf(stderr, "peal config: %s; see peal config --help\n", problem);
    return EXIT_USAGE;
}

/* ---- show ------------------------------------------------------------------------------------ */

static const char *shown(const struct config *c, int i)
{
    const char *value = c->values[i] ? c->values[i] : "";
    bool hidden = config_hides(&c->table->rows[i], value) || db_url_is(value);
    return value[0] && hidden ? SHOWN : value;
}

static void show_text(const struct config *c)
{
    int key = 0, value = 0;
    for (int i = 0; i < c->table->n; i++) {
        int k = (int)strlen(c->table->rows[i].key), v = (int)strlen(shown(c, i));
        key = k > key ? k : key;
        value = v > value && v <= 40 ? v : value;
    }
    for (int i = 0; i < c->table->n; i++)
        printf("%-*s  %-*s  %s\n", key, c->table->rows[i].key, value, shown(c, i),
               config_place(c, c->table->rows[i].key));
}

static void show_json(const struct config *c)
{
    struct buf out = BUF_INIT(OUTPUT_MAX);
    struct jsonw w = jsonw_on(&out);
    jsonw_object(&w, NULL);
    jsonw_array(&w, "settings");
    for (int i = 0; i < c->table->n; i++) {
        const struct config_row *row = &c->table->rows[i];
        jsonw_object(&w, NULL);
        jsonw_text(&w, "key", row->key);
        if (c->values[i])
            jsonw_text(&w, "value", shown(c, i));
        else
            jsonw_null(&w, "value");
        jsonw_text(&w, "origin", config_place(c, row->key));
        jsonw_bool(&w, "secret", config_is_secret(row));
        jsonw_object_end(&w);
    }
    jsonw_array_end(&w);
    jsonw_object_end(&w);
    printf("%s\n", buf_str(&out));
    buf_done(&out);
}

static int show(int argc, char **argv)
{
    struct config config;
    struct config_table table;
    struct why why = { "" };
    const char *form = "text";
    if (!option_take(&argc, argv, "-o", &form) ||
        (strcmp(form, "text") != 0 && strcmp(form, "json") != 0))
        return complain("-o must be text or json");
    struct config_row *rows = server_options(&table);
    int status = EXIT_DONE;
    enum err err = server_config_read(&table, argc, argv, &config, &why);
    if (!err && config.help)
        fputs(help_text, stdout);
    else if (!err && strcmp(form, "json") == 0)
        show_json(&config);
    else if (!err)
        show_text(&config);
    if (!err && !config.help && server_settings_check(&config, &why)) {
        fprintf(stderr, "peal config: the server would refuse: %s\n", why.text);
        status = EXIT_NO;
    } else if (err) {
        fprintf(stderr, "peal config: %s\n", why.text);
        status = err == ERR_IO ? EXIT_FAILED : EXIT_NO;
    }
    config_done(&config);
    free(rows);
    return status;
}

/* ---- check ----------------------------------------------------------------------------------- */

struct check {
    const char *file;
    bool all;
    int count[CONFIG_VERDICTS];
};

static void look(void *ctx, const struct config_line *l)
{
    struct check *c = ctx;
    int n = (int)utf8_cut(l->key.p, l->key.n, 100);
    c->count[l->verdict]++;
    switch (l->verdict) {
    case CONFIG_USED:
        if (c->all && slice_eq(l->key, l->text))
            printf("%s:%d: used: %s\n", c->file, l->line, l->text);
        else if (c->all)
            printf("%s:%d: used: %.*s, which is %s\n", c->file, l->line, n, l->key.p, l->text);
        break;
    case CONFIG_FOREIGN:
        printf("%s:%d: does nothing here: %.*s (%s)\n", c->file, l->line, n, l->key.p, l->text);
        break;
    case CONFIG_UNKNOWN:
        printf("%s:%d: unknown: %.*s%s\n", c->file, l->line, n, l->key.p, l->text);
        break;
    default:
        printf("%s:%d: bad: %s\n", c->file, l->line, l->text);
        break;
    }
}

/* What no line says alone: words out of a list, and settings that need each other. */
static bool fits_together(const struct config_table *table, const char *file, struct why *why)
{
    struct config c;
    struct alarms *alarms = NULL;
    config_begin(table, &c);
    enum err err = config_load(&c, file, why);
    if (!err)
        err = server_settings_check(&c, why);
    if (!err)
        err = alarms_open(&c, &alarms, why);
    if (!err)
        alarms_free(alarms);
    config_done(&c);
    return !err;
}

static int check(const char *file, bool all)
{
    struct config_table table;
    struct config_row *rows = server_options(&table);
    struct check c = { .file = file, .all = all };
    struct why why = { "" };
    enum err err = config_examine(&table, file, look, &c, &why);
    bool bad = c.count[CONFIG_BAD] || c.count[CONFIG_UNKNOWN];
    if (err == ERR_IO) {
        fprintf(stderr, "peal config: %s\n", why.text);
    } else if (err) {
        printf("%s: bad: %s; what follows cannot be read\n", file, why.text);
    } else if (!bad && !fits_together(&table, file, &why)) {
        bad = true;
        printf("%s: bad: %s\n", file, why.text);
    }
    if (err != ERR_IO)
        printf("%d used, %d do nothing here, %d unknown, %d bad\n", c.count[CONFIG_USED],
               c.count[CONFIG_FOREIGN], c.count[CONFIG_UNKNOWN], c.count[CONFIG_BAD]);
    free(rows);
    return err == ERR_IO ? EXIT_FAILED : err || bad ? EXIT_NO : EXIT_DONE;
}

static int cmd_check(int argc, char **argv)
{
    bool help = false, all = false;
    const struct option_row options[] = { { "--all", NULL, &all }, { "--help", NULL, &help } };
    int n = options_read("peal config", options, (int)countof(options), argc, argv);
    if (n < 0)
        return EXIT_USAGE;
    if (help) {
        fputs(help_text, stdout);
        return EXIT_DONE;
    }
    return n == 1 ? check(argv[1], all) : complain("check needs one file");
}

int cmd_config(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "show") == 0)
        return show(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "check") == 0)
        return cmd_check(argc - 1, argv + 1);
    bool help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    if (argc > 1 && !help)
        return complain("there are show and check");
    fputs(help_text, help ? stdout : stderr);
    return help ? EXIT_DONE : EXIT_USAGE;
}
