/* SPDX-License-Identifier: Apache-2.0 */
/* alarm.c - opens the channels of the table, and gives each a sender. Also one that is not set up:
 * its alarms would stay open for ever. Channels that are made through the API are the keeper's. */
#include "alarm/alarm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "alarm/keeper.h"
#include "alarm/kind.h"
#include "alarm/sender.h"
#include "alarm/teller.h"
#include "alarm/watch.h"
#include "alarm/setting.h"
#include "alarm/targets.h"
#include "base/clock.h"
#include "base/mem.h"

struct alarms {
    int n;                     /* rows of the table */
    struct channel **channels; /* NULL where not set up, or with its sender */
    struct sender **senders;   /* NULL: not started */
    struct teller *teller;     /* the same */
    struct watch *watch;       /* the same */
    char *data;                /* folder of the center */
    const char **for_all;      /* names, NULL at the end */
    char *ca, *targets;        /* of channels that are made through the API */
    struct channel *mail;      /* that of the settings, whoever owns it; NULL: not set up */
    struct keeper *keeper;     /* NULL: not started */
    enum wire_lang lang;
    _Atomic bool stopping;
};

static const struct config_row own_options[] = {
    { "alarm.targets", NULL, CONFIG_TEXT, NULL, "LIST",
      "hosts, addresses and networks (10.0.0.0/8) that channels made through the API may send to,\n"
      "comma separated (default: any public address)",
      0, 0 },
    { "alarm.ca", NULL, CONFIG_TEXT, NULL, "FILE",
      "certificates (PEM) that their servers' are checked with (default: the system's)", 0, 0 },
};

static int table_rows(void)
{
    int n = 0;
    while (channel_table[n])
        n++;
    return n;
}

struct config_row *alarm_options(const struct config_row *base, int n, int *ret_n)
{
    int all = n + (int)countof(own_options);
    for (int i = 0; channel_table[i]; i++)
        all += channel_table[i]->noptions;
    struct config_row *rows = mem_new((size_t)all * sizeof(*rows));
    memcpy(rows, base, (size_t)n * sizeof(*rows));
    memcpy(rows + n, own_options, sizeof(own_options));
    n += (int)countof(own_options);
    for (int i = 0; channel_table[i]; i++) {
        size_t more = (size_t)channel_table[i]->noptions;
        memcpy(rows + n, channel_table[i]->options, more * sizeof(*rows));
        n += (int)more;
    }
    *ret_n = n;
    return rows;
}

static enum err rules_read(const struct config *config, struct alarms *a, struct why *why)
{
    a->ca = mem_dup(config_text(config, "alarm.ca"));
    a->targets = mem_dup(config_text(config, "alarm.targets"));
    a->data = mem_dup(config_text(config, "data"));
    enum err err = setting_readable("alarm.ca", a->ca, why);
    return err ? err : targets_check(slice_text(a->targets), why);
}

enum err alarms_open(const struct config *config, struct alarms **ret, struct why *why)
{
    struct alarms *a = mem_new(sizeof(*a));
    a->n = table_rows();
    a->channels = mem_new((size_t)a->n * sizeof(*a->channels));
    a->senders = mem_new((size_t)a->n * sizeof(*a->senders));
    a->for_all = mem_new(((size_t)a->n + 1) * sizeof(*a->for_all));
    enum err err = OK;
    for (int i = 0, all = 0; !err && i < a->n; i++) {
        err = channel_table[i]->open(config, &a->channels[i], why);
        if (a->channels[i] && !channel_table[i]->by_job)
            a->for_all[all++] = channel_table[i]->name;
        else if (a->channels[i])
            a->mail = a->channels[i];
    }
    if (!err)
        err = rules_read(config, a, why);
    if (err)
        alarms_free(a);
    else
        *ret = a;
    return err;
}

const char *const *alarms_for_all(const struct alarms *a)
{
    return a->for_all;
}

/* Any thread. */
static void wake_senders(void *arg)
{
    struct alarms *a = arg;
    for (int i = 0; i < a->n; i++)
        sender_wake(a->senders[i]);
    keeper_wake(a->keeper);
}

static struct made_rules rules(const struct alarms *a)
{
    return (struct made_rules){ .ca = a->ca, .targets = a->targets, .mail = a->mail };
}

static enum err keeper_start(struct alarms *a, struct center *c, struct why *why)
{
    struct keeper_config config = { .center = c, .lang = a->lang, .rules = rules(a) };
    enum err err = center_reader(c, &config.reader, why);
    if (!err)
        a->keeper = keeper_new(&config);
    return err;
}

/* Metrics have names that stay: those of kinds. */
static void metrics_name(struct center *c)
{
    for (int i = 0; channel_table[i]; i++)
        (void)!metric_channel(center_metrics(c), channel_table[i]->name);
    for (int i = 0; kind_table[i]; i++)
        (void)!metric_channel(center_metrics(c), kind_table[i]->name);
}

