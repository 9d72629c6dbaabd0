/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies for executors. A run's body is four prepared texts with numbers between, so that firing
 * costs copies and no formatting:
 *   head    {"jobId":1,"executorHandler":"h","executorParams":
 *   params  "the job's own"
 *   middle  ,"executorBlockStrategy":"…","executorTimeout":0,"logId":
 *   tail    ,"glueType":"BEAN","glueSource":"","glueUpdatetime":0,"broadcastIndex":
 * Some Go executors split requests at the word POST wherever it stands; in texts it is therefore
 * written with its first letter escaped. */
#include "wire/executor_api.h"
#include "base/jsonw.h"
#include <stdlib.h>
#include <string.h>

#define DATE ",\"logDateTime\":"
#define TOTAL ",\"broadcastTotal\":"
#define DIGITS 20 /* of an int64 */

static void quote(struct buf *out, struct slice s)
{
    if (!s.n || !memmem(s.p, s.n, "POST", 4)) {
        jsonw_quote(out, s);
        return;
    }
    struct buf plain = BUF_INIT(out->max);
    jsonw_quote(&plain, s);
    out->failed |= plain.failed;
    const char *p = buf_str(&plain), *hit;
    while ((hit = strstr(p, "POST")) != NULL) {
        buf_add(out, p, (size_t)(hit - p));
        buf_text(out, "\\u0050OST");
        p = hit + 4;
    }
    buf_text(out, p);
    buf_done(&plain);
}

static int64_t natural(int64_t v)
{
    return v < 0 ? 0 : v;
}

static uint32_t piece(const struct buf *b, uint32_t before)
{
    return (uint32_t)b->len - before;
}

enum err wire_run_form_init(struct wire_run_form *form, const struct wire_job *job, size_t max)
{
    struct buf b = BUF_INIT(max < UINT32_MAX ? max : UINT32_MAX - 1);
    struct wire_run_form f = { NULL, 0, 0, 0, 0 };
    buf_text(&b, "{\"jobId\":");
    buf_i64(&b, natural(job->job_id));
    buf_text(&b, ",\"executorHandler\":");
    quote(&b, job->handler);
    buf_text(&b, ",\"executorParams\":");
    f.head = piece(&b, 0);
    quote(&b, job->params);
    f.params = piece(&b, f.head);
    buf_text(&b, ",\"executorBlockStrategy\":");
    quote(&b, job->block);
    buf_text(&b, ",\"executorTimeout\":");
    buf_i64(&b, natural(job->timeout_s));
    buf_text(&b, ",\"logId\":");
    f.middle = piece(&b, f.head + f.params);
    buf_text(&b, ",\"glueType\":");
    quote(&b, job->glue_type);
    buf_text(&b, ",\"glueSource\":");
    quote(&b, job->glue_source);
    buf_text(&b, ",\"glueUpdatetime\":");
    buf_i64(&b, natural(job->glue_update_ms));
    buf_text(&b, ",\"broadcastIndex\":");
    f.tail = piece(&b, f.head + f.params + f.middle);
    if (b.failed) {
        buf_done(&b);
        return ERR_TOOBIG;
    }
    f.text = buf_take(&b);
    *form = f;
    return OK;
}

void wire_run_form_done(struct wire_run_form *form)
{
    free(form->text);
    *form = (struct wire_run_form){ NULL, 0, 0, 0, 0 };
}

static char *put(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
    return to + n;
}

static char *put_number(char *to, int64_t v)
{
    char digits[DIGITS], *p = digits + DIGITS;
    uint64_t u = (uint64_t)natural(v);
    do {
        *--p = (char)('0' + u % 10);
        u /= 10;
    } while (u);
    return put(to, p, (size_t)(digits + DIGITS - p));
}

void wire_run_body(struct buf *out, const struct wire_run_form *form, const struct wire_run *run)
{
    const char *middle = form->text + form->head + form->params;
    size_t ahead = run->params ? form->head : form->head + form->params;
    buf_add(out, form->text, ahead);
    if (run->params)
        quote(out, *run->params);
    size_t room = form->middle + form->tail + sizeof(DATE) + sizeof(TOTAL) + 4 * DIGITS;
    char *start = buf_room(out, room), *p = start;
    if (!p)
        return;
    p = put(p, middle, form->middle);
    p = put_number(p, run->log_id);
    p = put(p, DATE, sizeof(DATE) - 1);
    p = put_number(p, run->log_date_ms);
    p = put(p, middle + form->middle, form->tail);
    p = put_number(p, run->shard);
    p = put(p, TOTAL, sizeof(TOTAL) - 1);
    p = put_number(p, run->shard_total > 0 ? run->shard_total : 1);
    *p++ = '}';
    out->len += (size_t)(p - start);
    out->data[out->len] = '\0';
}

void wire_job_body(struct buf *out, int64_t job_id)
{
    buf_text(out, "{\"jobId\":");
    buf_i64(out, natural(job_id));
    buf_char(out, '}');
}

void wire_log_body(struct buf *out, int64_t log_id, int64_t log_date_ms, int from_line)
{
    buf_text(out, "{\"logDateTim\":");
    buf_i64(out, natural(log_date_ms));
    buf_text(out, ",\"logId\":");
    buf_i64(out, natural(log_id));
    buf_text(out, ",\"fromLineNum\":");
    buf_i64(out, natural(from_line));
    buf_char(out, '}');
}
