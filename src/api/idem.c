/* SPDX-License-Identifier: Apache-2.0 */
/* Two requests with one key at the same time both come to the writer, which sees them one after the
 * other: the second is refused there and answers with what the first has made. */
#include "api/idem.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/secret.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define EXPIRE_MAX 10
#define ANSWER_MAX (1u << 20) /* a larger one is put together again */

struct idem {
    _Atomic int refs;
    _Atomic bool reused;    /* another request has the key: the writer saw it */
    struct idem_record row; /* without answer; id unused */
    size_t headers;         /* of the call's headers those behind here are the answer's */
};

/* ---- keys -------------------------------------------------------------------------------------
 */

bool idem_key_ok(struct slice key)
{
    if (key.n < IDEM_KEY_MIN || key.n > IDEM_KEY_MAX)
        return false;
    for (size_t i = 0; i < key.n; i++)
        if (key.p[i] < 0x21 || key.p[i] > 0x7e)
            return false;
    return true;
}

static void refuse_key(struct web_call *call)
{
    const struct problem_limits limits = { IDEM_KEY_MIN, IDEM_KEY_MAX };
    struct problem_errors errors;
    problem_errors_init(&errors);
    problem_error(&errors, "Idempotency-Key", "idempotency.key", &limits,
                  "Idempotency-Key: must be %d to %d visible characters of ASCII", IDEM_KEY_MIN,
                  IDEM_KEY_MAX);
    problem_fields(call, PROBLEM_MALFORMED, &errors);
    problem_errors_done(&errors);
}

static void refuse_reused(struct web_call *call)
{
    problem(call, PROBLEM_KEY_REUSED,
            "another request had this Idempotency-Key within 24 hours: send the same method, path "
            "and body again, or take a new key");
}

/* Of all that makes two requests the same. */
static char *digest_of(const struct web_call *call)
{
    unsigned char digest[32];
    char hex[65];
    struct buf b = BUF_INIT(call->method.n + call->path.n + call->body.n + 8);
    buf_slice(&b, call->method);
    buf_char(&b, '\n');
    buf_slice(&b, call->path);
    buf_char(&b, '\n');
    buf_slice(&b, call->body);
    sha256(b.data, b.len, digest);
    hex_text(digest, sizeof(digest), hex);
    buf_done(&b);
    return mem_dup(hex);
}

static struct idem *idem_new(const struct web_call *call)
{
    struct idem *idem = mem_new(sizeof(*idem));
    atomic_init(&idem->refs, 1);
    idem->row.user_id = call->user.id;
    idem->row.key = mem_dupn(call->idempotency_key.p, call->idempotency_key.n);
    idem->row.digest = digest_of(call);
    idem->row.at_ms = clock_wall_ms();
    idem->headers = call->headers.len;
    return idem;
}

struct idem *idem_ref(struct idem *idem)
{
    if (idem)
        atomic_fetch_add(&idem->refs, 1);
    return idem;
}

void idem_unref(struct idem *idem)
{
    if (!idem || atomic_fetch_sub(&idem->refs, 1) != 1)
        return;
    idem_record_done(&idem->row);
    free(idem);
}

void idem_drop(struct web_call *call)
{
    idem_unref(call->idem);
    call->idem = NULL;
}

void idem_group(struct web_call *call, int64_t group_id)
{
    if (call->idem)
        call->idem->row.group_id = group_id;
}

/* ---- on a worker ------------------------------------------------------------------------------
 */

static bool is_over(const struct idem_record *r, int64_t now_ms)
{
    return now_ms - r->at_ms >= IDEM_KEPT_MS;
}

/* The row of the key; ERR_NOTFOUND also if its time is over. */
static enum err row_find(struct store *s, const struct idem_record *wanted, struct idem_record *ret,
                         struct why *why)
{
    enum err err = s->ops->users->idem_find(s, wanted->user_id, wanted->key, ret, why);
    if (err || !is_over(ret, wanted->at_ms))
        return err;
    idem_record_done(ret);
    return ERR_NOTFOUND;
}

static void answer_again(struct web_call *call, const struct idem_record *r)
{
    call->status = r->status;
    buf_text(&call->headers, r->headers);
    buf_text(&call->output, r->answer);
}

/* May the asker, who may have lost rights since, have the answer again? */
static bool may_have(const struct web_call *call, const struct idem_record *r)
{
    int wanted = call->match.row->permission;
    return !r->group_id || actor_may(call->actor, (enum permission)wanted, r->group_id);
}

bool idem_open(struct web_call *call)
{
    struct idem_record r;
    struct why why = { "" };
    if (!call->idempotency_key.p)
        return true;
    if (!idem_key_ok(call->idempotency_key)) {
        refuse_key(call);
        return false;
    }
    call->idem = idem_new(call);
    enum err err = row_find(call->db, &call->idem->row, &r, &why);
    if (err == ERR_NOTFOUND)
        return true;
    if (err) {
        problem_err(call, err, &why);
        return false;
    }
    bool same = strcmp(r.digest, call->idem->row.digest) == 0;
    bool again = same && r.answer && may_have(call, &r);
    if (again)
        answer_again(call, &r);
    else if (!same)
        refuse_reused(call);
    idem_record_done(&r);
    if (again || !same)
        idem_drop(call);
    return same && !again;
}

