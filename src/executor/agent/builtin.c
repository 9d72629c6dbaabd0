/* SPDX-License-Identifier: Apache-2.0 */
/* The table of built-in handlers: their names, what the configuration calls them, and what /run
 * says about one that is off. What is not allowed is not in the list that the executor gets, so a
 * request for it cannot reach its code. */
#include "executor/agent/builtin.h"
#include <curl/curl.h>
#include "base/mem.h"
#include "executor/agent/builtin_http.h"
#include "executor/agent/builtin_internal.h"

static struct peal_handler all[] = {
    { .name = "demoJobHandler", .run = builtin_demo },
    { .name = "shardingJobHandler", .run = builtin_sharding },
    { .name = "failJobHandler", .run = builtin_fail },
    { .name = "sleepJobHandler", .run = builtin_sleep },
    { .name = "lifecycleJobHandler",
      .run = builtin_lifecycle,
      .init = builtin_lifecycle_init,
      .destroy = builtin_lifecycle_destroy },
    { .name = "commandJobHandler", .run = builtin_command },
    { .name = "httpJobHandler", .run = builtin_http },
};

/* In the order of all; NULL: a list of its own decides. */
static const char *const samples[countof(all)] = { "demo",      "sharding", "fail", "sleep",
                                                   "lifecycle", NULL,       NULL };
static const char *const hints[countof(all)] = {
    "It is off on this executor; --peal.executor.samples=demo allows it.",
    "It is off on this executor; --peal.executor.samples=sharding allows it.",
    "It is off on this executor; --peal.executor.samples=fail allows it.",
    "It is off on this executor; --peal.executor.samples=sleep allows it.",
    "It is off on this executor; --peal.executor.samples=lifecycle allows it.",
    "Commands are off on this executor; --peal.executor.commands=LIST allows them.",
    "HTTP is off on this executor; --peal.executor.http.hosts=LIST allows it.",
};

static bool any(const char *text)
{
    return text && text[0];
}

static bool allowed(const struct builtin_config *c, size_t i)
{
    struct slice list = slice_text(c->samples);
    if (samples[i])
        return slice_has_item(list, slice_text("*")) ||
               slice_has_item(list, slice_text(samples[i]));
    return any(all[i].run == builtin_command ? c->commands : c->http_hosts);
}

enum err builtin_check(const struct builtin_config *c, struct why *why)
{
    struct slice rest = slice_text(c->samples);
    for (struct slice name; slice_item(&rest, &name);) {
        bool known = slice_eq(name, "*");
        for (size_t i = 0; i < countof(all); i++)
            known |= samples[i] && slice_eq(name, samples[i]);
        if (known)
            continue;
        why_set(why,
                "peal.executor.samples: there is no %.*s; there are demo, sharding, fail, sleep, "
                "lifecycle",
                (int)utf8_cut(name.p, name.n, 64), name.p);
        return ERR_INVALID;
    }
    return OK;
}

const struct peal_handler *const *builtin_handlers(const struct builtin_config *c, size_t *n)
{
    static const struct peal_handler *list[countof(all)];
    *n = 0;
    for (size_t i = 0; i < countof(all); i++) {
        all[i].arg = (void *)c;
        if (allowed(c, i))
            list[(*n)++] = &all[i];
    }
    if (any(c->http_hosts))
        curl_global_init(CURL_GLOBAL_DEFAULT); /* while there is one thread */
    return list;
}

const char *builtin_hint(struct slice name)
{
    for (size_t i = 0; i < countof(all); i++)
        if (slice_eq(name, all[i].name))
            return hints[i];
    return NULL;
}
