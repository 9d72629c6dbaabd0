/* SPDX-License-Identifier: Apache-2.0 */
/* The completion: bash hands over the words before the cursor and the one that is begun, and gets
 * back what it may become, one a line. Names of jobs and of channels are asked of the center with a
 * short limit; when it does not answer there is nothing to offer. */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/ctl/account.h"
#include "cli/ctl/http.h"
#include "cli/ctl/print.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ASK_MS = 1000, NAMES = 100 };

static const char script[] =
    "# SPDX-License-Identifier: Apache-2.0\n"
    "# Made by peal ctl completion bash.\n"
    "_peal() {\n"
    "    local word=\"${COMP_WORDS[COMP_CWORD]}\" line\n"
    "    COMPREPLY=()\n"
    "    if ((COMP_CWORD == 1)); then\n"
    "        while IFS= read -r line; do\n"
    "            [[ $line == \"  $word\"* ]] || continue\n"
    "            line=${line#  }\n"
    "            COMPREPLY+=(\"${line%% *}\")\n"
    "        done < <(\"${COMP_WORDS[0]}\" help 2>/dev/null)\n"
    "        return\n"
    "    fi\n"
    "    if [[ ${COMP_WORDS[1]} == ctl ]]; then\n"
    "        while IFS= read -r line; do\n"
    "            COMPREPLY+=(\"$line\")\n"
    "        done < <(\"${COMP_WORDS[0]}\" ctl complete -- \"${COMP_WORDS[@]:2:COMP_CWORD-1}\" "
    "2>/dev/null)\n"
    "    fi\n"
    "}\n"
    "complete -o default -F _peal peal\n";

enum ctl_exit ctl_completion(struct ctl *c)
{
    if (strcmp(c->args[0], "bash") != 0)
        return ctl_say(c, CTL_USAGE, "there is a completion for bash, not for %.40s", c->args[0]);
    fputs(script, stdout);
    return CTL_DONE;
}

/* ---- the words before ------------------------------------------------------------------------ */

struct line {
    char **words; /* before the one that is begun */
    int n;
    const char *begun;
};

static bool fits(const struct line *l, const char *text, size_t n)
{
    size_t m = strlen(l->begun);
    return m <= n && memcmp(text, l->begun, m) == 0;
}

static void offer(const struct line *l, const char *text)
{
    if (fits(l, text, strlen(text)))
        puts(text);
}

/* How many words of a verb stand at the beginning; -1: it is another verb. */
static int matched(const struct line *l, const char *words, const char **rest)
{
    int n = 0;
    for (*rest = words; n < l->n && **rest; n++) {
        size_t len = strcspn(*rest, " ");
        if (strlen(l->words[n]) != len || memcmp(l->words[n], *rest, len) != 0)
            return -1;
        *rest += len + ((*rest)[len] == ' ');
    }
    return n;
}

/* The next words of verbs, each once: those with the same first word stand together. */
static void offer_verbs(const struct ctl_table *t, const struct line *l)
{
    const char *last = "";
    for (int i = 0; i < t->n; i++) {
        char word[40];
        const char *rest;
        if (!t->verbs[i].line || matched(l, t->verbs[i].words, &rest) != l->n || !*rest)
            continue;
        size_t n = strcspn(rest, " ");
        if (fits(l, rest, n) && (strlen(last) < n || strncmp(last, rest, n) != 0)) {
            snprintf(word, sizeof(word), "%.*s", (int)n, rest);
            puts(word);
        }
        last = rest;
    }
}

static const struct ctl_verb *verb_of(const struct ctl_table *t, const struct line *l)
{
    for (int i = 0; i < t->n; i++) {
        const char *rest;
        if (t->verbs[i].line && matched(l, t->verbs[i].words, &rest) > 0 && !*rest)
            return &t->verbs[i];
    }
    return NULL;
}

static const struct ctl_option *find(const struct ctl_option *rows, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (strcmp(rows[i].name, word) == 0 || (rows[i].brief && strcmp(rows[i].brief, word) == 0))
            return &rows[i];
    return NULL;
}

/* The option whose value is begun, or NULL. */
static const struct ctl_option *awaited(const struct ctl_table *t, const struct ctl_verb *v,
                                        const struct line *l)
{
    if (l->n == 0)
        return NULL;
    const char *word = l->words[l->n - 1];
    const struct ctl_option *o = find(v->options, v->noptions, word);
    o = o ? o : find(t->common, t->ncommon, word);
    return o && o->value ? o : NULL;
}

