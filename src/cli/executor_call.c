/* SPDX-License-Identifier: Apache-2.0 */
/* One POST to /peal/... of an executor on this machine, and its answer as lines for a terminal. */
#include "cli/executor_call.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "cli/command.h"
#include "net/httpc.h"
#include "net/loop.h"
#include "net/tls.h"

enum { ASK_MS = 10000, ANSWER_MAX = 8 << 20 };

static const char *const words[] = { "status", "drain", "undrain" };

struct question {
    struct loop *loop;
    struct httpc_call call;
    const char *word;
    int status;
};

bool executor_call_knows(const char *word)
{
    for (size_t i = 0; i < countof(words); i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

static int complain(const char *word, const char *text, int status)
{
    fprintf(stderr, "peal executor %s: %s\n", word, text);
    return status;
}

/* --- what it says --- */

static void print_run(json_t *run)
{
    json_t *percent = json_object_get(run, "percent");
    printf("  job %lld, log %lld: %s", (long long)json_integer_value(json_object_get(run, "jobId")),
           (long long)json_integer_value(json_object_get(run, "logId")),
           json_string_value(json_object_get(run, "handler")));
    if (percent)
        printf(", %lld %% %s", (long long)json_integer_value(percent),
               json_string_value(json_object_get(run, "progress")));
    if (json_is_string(json_object_get(run, "stopping")))
        printf(", asked to stop (%s)%s", json_string_value(json_object_get(run, "stopping")),
               json_is_true(json_object_get(run, "wouldNotStop")) ? " and does not" : "");
    printf("\n");
}

static void print_state(json_t *data)
{
    static const char *const numbers[] = { "running",  "waiting", "resultsPending", "wouldNotStop",
                                           "accepted", "refused", "ended" };
    const char *state = json_is_true(json_object_get(data, "stopping"))   ? "stopping"
                        : json_is_true(json_object_get(data, "draining")) ? "draining"
                                                                          : "at work";
    json_t *run;
    size_t i;
    printf("%s: %s, %s\n", json_string_value(json_object_get(data, "address")), state,
           json_is_true(json_object_get(data, "registered")) ? "registered" : "not registered");
    for (i = 0; i < countof(numbers); i++)
        printf("  %-15s %lld\n", numbers[i],
               (long long)json_integer_value(json_object_get(data, numbers[i])));
    json_array_foreach(json_object_get(data, "runs"), i, run) print_run(run);
}

static int show(const char *word, struct slice body)
{
    json_t *answer = json_loadb(body.n ? body.p : "", body.n, 0, NULL);
    json_t *data = json_object_get(answer, "data");
    const char *msg = json_string_value(json_object_get(answer, "msg"));
    int status = EXIT_DONE;
    if (json_integer_value(json_object_get(answer, "code")) == 200 && json_is_object(data))
        print_state(data);
    else
        status = complain(word, msg ? msg : "the answer is not an executor's", EXIT_FAILED);
    json_decref(answer);
    return status;
}

/* --- asking --- */

static void answered(struct httpc_call *call)
{
    struct question *q = call->user;
    if (call->outcome == HTTPC_ANSWERED)
        q->status = show(q->word, call->body);
    else
        q->status = complain(q->word, call->why, EXIT_FAILED);
    loop_stop(q->loop);
}

static enum err ask(struct question *q, struct httpc *client, const char *url, struct why *why)
{
    char action[32];
    snprintf(action, sizeof(action), "peal/%s", q->word);
    struct slice nothing = slice_text("{}");
    const struct httpc_post post = {
        .action = action, .pieces = &nothing, .npieces = 1, .timeout_ms = ASK_MS
    };
    struct httpc_peer *peer;
    enum err err = httpc_peer_new(client, slice_text(url), &peer, why);
    q->call = (struct httpc_call){ .done = answered, .user = q, .body_max = ANSWER_MAX };
    if (!err)
        err = httpc_call(peer, &post, &q->call);
    if (!err)
        loop_run(q->loop);
    return err;
}

/* ca: as the server's executor.ca. */
static int ask_at(const char *word, const char *url, const char *token, const char *ca)
{
    struct why why = { { 0 } };
    struct question q = { .loop = loop_new(), .word = word, .status = EXIT_FAILED };
    struct httpc_config config = { .token = token,
                                   .connections = 1,
                                   .tls = { .ca = ca, .setting = "--ca" } };
    struct httpc *client = NULL;
    enum err err = httpc_new(q.loop, &config, &client, &why);
    if (!err)
        err = ask(&q, client, url, &why);
    httpc_free(client);
    loop_free(q.loop);
    if (err)
        return complain(word, why.text[0] ? why.text : err_text(err), EXIT_USAGE);
    return q.status;
}

int executor_call(int argc, char **argv)
{
    const char *url = NULL, *token = getenv("PEAL_ACCESS_TOKEN");
    const char *ca = NULL;
    bool insecure = false, help = false;
    const struct option_row rows[] = { { "--url", &url, NULL },
                                       { "--token", &token, NULL },
                                       { "--ca", &ca, NULL },
                                       { "--insecure", NULL, &insecure },
                                       { "--help", NULL, &help } };
    char what[64];
    snprintf(what, sizeof(what), "peal executor %s", argv[0]);
    int others = options_read(what, rows, countof(rows), argc, argv);
    if (others < 0)
        return EXIT_USAGE;
    if (help) {
        printf("usage: %s --url URL [--token TOKEN] [--ca FILE | --insecure]\n\n"
               "URL is the executor's address, as it prints it. The token is also taken from\n"
               "PEAL_ACCESS_TOKEN. The certificate of an https address is checked with those that\n"
               "this machine trusts, or with those of the file (PEM); with --insecure not at all:\n"
               "then the token goes to whoever answers.\n",
               what);
        return EXIT_DONE;
    }
    if (!url || others)
        return complain(argv[0], url ? "there is more than options" : "--url is missing",
                        EXIT_USAGE);
    if (ca && insecure)
        return complain(argv[0], "--ca and --insecure exclude each other", EXIT_USAGE);
    return ask_at(argv[0], url, token ? token : "", insecure ? TLS_ANY : ca ? ca : TLS_SYSTEM);
}