/* Any thread. */
static void wake(void *arg)
{
    struct alarms *a = arg;
    wake_senders(a);
    teller_wake(a->teller);
}

/* The loop's thread: other servers may have changed channels or rules. */
static void others_changed(void *arg)
{
    struct alarms *a = arg;
    keeper_changed(a->keeper);
    teller_wake(a->teller);
}

static enum err teller_start(struct alarms *a, struct center *c, struct why *why)
{
    struct teller_config config = { .center = c, .told = wake_senders, .arg = a };
    enum err err = center_reader(c, &config.reader, why);
    if (!err)
        a->teller = teller_new(&config);
    return err;
}

static enum err watch_start(struct alarms *a, struct center *c, struct why *why)
{
    struct watch_config config = { .center = c, .data = a->data };
    enum err err = center_reader(c, &config.reader, why);
    if (!err)
        a->watch = watch_new(&config);
    return err;
}

enum err alarms_start(struct alarms *a, struct center *c, enum wire_lang lang, struct why *why)
{
    a->lang = lang;
    metrics_name(c);
    for (int i = 0; i < a->n; i++) {
        const char *name = channel_table[i]->name;
        struct sender_config config = {
            .center = c, .name = name, .channel = a->channels[i], .lang = lang
        };
        enum err err = center_reader(c, &config.reader, why);
        if (err)
            return err;
        config.metric = metric_channel(center_metrics(c), name);
        a->senders[i] = sender_new(&config);
        a->channels[i] = NULL;
    }
    enum err err = keeper_start(a, c, why);
    if (!err)
        err = teller_start(a, c, why);
    if (!err)
        err = watch_start(a, c, why);
    if (err)
        return err;
    center_on_alarm(c, wake, a);
    center_on_heard(c, others_changed, a);
    return OK;
}

void alarms_free(struct alarms *a)
{
    if (a) {
        watch_free(a->watch);
        teller_free(a->teller); /* it wakes senders */
        keeper_free(a->keeper);
    }
    for (int i = 0; a && i < a->n; i++) {
        sender_free(a->senders[i]);
        if (a->channels[i])
            a->channels[i]->ops->close(a->channels[i]);
    }
    if (!a)
        return;
    free(a->channels);
    free(a->senders);
    free((void *)a->for_all);
    free(a->ca);
    free(a->targets);
    free(a->data);
    free(a);
}

/* ---- channels of the API --------------------------------------------------------------------- */

void alarms_stop(struct alarms *a)
{
    a->stopping = true;
}

void alarms_changed(struct alarms *a)
{
    if (a->keeper) /* it was started */
        keeper_changed(a->keeper);
}

void alarms_resent(struct alarms *a, int64_t id)
{
    for (int i = 0; i < a->n; i++)
        if (a->senders[i])
            sender_reread(a->senders[i], id);
    keeper_reread(a->keeper, id);
}

int64_t alarms_held(const struct alarms *a, int64_t channel_id)
{
    return keeper_held(a->keeper, channel_id);
}

bool alarms_set_up(const struct alarms *a, int i, const char **ret_name, bool *ret_by_job)
{
    if (!channel_table[i])
        return false;
    *ret_name = a->senders[i] && sender_is_open(a->senders[i]) ? channel_table[i]->name : NULL;
    *ret_by_job = channel_table[i]->by_job;
    return true;
}

enum delivery_outcome alarms_try(const struct alarms *a, const struct channel_record *r,
                                 int64_t *ret_took_ms, struct why *said)
{
    struct made_rules all = rules(a);
    struct channel *channel;
    int64_t begun_ms = clock_boot_ms(), now_ms = clock_wall_ms();
    char id[64];
    snprintf(id, sizeof(id), "test-%lld.%llx", (long long)r->id, (unsigned long long)now_ms);
    const struct alarm_message m = {
        .id = id,
        .target = "",
        .event = ALARM_TEST,
        .level = "info",
        .state = "",
        .key = id,
        .title = a->lang == WIRE_LANG_ZH_CN ? "Peal 测试告警" : "A test alarm of Peal",
        .since_ms = now_ms,
        .closed_ms = -1,
        .job = "",
        .handler = "",
        .group = "",
        .app = "",
        .outcome = "",
        .when = "",
        .address = "",
        .cause = "",
        .trigger_msg = "",
        .handle_msg = "",
        .rule = "",
        .lang = a->lang,
    };
    if (made_open(r, &all, &channel, said))
        return DELIVERY_NEVER;
    enum delivery_outcome outcome = made_try(channel, &m, ALARMS_TRY_MS, &a->stopping, said);
    *ret_took_ms = clock_boot_ms() - begun_ms;
    channel->ops->close(channel);
    return outcome;
}