/* ---- what it may become ---------------------------------------------------------------------- */

/* A name as a word of a shell. */
static void put_quoted(const char *name)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:/@%+=";
    for (const char *p = name; *p; p++) {
        if (!strchr(plain, *p) && !((unsigned char)*p & 0x80))
            putchar('\\');
        putchar(*p);
    }
    putchar('\n');
}

/* The word as the shell has it, without its backslashes and the quote that opens it. */
static void unquote(const char *word, char *to, size_t size)
{
    size_t n = 0;
    if (*word == '"' || *word == '\'')
        word++;
    for (; *word && n + 1 < size; word++) {
        if (*word == '\\' && word[1])
            word++;
        to[n++] = *word;
    }
    to[n] = '\0';
}

static bool plain_text(const char *name)
{
    for (const char *p = name; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            return false;
    return *name;
}

/* The names in a list of the center that begin so. */
static void offer_names(struct ctl *c, const char *path, const char *begun)
{
    json_t *page = NULL;
    size_t i;
    const json_t *one;
    c->deadline_ms = clock_boot_ms() + ASK_MS;
    if (ctl_account(c, true) == CTL_DONE && ctl_get(c, path, &page) == CTL_DONE) {
        json_array_foreach(json_object_get(page, "items"), i, one)
        {
            const char *name = ctl_text(one, "name");
            if (i < NAMES && strncmp(name, begun, strlen(begun)) == 0 && plain_text(name))
                put_quoted(name);
        }
    }
    json_decref(page);
}

/* Of what the center knows by name. */
static void offer_known(struct ctl *c, enum ctl_word word, const struct line *l)
{
    char begun[128];
    struct buf path = BUF_INIT(4096);
    unquote(l->begun, begun, sizeof(begun));
    if (word == CTL_WORD_JOB) {
        buf_text(&path, "/jobs?fields=name&limit=100");
        ctl_query(&path, "q", *begun ? begun : NULL);
        offer_names(c, buf_str(&path), begun);
    } else if (word == CTL_WORD_CHANNEL) {
        offer_names(c, "/alarm-channels", begun);
    }
    buf_done(&path);
}

static void offer_choices(const struct line *l, const char *choices)
{
    while (*choices) {
        char word[40];
        size_t n = strcspn(choices, " ");
        snprintf(word, sizeof(word), "%.*s", (int)n, choices);
        offer(l, word);
        choices += n + (choices[n] == ' ');
    }
}

static void offer_options(const struct line *l, const struct ctl_option *rows, int n)
{
    for (int i = 0; i < n; i++)
        offer(l, rows[i].name);
}

static void offer_of(struct ctl *c, const struct ctl_verb *v, const struct line *l)
{
    const struct ctl_option *o = awaited(c->table, v, l);
    if (o && o->choices) {
        offer_choices(l, o->choices);
    } else if (o) {
        offer_known(c, o->word, l);
    } else if (*l->begun == '-') {
        offer_options(l, v->options, v->noptions);
        offer_options(l, c->table->common, c->table->ncommon);
    } else if (strcmp(v->words, "completion") == 0) {
        offer(l, "bash");
    } else {
        offer_known(c, v->word, l);
    }
}

/* In front of a verb: the options of every command. */
static const struct ctl_verb nothing = { .words = "" };

enum ctl_exit ctl_complete(struct ctl *c)
{
    if (c->nargs == 0)
        return CTL_DONE;
    struct line l = { .words = c->args, .n = c->nargs - 1, .begun = c->args[c->nargs - 1] };
    int front = ctl_options_in_front(c->table, l.n, l.words);
    if (front < 0)
        return CTL_DONE;
    if (front > l.n) { /* the value of the last of them */
        offer_of(c, &nothing, &l);
        return CTL_DONE;
    }
    l.words += front;
    l.n -= front;
    const struct ctl_verb *v = verb_of(c->table, &l);
    if (!v && l.n == 0 && *l.begun == '-')
        v = &nothing;
    if (v)
        offer_of(c, v, &l);
    else
        offer_verbs(c->table, &l);
    return CTL_DONE;
}
