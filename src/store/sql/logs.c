/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the log on any engine that speaks SQL. Which rows a page has is found by the engine's own
 * indexes. */
#include "base/mem.h"
#include "store/shared.h"
#include "store/sql/log_row.h"
#include "store/sql/tables.h"
#include <stdlib.h>
#include <string.h>

static enum kind trigger_read(struct log_record *r)
{
    char *text = r->trigger_msg;
    const char *msg;
    enum kind kind = store_trigger_kind(text, &msg);
    if (msg != text) {
        r->trigger_msg = mem_dup(msg);
        free(text);
    }
    return kind;
}

void sql_log_read(struct sql_query *q, struct log_record *r)
{
    int i = 0;
    memset(r, 0, sizeof(*r));
    r->id = sql_i64(q, i++, 0);
    r->group_id = sql_i64(q, i++, 0);
    r->job_id = sql_i64(q, i++, 0);
    r->address = sql_text(q, i++);
    r->handler = sql_text(q, i++);
    r->param = sql_text(q, i++);
    r->sharding = sql_text(q, i++);
    r->retries = sql_int(q, i++, 0);
    r->trigger_ms = sql_i64(q, i++, -1);
    r->trigger_code = sql_int(q, i++, 0);
    r->trigger_msg = sql_text(q, i++);
    r->handle_ms = sql_i64(q, i++, -1);
    r->handle_code = sql_int(q, i++, 0);
    r->handle_msg = sql_text(q, i++);
    r->alarm_status = sql_int(q, i++, 0);
    int64_t phase = sql_i64(q, i++, 0), kind = sql_i64(q, i++, 0);
    r->phase = phase > 0 && phase < PHASE_COUNT ? (enum phase)phase : 0;
    enum kind said = trigger_read(r);
    r->kind = !r->phase ? said : kind >= 0 && kind < KIND_COUNT ? (enum kind)kind : KIND_MANUAL;
    r->scheduled_ms = sql_i64(q, i++, 0);
    r->attempt = sql_int(q, i++, 0);
}

bool sql_log_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct log_record r;
    sql_log_read(q, &r);
    bool more = (*(log_row_fn **)fn)(ctx, &r);
    log_record_done(&r);
    return more;
}

enum err sql_log_get(struct store *store, int64_t id, struct log_record *ret, struct why *why)
{
    struct sql_query *q;
    enum err err =
        sql_row_by_id(sql_of(store), SQL_LOG_SELECT " WHERE l.id = ?1", "log", id, &q, why);
    if (err)
        return err;
    sql_log_read(q, ret);
    sql_reset(q);
    return OK;
}
