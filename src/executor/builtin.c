/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers that come with `peal executor`: to try things out, to test, and to run commands. */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "executor/builtin.h"
#include "executor/executor.h"
#include "executor/process.h"
#include "executor/run.h"
#include "executor/words.h"
#include "wire/texts.h"

#define COMMAND "commandJobHandler"

enum { DEMO_LINES = 5, DEMO_PAUSE_MS = 200, SLEEP_MAX_MS = 86400000 };

static int shown(struct slice s)
{
    return (int)utf8_cut(s.p, s.n, 1000);
}

static int demo(struct peal_run *r)
{
    run_log(r, "hello; the parameter is: %.*s", shown(r->params), r->params.p);
    for (int i = 1; i <= DEMO_LINES; i++) {
        run_log(r, "beat %d of %d", i, DEMO_LINES);
        if (!run_wait(r, DEMO_PAUSE_MS))
            break;
    }
    return 0;
}

static int sharding(struct peal_run *r)
{
    run_log(r, "this is shard %d of %d", r->shard, r->shard_total);
    for (int i = 0; i < r->shard_total && i < 1000; i++)
        if (i == r->shard)
            run_log(r, "item %d: mine", i);
        else
            run_log(r, "item %d: another's", i);
    return 0;
}

static int fail(struct peal_run *r)
{
    run_log(r, "about to fail, as asked");
    if (r->params.n)
        run_result(r, WIRE_CODE_FAIL, "%.*s", shown(r->params), r->params.p);
    else
        run_result(r, WIRE_CODE_FAIL, "failed on purpose");
    return 0;
}

static int sleep_ms(struct peal_run *r)
{
    int64_t ms = 0;
    if (!parse_i64(slice_trim(r->params), &ms) || ms < 0 || ms > SLEEP_MAX_MS) {
        run_result(r, WIRE_CODE_FAIL, "sleepJobHandler: the parameter must be 0-%d milliseconds",
                   SLEEP_MAX_MS);
        return 0;
    }
    run_log(r, "sleeping for %lld ms", (long long)ms);
    if (run_wait(r, ms))
        run_log(r, "awake");
    return 0;
}

static int command(struct peal_run *r)
{
    const struct builtin_config *config = peal_arg(r);
    struct why why = { { 0 } };
    char **argv = NULL;
    enum err err = words_split(r->params, &argv, &why);
    if (err) {
        run_result(r, WIRE_CODE_FAIL, "%s", why.text[0] ? why.text : err_text(err));
        return 0;
    }
    struct slice allowed = slice_text(config->commands);
    if (slice_has_item(allowed, slice_text("*")) || slice_has_item(allowed, slice_text(argv[0]))) {
        run_log(r, "command: %.*s", shown(r->params), r->params.p);
        process_run(r, r->config->limits, argv);
    } else {
        run_result(r, WIRE_CODE_FAIL, "%.200s is not in this executor's peal.executor.commands",
                   argv[0]);
    }
    free(argv);
    return 0;
}

const struct peal_handler *const *builtin_handlers(const struct builtin_config *c, size_t *n)
{
    static struct peal_handler all[] = {
        { .name = "demoJobHandler", .run = demo },
        { .name = "shardingJobHandler", .run = sharding },
        { .name = "failJobHandler", .run = fail },
        { .name = "sleepJobHandler", .run = sleep_ms },
        { .name = COMMAND, .run = command },
    };
    static const struct peal_handler *list[countof(all)];
    *n = 0;
    for (size_t i = 0; i < countof(all); i++) {
        all[i].arg = (void *)c;
        if (strcmp(all[i].name, COMMAND) != 0 || (c->commands && c->commands[0]))
            list[(*n)++] = &all[i];
    }
    return list;
}

const char *builtin_hint(struct slice name)
{
    if (!slice_eq(name, COMMAND))
        return NULL;
    return "Commands are off on this executor; --peal.executor.commands=LIST allows them.";
}
