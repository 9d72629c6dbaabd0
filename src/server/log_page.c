/* SPDX-License-Identifier: Apache-2.0 */
/* One reading of an executor's answer, for those who wait for it and those who do not. */
#include "server/log_page.h"
#include "base/mem.h"

static enum err unheard(const struct transport_call *call, const struct call_result *r,
                        const char *address, struct why *why)
{
    if (r->outcome == CALL_NOT_SENT && call->err == ERR_INVALID) { /* it is no address */
        why_set(why, "%.*s", (int)r->msg.n, r->msg.p);
        return ERR_INVALID;
    }
    if (r->outcome == CALL_FULL) {
        why_set(why, "too many calls to %s are under way, try again", address);
        return ERR_FULL;
    }
    why_set(why, "the executor at %s cannot be asked for the log: %.*s", address, (int)r->msg.n,
            r->msg.n ? r->msg.p : "");
    return ERR_NET;
}

static enum err refused(const struct call_result *r, struct why *why)
{
    if (r->msg.n)
        why_set(why, "the executor answered: %.*s", (int)utf8_cut(r->msg.p, r->msg.n, 300),
                r->msg.p);
    else
        why_set(why, "the executor answered: code %d without a message", r->code);
    return ERR_NET;
}

enum err log_page_of(const struct transport_call *call, const struct transport_page *page,
                     const struct call_result *r, const char *address, int from_line,
                     struct center_log *ret, struct why *why)
{
    if (r->outcome != CALL_ANSWERED)
        return unheard(call, r, address, why);
    if (r->code != 200)
        return refused(r, why);
    if (page->present) {
        ret->from_line = page->from_line;
        ret->to_line = page->to_line;
        ret->is_end = page->is_end;
        ret->n = page->content.n;
        ret->content = mem_dupn(page->content.n ? page->content.p : "", page->content.n);
    } else { /* an executor without logs sends null for the page */
        ret->from_line = from_line;
        ret->to_line = from_line > 0 ? from_line - 1 : 0;
        ret->content = mem_dup("");
    }
    return OK;
}