enum err idem_made(struct web_call *call, int64_t item, int64_t *ret, struct why *why)
{
    struct idem_record r;
    if (!call->idem)
        return ERR_NOTFOUND;
    enum err err = row_find(call->db, &call->idem->row, &r, why);
    if (err)
        return err;
    err = call->db->ops->users->idem_made_get(call->db, r.id, item, ret, why);
    idem_record_done(&r);
    return err;
}

bool idem_clashes(struct web_call *call, enum err err)
{
    if (err != ERR_INVALID || !call->idem || !atomic_load(&call->idem->reused))
        return false;
    refuse_reused(call);
    return true;
}

/* ---- in the transaction ------------------------------------------------------------------------
 */

/* The key's row, a new one if there is none of this day. */
static enum err row_take(struct idem *idem, struct store *s, struct idem_record *ret,
                         struct why *why)
{
    const struct store_users *users = s->ops->users;
    enum err err = users->idem_find(s, idem->row.user_id, idem->row.key, ret, why);
    if (!err && !is_over(ret, idem->row.at_ms))
        return OK;
    if (!err) {
        err = users->idem_delete(s, ret->id, why);
        idem_record_done(ret);
    } else if (err == ERR_NOTFOUND) {
        err = OK;
    }
    if (err)
        return err;
    why_clear(why);
    idem_record_copy(ret, &idem->row);
    err = users->idem_insert(s, ret, why);
    if (err)
        idem_record_done(ret);
    return err;
}

enum err idem_take(struct idem *idem, struct store *s, int64_t item, int64_t made, struct why *why)
{
    struct idem_record r;
    int64_t was;
    if (!idem)
        return OK;
    enum err err = row_take(idem, s, &r, why);
    if (err)
        return err;
    if (strcmp(r.digest, idem->row.digest) != 0) {
        atomic_store(&idem->reused, true);
        why_set(why, "another request had this Idempotency-Key");
        err = ERR_INVALID;
    } else {
        err = s->ops->users->idem_made_get(s, r.id, item, &was, why);
        if (!err) {
            why_set(why, "this request has been done already");
            err = ERR_EXISTS;
        } else if (err == ERR_NOTFOUND) {
            why_clear(why);
            err = s->ops->users->idem_made_put(s, r.id, item, made, why);
        }
    }
    idem_record_done(&r);
    return err;
}

enum err idem_set(struct idem *idem, struct store *s, int64_t item, int64_t made, struct why *why)
{
    struct idem_record r;
    if (!idem)
        return OK;
    enum err err = s->ops->users->idem_find(s, idem->row.user_id, idem->row.key, &r, why);
    if (err)
        return err;
    err = s->ops->users->idem_made_put(s, r.id, item, made, why);
    idem_record_done(&r);
    return err;
}

/* ---- the answer --------------------------------------------------------------------------------
 */

struct keeping { /* of the write */
    struct idem *idem;
    int status;
    char *headers, *answer;
};

static enum err keep_run(struct store *s, void *arg, struct why *why)
{
    const struct keeping *k = arg;
    struct idem_record r;
    enum err err = row_take(k->idem, s, &r, why);
    if (err)
        return err;
    if (!r.answer && strcmp(r.digest, k->idem->row.digest) == 0) {
        const struct idem_record answer = {
            .id = r.id, .status = k->status, .headers = k->headers, .answer = k->answer
        };
        err = s->ops->users->idem_answer(s, &answer, why);
    }
    idem_record_done(&r);
    if (err)
        return err;
    return s->ops->users->idem_expire(s, k->idem->row.at_ms - IDEM_KEPT_MS, EXPIRE_MAX, why);
}

static void keep_done(void *arg, enum err err, const struct why *why)
{
    struct keeping *k = arg;
    (void)err;
    (void)why;
    idem_unref(k->idem);
    free(k->headers);
    free(k->answer);
    free(k);
}

void idem_keep(struct web_call *call)
{
    static const struct ledger_write write = { keep_run, keep_done };
    struct why why = { "" };
    bool good = call->status >= 200 && call->status < 300 && !call->output.failed &&
                call->output.len <= ANSWER_MAX;
    if (!call->idem || !good)
        return;
    struct keeping *k = mem_new(sizeof(*k));
    k->idem = idem_ref(call->idem);
    k->status = call->status;
    k->headers =
        mem_dupn(call->headers.data + call->idem->headers, call->headers.len - call->idem->headers);
    k->answer = mem_dupn(call->output.data, call->output.len);
    /* Without it the request is answered from what it has made, should it come again. */
    if (center_write(call->center, &write, k, &why))
        log_warn("web", "request %s: its answer is not kept: %s", call->request_id, why.text);
}
