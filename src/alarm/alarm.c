/* SPDX-License-Identifier: Apache-2.0 */
/* alarm.c - opens the channels of the table, and gives each a sender. Also one that is not set up:
 * its alarms would stay open for ever. */
#include "alarm/alarm.h"
#include <stdlib.h>
#include <string.h>
#include "alarm/sender.h"
#include "alarm/teller.h"
#include "base/mem.h"

struct alarms {
    int n;                     /* rows of the table */
    struct channel **channels; /* NULL where not set up, or with its sender */
    struct sender **senders;   /* NULL: not started */
    struct teller *teller;     /* the same */
    const char **for_all;      /* names, NULL at the end */
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
    int all = n;
    for (int i = 0; channel_table[i]; i++)
        all += channel_table[i]->noptions;
    struct config_row *rows = mem_new((size_t)all * sizeof(*rows));
    memcpy(rows, base, (size_t)n * sizeof(*rows));
    for (int i = 0; channel_table[i]; i++) {
        size_t more = (size_t)channel_table[i]->noptions;
        memcpy(rows + n, channel_table[i]->options, more * sizeof(*rows));
        n += (int)more;
    }
    *ret_n = n;
    return rows;
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
    }
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
}

/* Any thread. */
static void wake(void *arg)
{
    struct alarms *a = arg;
    wake_senders(a);
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

enum err alarms_start(struct alarms *a, struct center *c, enum wire_lang lang, struct why *why)
{
    for (int i = 0; i < a->n; i++) {
        struct sender_config config = {
            .center = c, .ops = channel_table[i], .channel = a->channels[i], .lang = lang
        };
        enum err err = center_reader(c, &config.reader, why);
        if (err)
            return err;
        config.metric = metric_channel(center_metrics(c), config.ops->name);
        a->senders[i] = sender_new(&config);
        a->channels[i] = NULL;
    }
    enum err err = teller_start(a, c, why);
    if (!err)
        center_on_alarm(c, wake, a);
    return err;
}

void alarms_free(struct alarms *a)
{
    if (a)
        teller_free(a->teller);
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
    free(a);
}
