/* SPDX-License-Identifier: Apache-2.0 */
/* front_limits.c - how many requests a token, a session or an address may make. They are counted
 * before a worker is taken, so the token or session is only a text: until an answer has shown that
 * it belongs to a user, its requests count as those of their address. Otherwise each token of a
 * flood of invented ones would have a limit of its own. */
#include "api/front_internal.h"
#include "api/cookie.h"
#include "api/session.h"
#include "base/clock.h"
#include <strings.h>

static struct slice bearer_of(const struct web_call *call)
{
    struct slice a = call->authorization;
    bool bearer = a.n > 7 && strncasecmp(a.p, "Bearer ", 7) == 0;
    return bearer ? slice_trim(slice_of(a.p + 7, a.n - 7)) : slice_of(NULL, 0);
}

static struct slice session_of(const struct web_call *call)
{
    for (size_t i = 0; cookie_names[i]; i++) {
        struct slice rest = call->cookie, value = cookie_next(&rest, cookie_names[i]);
        if (value.p)
            return value;
    }
    return slice_of(NULL, 0);
}

static bool is_login(const struct web_call *call)
{
    const struct web_route *row = call->match.row;
    return row && row->class == WEB_PASSWORD && row->permission == PERM_PUBLIC;
}

/* Which policy holds for the call. */
static void rate_policy(struct web *w, struct web_call *call)
{
    struct call_rate *r = &call->rate;
    struct slice token = bearer_of(call), session = session_of(call);
    r->stranger = true;
    if (is_login(call)) {
        r->name = "login";
        r->quota = w->config->login_limit;
    } else if (token.n) {
        r->name = "token";
        r->quota = w->config->token_limit;
        r->key = rate_key(&w->rates, 't', token);
    } else {
        r->name = "session";
        r->quota = w->config->session_limit;
        r->key = session.n ? rate_key(&w->rates, 's', session) : 0;
    }
    r->stranger = !r->key || !rate_known(&w->rates, r->key);
    if (r->quota <= 0 || !call->match.table->problems)
        r->name = NULL;
}

/* Logins are counted by their failures, where they are looked at. */
bool web_rate_admit(struct web *w, struct web_call *call)
{
    struct call_rate *r = &call->rate;
    struct slice source = slice_of((const char *)&call->source, sizeof(call->source));
    rate_policy(w, call);
    if (!r->name)
        return true;
    if (is_login(call)) {
        r->state = logins_state(w->logins, call->source, r->quota);
        return true;
    }
    uint64_t key = r->stranger ? rate_key(&w->rates, 'a', source) : r->key;
    return rate_take(&w->rates, key, r->quota, clock_boot_ms(), &r->state);
}

void web_rate_answer(struct web *w, struct web_call *call)
{
    struct call_rate *r = &call->rate;
    if (!r->name)
        return;
    if (is_login(call)) {
        r->state = logins_state(w->logins, call->source, r->quota);
    } else if (r->key && r->stranger && call->user.id) {
        rate_keep(&w->rates, r->key, r->quota, clock_boot_ms());
        (void)rate_take(&w->rates, r->key, r->quota, clock_boot_ms(), &r->state);
    }
    buf_printf(&call->headers,
               "RateLimit: \"%s\";r=%d;t=%lld\r\nRateLimit-Policy: \"%s\";q=%d;w=%d\r\n", r->name,
               r->state.left, (long long)(r->state.full_ms + 999) / 1000, r->name, r->quota,
               RATE_WINDOW_S);
}
