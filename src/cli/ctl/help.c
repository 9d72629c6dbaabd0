/* SPDX-License-Identifier: Apache-2.0 */
/* The table of verbs as text and as a manual page. */
#include "cli/ctl/ctl.h"
#include <stdio.h>
#include <string.h>

static const char statuses[] =
    "Exit status: 0 done; 1 failed or refused, a run that was waited for did not succeed; 2 the\n"
    "arguments are wrong; 3 there is no such thing; 4 not permitted; 5 it does not fit the state\n"
    "of the thing, or was changed meanwhile; 6 the center cannot be reached, or says \"not now\";\n"
    "124 timed out.\n";

/* "-o, --output FORMAT" */
static void option_head(const struct ctl_option *o, char *to, size_t size)
{
    snprintf(to, size, "%s%s%s%s%s", o->brief ? o->brief : "", o->brief ? ", " : "", o->name,
             o->value ? " " : "", o->value ? o->value : "");
}

static void options(const struct ctl_option *rows, int n)
{
    for (int i = 0; i < n; i++) {
        char head[80];
        option_head(&rows[i], head, sizeof(head));
        printf("  %-22s  %s\n", head, rows[i].help);
        if (rows[i].choices)
            printf("  %-22s  of: %s\n", "", rows[i].choices);
    }
}

static void overview(const struct ctl_table *t)
{
    printf("usage: peal ctl [OPTIONS] COMMAND [ARGUMENTS]\n\n"
           "Asks a center over its API (docs/ctl.md). Log in first: peal ctl login URL.\n\n");
    for (int i = 0; i < t->n; i++)
        if (t->verbs[i].line)
            printf("  %-14s %s\n", t->verbs[i].words, t->verbs[i].line);
    printf("\nOptions of every command, in front of it or behind:\n");
    options(t->common, t->ncommon);
    printf("\npeal ctl COMMAND --help explains a command.\n\n%s", statuses);
}

static void one(const struct ctl_table *t, const struct ctl_verb *v)
{
    printf("usage: peal ctl %s%s%s [OPTIONS]\n\n%s\n", v->words, *v->args ? " " : "", v->args,
           v->line ? v->line : "");
    if (v->text)
        printf("\n%s\n", v->text);
    if (v->noptions) {
        printf("\nOptions:\n");
        options(v->options, v->noptions);
    }
    printf("\nOptions of every command:\n");
    options(t->common, t->ncommon);
    if (v->examples)
        printf("\nExamples:\n%s\n", v->examples);
    printf("\n%s", statuses);
}

void ctl_help(const struct ctl_table *t, const struct ctl_verb *verb)
{
    if (verb)
        one(t, verb);
    else
        overview(t);
}

/* ---- the manual page ------------------------------------------------------------------------- */

/* The blank between two sentences: mdoc has one a line. */
static bool sentence(char before, const char *p)
{
    return *p == ' ' && before == '.' && p[1] >= 'A' && p[1] <= 'Z';
}

/* Text for mdoc: a backslash, and a dot or quote that begins a line. */
static void roff(const char *text)
{
    bool begin = true;
    char before = '\0';
    for (; *text; before = *text++) {
        if (begin && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        begin = *text == '\n' || sentence(before, text);
        if (*text == '\\')
            fputs("\\e", stdout);
        else
            putchar(begin ? '\n' : *text);
    }
    putchar('\n');
}

static void man_options(const struct ctl_option *rows, int n)
{
    if (n == 0)
        return;
    printf(".Bl -tag -width Ds\n");
    for (int i = 0; i < n; i++) {
        printf(".It ");
        if (rows[i].brief)
            printf("Fl %s , ", rows[i].brief + 1);
        printf("Fl %s", rows[i].name + 1);
        if (rows[i].value)
            printf(" Ar %s", rows[i].value);
        putchar('\n');
        roff(rows[i].help);
        if (rows[i].choices) {
            printf(".br\nOf: ");
            roff(rows[i].choices);
        }
    }
    printf(".El\n");
}

static void man_examples(const char *text)
{
    printf(".Bd -literal -offset indent\n");
    roff(text);
    printf(".Ed\n");
}

static void man_verb(const struct ctl_verb *v)
{
    printf(".Ss %s%s%s\n", v->words, *v->args ? " " : "", v->args);
    roff(v->line);
    if (v->text) {
        printf(".Pp\n");
        roff(v->text);
    }
    man_options(v->options, v->noptions);
    if (v->examples)
        man_examples(v->examples);
}

static const char man_head[] =
    ".\\\" SPDX-License-Identifier: Apache-2.0\n"
    ".\\\" Made by peal ctl man.\n"
    ".Dd November 22, 2026\n"
    ".Dt PEAL-CTL 1\n"
    ".Os\n"
    ".Sh NAME\n"
    ".Nm peal-ctl\n"
    ".Nd jobs, runs and logs of a center of Peal, from a shell\n"
    ".Sh SYNOPSIS\n"
    ".Nm peal ctl\n"
    ".Op Ar options\n"
    ".Ar command\n"
    ".Op Ar arguments\n"
    ".Sh DESCRIPTION\n"
    "Asks a center over its API.\n"
    "Data goes to standard output, messages to standard error.\n"
    ".Pp\n"
    "The center and the token come from options, else from the environment, else from the file\n"
    "that\n"
    ".Cm login\n"
    "writes.\n"
    "The token of that file is sent to the center of that file only.\n"
    ".Sh OPTIONS OF EVERY COMMAND\n"
    "They may stand in front of the command or behind it.\n";

static const char man_tail[] = ".Sh ENVIRONMENT\n"
                               ".Bl -tag -width PEAL_TOKEN\n"
                               ".It Ev PEAL_URL\n"
                               "The center.\n"
                               ".It Ev PEAL_TOKEN\n"
                               "An access token.\n"
                               ".It Ev PEAL_CA\n"
                               "Certificates that an https center's is signed by.\n"
                               ".El\n"
                               ".Sh FILES\n"
                               ".Bl -tag -width Ds\n"
                               ".It Pa ~/.config/peal/ctl.json\n"
                               "Center and token; readable by its owner only.\n"
                               "The folder is\n"
                               ".Ev XDG_CONFIG_HOME\n"
                               "where that is set.\n"
                               ".El\n"
                               ".Sh EXIT STATUS\n";

enum ctl_exit ctl_man(struct ctl *c)
{
    const struct ctl_table *t = c->table;
    fputs(man_head, stdout);
    man_options(t->common, t->ncommon);
    printf(".Sh COMMANDS\n");
    for (int i = 0; i < t->n; i++)
        if (t->verbs[i].line)
            man_verb(&t->verbs[i]);
    fputs(man_tail, stdout);
    fputs(statuses + strlen("Exit status: "), stdout);
    printf(".Sh SEE ALSO\n.Xr peal 1 ,\n.Xr peal-executor 1\n");
    return CTL_DONE;
}
