/* SPDX-License-Identifier: Apache-2.0 */
/* peal ctl: find the verb, read its words, find the center, run it. */
#include "cli/ctl/ctl.h"
#include "base/clock.h"
#include "cli/command.h"
#include "cli/ctl/account.h"
#include "cli/ctl/http.h"
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Does the verb "job list" stand at the beginning of argv? How many words it took; 0: no. */
static int words_of(const struct ctl_verb *v, int argc, char **argv)
{
    const char *rest = v->words;
    for (int i = 0; i < argc; i++) {
        size_t n = strcspn(rest, " ");
        if (strlen(argv[i]) != n || memcmp(argv[i], rest, n) != 0)
            return 0;
        if (!rest[n])
            return i + 1;
        rest += n + 1;
    }
    return 0;
}

static const struct ctl_verb *find(const struct ctl_table *t, int argc, char **argv, int *ret_words)
{
    for (int i = 0; i < t->n; i++) {
        *ret_words = words_of(&t->verbs[i], argc, argv);
        if (*ret_words)
            return &t->verbs[i];
    }
    return NULL;
}

/* The verbs that begin with the word: "job". */
static bool part(const struct ctl_table *t, const char *word)
{
    size_t n = strlen(word);
    bool any = false;
    for (const struct ctl_verb *v = t->verbs; v && v < t->verbs + t->n; v++) {
        if (!n || strncmp(v->words, word, n) != 0 || v->words[n] != ' ')
            continue;
        fprintf(stderr, "%s %s", any ? "," : "peal ctl: which of", v->words);
        any = true;
    }
    if (any)
        fputs("?\n", stderr);
    return any;
}

static enum ctl_exit not_in_front(const char *problem, const char *word)
{
    fprintf(stderr, "peal ctl: %s %.64s; peal ctl --help lists the options of every command\n",
            problem, word);
    return CTL_USAGE;
}

/* Put the words of the verb in front of the n options before them. */
static void verb_first(char **argv, int n, int words)
{
    for (int i = 0; i < words; i++) {
        char *word = argv[n + i];
        memmove(&argv[i + 1], &argv[i], (size_t)n * sizeof(*argv));
        argv[i] = word;
    }
}

static enum ctl_exit unknown(const struct ctl_table *t, int argc, char **argv)
{
    if (argc == 1 && part(t, argv[0]))
        return CTL_USAGE;
    fprintf(stderr, "peal ctl: there is no command %.64s%s%.64s; peal ctl --help lists them\n",
            argv[0], argc > 1 ? " " : "", argc > 1 ? argv[1] : "");
    return CTL_USAGE;
}

static enum ctl_exit set_deadline(struct ctl *c)
{
    const char *text = ctl_option(c, "--timeout");
    int64_t ms;
    if (!text)
        return CTL_DONE;
    if (!ctl_duration(text, &ms))
        return ctl_say(c, CTL_USAGE, "--timeout is a duration such as 30, 90s, 5m or 2h");
    c->deadline_ms = clock_boot_ms() + ms;
    return CTL_DONE;
}

static void done(struct ctl *c)
{
    ctl_http_free(c->http);
    if (c->token)
        explicit_bzero(c->token, strlen(c->token));
    free(c->url);
    free(c->token);
    free(c->ca);
}

static enum ctl_exit flush(const struct ctl *c, enum ctl_exit status)
{
    if ((fflush(stdout) || ferror(stdout)) && status == CTL_DONE)
        return ctl_say(c, CTL_FAILED, "standard output cannot be written");
    return status;
}

static enum ctl_exit perform(struct ctl *c)
{
    enum ctl_exit status = set_deadline(c);
    if (status == CTL_DONE && !c->verb->alone)
        status = ctl_account(c, true);
    if (status != CTL_DONE)
        return status;
    c->http = ctl_http_new();
    if (!c->http)
        return ctl_say(c, CTL_FAILED, "libcurl cannot be set up");
    return flush(c, c->verb->run(c));
}

int cmd_ctl(int argc, char **argv)
{
    struct ctl c = { .table = &ctl_table };
    int words, front = ctl_options_in_front(&ctl_table, argc - 1, argv + 1);
    if (argc < 2) {
        ctl_help(&ctl_table, NULL);
        return CTL_USAGE;
    }
    const char *last = argv[argc - 1];
    if (front >= argc - 1 && (strcmp(last, "--help") == 0 || strcmp(last, "-h") == 0)) {
        ctl_help(&ctl_table, NULL);
        return CTL_DONE;
    }
    if (front < 0)
        return not_in_front("there is no option", argv[-front]);
    if (front >= argc - 1)
        return not_in_front("a command is missing after", last);
    c.verb = find(&ctl_table, argc - 1 - front, argv + 1 + front, &words);
    if (!c.verb)
        return unknown(&ctl_table, argc - 1 - front, argv + 1 + front);
    verb_first(argv + 1, front, words);
    enum ctl_exit status = ctl_args(&c, argc - 1 - words, argv + 1 + words);
    if (status == CTL_DONE && ctl_flag(&c, "--help"))
        ctl_help(&ctl_table, c.verb);
    else if (status == CTL_DONE)
        status = perform(&c);
    done(&c);
    return status;
}
