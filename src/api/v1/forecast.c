/* SPDX-License-Identifier: Apache-2.0 */
/* Firings per minute ahead, of the groups that the asker may see. */
#include "live/forecast.h"
#include "api/v1/group_filter.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX (FORECAST_PEAKS * FORECAST_PEAK_JOBS)

struct names { /* of jobs that peaks name */
    int64_t ids[NAMES_MAX];
    char *texts[NAMES_MAX]; /* NULL: it is gone */
    int n;
};

static int place_of(const struct names *x, int64_t id)
{
    int i = 0;
    while (i < x->n && x->ids[i] != id)
        i++;
    return i;
}

static bool take_name(void *ctx, const struct job_record *r)
{
    struct names *x = ctx;
    int i = place_of(x, r->id);
    if (i < x->n && !x->texts[i])
        x->texts[i] = mem_dup(r->description ? r->description : "");
    return true;
}

static enum err read_names(struct web_call *call, const struct forecast_view *v, struct names *ret,
                           struct why *why)
{
    for (int i = 0; i < v->npeaks; i++)
        for (int k = 0; k < v->peaks[i].njobs; k++)
            if (place_of(ret, v->peaks[i].jobs[k]) == ret->n)
                ret->ids[ret->n++] = v->peaks[i].jobs[k];
    return call->db->ops->catalog->jobs_get(call->db, ret->ids, ret->n, take_name, ret, why);
}

static void write_peak(struct jsonw *w, const struct forecast_peak *peak, const struct names *names)
{
    jsonw_object(w, NULL);
    jsonw_i64(w, "atMs", peak->at_ms);
    jsonw_i64(w, "count", peak->count);
    jsonw_array(w, "jobs");
    for (int i = 0; i < peak->njobs; i++) {
        const char *name = names->texts[place_of(names, peak->jobs[i])];
        if (!name)
            continue;
        jsonw_object(w, NULL);
        jsonw_i64(w, "id", peak->jobs[i]);
        jsonw_text(w, "name", name);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
    jsonw_object_end(w);
}

static void write_view(struct web_call *call, const struct forecast_view *v, int minutes,
                       const struct names *names)
{
    struct jsonw w = jsonw_on(&call->output);
    jsonw_object(&w, NULL);
    jsonw_i64(&w, "fromMs", v->from_ms);
    jsonw_i64(&w, "stepMs", 60000);
    jsonw_array(&w, "counts");
    for (int i = 0; i < minutes; i++)
        jsonw_i64(&w, NULL, v->counts[i] > 0 ? v->counts[i] : 0);
    jsonw_array_end(&w);
    jsonw_array(&w, "peaks");
    for (int i = 0; i < v->npeaks; i++)
        write_peak(&w, &v->peaks[i], names);
    jsonw_array_end(&w);
    v1_instant(&w, "computed", v->computed_ms);
    jsonw_bool(&w, "partial", v->partial);
    jsonw_object_end(&w);
}

void v1_forecast_get(struct web_call *call)
{
    struct query q;
    struct scope only;
    struct forecast_view v;
    struct names names = { .n = 0 };
    struct why why = { "" };
    int64_t ids[QUERY_GROUPS_MAX];
    query_begin(&q, call);
    bool some = query_groups(&q, "group", ids, &only);
    int minutes = (int)query_i64(&q, "minutes", 1, FORECAST_MINUTES, FORECAST_MINUTES);
    if (!query_end(&q))
        return;
    forecast_look(call->forecast, actor_scope(call->actor, PERM_READ), some ? &only : NULL,
                  clock_wall_ms(), minutes, &v);
    enum err err = read_names(call, &v, &names, &why);
    if (err)
        problem_err(call, err, &why);
    else
        write_view(call, &v, minutes, &names);
    for (int i = 0; i < names.n; i++)
        free(names.texts[i]);
}
