/* SPDX-License-Identifier: Apache-2.0 */
/* commandJobHandler: a program with its arguments, never through a shell. */
#include <stdlib.h>
#include "executor/agent/builtin.h"
#include "executor/agent/builtin_internal.h"
#include "executor/process/argv.h"
#include "executor/process/process.h"
#include "executor/run/run.h"

enum { SHOWN_MAX = 1000 };

int builtin_command(struct peal_run *run)
{
    const struct builtin_config *config = peal_arg(run);
    struct slice line = slice_of(peal_param(run), peal_param_size(run));
    struct slice allowed = slice_text(config->commands);
    struct why why = { { 0 } };
    char **argv = NULL;
    enum err err = argv_split(line, &argv, &why);
    if (err) {
        peal_result(run, 500, "%s", why.text[0] ? why.text : err_text(err));
        return 0;
    }
    if (slice_has_item(allowed, slice_text("*")) || slice_has_item(allowed, slice_text(argv[0]))) {
        peal_log(run, "command: %.*s", (int)utf8_cut(line.p, line.n, SHOWN_MAX), line.p);
        /* to the executor this is a thread, which has the grace to end: the child has less of it */
        struct limits limits = *run->context->limits;
        limits.grace_ms -= limits.grace_ms / 4;
        process_run(run, &limits, argv);
    } else {
        peal_result(run, 500, "%.200s is not in this executor's peal.executor.commands", argv[0]);
    }
    free(argv);
    return 0;
}
