/* SPDX-License-Identifier: Apache-2.0 */
/* What an import changes besides groups and jobs, in one transaction with these: channels, rules
 * and users. What of it is about a group or job that the same file makes learns the id there. */
#include "api/accounts.h"
#include "api/channels.h"
#include "api/password.h"
#include "api/rules.h"
#include "api/v1/import.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdatomic.h>
#include <stdlib.h>

struct place { /* a grant on a group that the transaction makes */
    const struct edit *group;
    enum role role;
};

struct part {
    struct channel_edit *channel;   /* owned; or */
    struct rule_edit *rule;         /* owned; or */
    struct account *account;        /* owned */
    const struct edit *group, *job; /* that make what the rule is about; NULL: it was there */
    struct rights rights;           /* of the account, on groups that were there */
    struct place *places;           /* and on others; owned */
    int nplaces;
};

struct import_write { /* counted: an asker that gives up leaves it to the writer */
    _Atomic int refs;
    _Atomic int failed;
    int n;
    struct part parts[];
};

/* ---- made ------------------------------------------------------------------------------------ */

static void alarm_part(struct import *x, const struct import_alarm *a, struct part *p)
{
    struct web_call *call = x->call;
    if (!a->of_rule) {
        const char *act = a->channel.id ? "channel.update" : "channel.create";
        p->channel = channel_edit_new(&a->channel, audit_new(call, act));
        return;
    }
    p->rule = rule_edit_new(call->center, &a->rule,
                            audit_new(call, a->rule.id ? "rule.update" : "rule.create"));
    p->group = a->group_step >= 0 ? x->steps[a->group_step].edit : NULL;
    p->job = a->job_item >= 0 ? import_maker(x, a->job_item)->edit : NULL;
}

/* Grants on groups that are there, and on those that are made. */
static void split_rights(struct import *x, const struct rights *from, struct part *p)
{
    p->rights.center = from->center;
    p->places = mem_new(((size_t)from->n + 1) * sizeof(*p->places));
    for (int i = 0; i < from->n; i++) {
        const struct grant *g = &from->grants[i];
        if (g->group_id < 0)
            p->places[p->nplaces++] =
                (struct place){ x->steps[import_step_of(g->group_id)].edit, g->role };
        else
            (void)rights_add(&p->rights, g->group_id, g->role);
    }
}

/* password: its hash, or NULL. */
static struct account *made_user(struct import *x, const struct import_user *u, const char *hash)
{
    char column[65] = "";
    if (hash && x->call->config->write_passwords)
        password_shared(u->password, x->call->db->md5_passwords, column);
    struct user_record r = { .username = (char *)u->name,
                             .password = column,
                             .argon2 = (char *)hash,
                             .created_ms = clock_wall_ms() };
    return account_add_new(&r, audit_new(x->call, "user.create"));
}

static enum err user_part(struct import *x, const struct import_user *u, struct part *p)
{
    char hash[PASSWORD_HASH_SIZE];
    enum err err = u->password.p ? password_hash(u->password, hash) : OK;
    if (err)
        return err;
    split_rights(x, &u->rights, p);
    if (u->id)
        p->account =
            account_rights_new(u->id, u->version, &p->rights, audit_new(x->call, "user.update"));
    else
        p->account = made_user(x, u, u->password.p ? hash : NULL);
    return OK;
}

enum err import_write_new(struct import *x, struct import_write **ret)
{
    size_t room = (size_t)x->nalarms + (size_t)x->nusers;
    struct import_write *w = *ret = mem_new(sizeof(*w) + room * sizeof(w->parts[0]));
    enum err err = OK;
    atomic_init(&w->refs, 1);
    atomic_init(&w->failed, -1);
    for (int i = 0; i < x->nalarms; i++)
        alarm_part(x, &x->alarms[i], &w->parts[w->n++]);
    for (int i = 0; i < x->nusers && !err; i++)
        err = user_part(x, &x->users[i], &w->parts[w->n++]);
    return err;
}

struct import_write *import_write_ref(struct import_write *w)
{
    atomic_fetch_add(&w->refs, 1);
    return w;
}

void import_write_unref(struct import_write *w)
{
    if (!w || atomic_fetch_sub(&w->refs, 1) != 1)
        return;
    for (int i = 0; i < w->n; i++) {
        struct part *p = &w->parts[i];
        if (p->channel)
            channel_edit_free(p->channel);
        if (p->rule)
            rule_edit_free(p->rule);
        account_free(p->account);
        rights_done(&p->rights);
        free(p->places);
    }
    free(w);
}

/* ---- in the transaction ---------------------------------------------------------------------- */

static enum err account_part(struct store *s, const struct part *p, struct why *why)
{
    struct rights rights;
    rights_copy(&rights, &p->rights);
    bool fits = true;
    for (int i = 0; i < p->nplaces && fits; i++)
        fits = rights_add(&rights, p->places[i].group->id, p->places[i].role);
    account_place(p->account, &rights);
    rights_done(&rights);
    return account_run(s, p->account, why);
}

static enum err run_part(struct store *s, const struct part *p, struct why *why)
{
    if (p->channel)
        return channel_edit_run(s, p->channel, why);
    if (p->account)
        return account_part(s, p, why);
    if (p->group || p->job)
        rule_edit_place(p->rule, p->group ? p->group->id : 0, p->job ? p->job->id : 0);
    return rule_edit_run(s, p->rule, why);
}

enum err import_write_run(struct store *s, struct import_write *w, struct why *why)
{
    enum err err = OK;
    atomic_store(&w->failed, -1); /* it may be tried again */
    for (int i = 0; i < w->n && !err; i++) {
        err = run_part(s, &w->parts[i], why);
        if (err)
            atomic_store(&w->failed, i);
    }
    return err;
}

int import_write_failed(const struct import_write *w)
{
    return atomic_load(&w->failed);
}

static enum err alone(struct store *s, void *arg, struct why *why)
{
    return import_write_run(s, arg, why);
}

static void alone_over(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    import_write_unref(arg);
}

enum err import_write_do(struct center *c, struct import_write *w, struct why *why)
{
    static const struct ledger_write write = { alone, alone_over };
    return center_write(c, &write, w, why);
}
