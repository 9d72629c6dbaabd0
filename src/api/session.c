/* SPDX-License-Identifier: Apache-2.0 */
/* The database stores the digest of a token and never the token. A browser can hold several cookies
 * of one name, so each is looked up, up to a bound, until one is a live session. */
#include "api/session.h"
#include "api/accounts.h"
#include "api/cookie.h"
#include "api/password.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/secret.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_BYTES 32
#define TOKEN_CHARS (SESSION_TOKEN_SIZE - 1) /* of it in base64url */
#define SESSION_S (7 * 86400)
#define REMEMBERED_S (30 * 86400)
#define USERNAME_MAX 50
#define COOKIES_MAX 4 /* of one name that are looked at */

struct logins {
    pthread_mutex_t lock;
    struct throttle throttle; /* of a name from an address */
    struct rate_table rates;  /* of addresses, and of names */
};

struct logins *logins_new(void)
{
    struct logins *l = mem_new(sizeof(*l));
    pthread_mutex_init(&l->lock, NULL);
    secret_random(&l->rates.secret, sizeof(l->rates.secret));
    return l;
}

void logins_free(struct logins *l)
{
    if (!l)
        return;
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* ---- sessions ----------------------------------------------------------------------------------
 */

static void digest_of(struct slice token, char ret[65])
{
    unsigned char digest[32];
    sha256(token.p, token.n, digest);
    hex_text(digest, sizeof(digest), ret);
}

bool session_lives(const struct web_call *call, const struct session_record *r, int64_t now_ms)
{
    return r->expires_ms > now_ms && now_ms - r->used_ms < call->config->session_idle_ms;
}

/* The live session of that token. */
static enum err session_of(struct web_call *call, struct slice token, struct session_record *ret,
                           struct why *why)
{
    char digest[65];
    if (token.n != TOKEN_CHARS)
        return ERR_NOTFOUND;
    digest_of(token, digest);
    enum err err = call->db->ops->users->session_find(call->db, digest, ret, why);
    return err || session_lives(call, ret, clock_wall_ms()) ? err : ERR_NOTFOUND;
}

enum err session_find(struct web_call *call, struct why *why)
{
    if (!call->db) {
        why_set(why, "the database cannot be read");
        return ERR_STORE;
    }
    for (size_t i = 0; cookie_names[i]; i++) {
        struct slice rest = call->cookie, token;
        for (int n = 0; n < COOKIES_MAX && (token = cookie_next(&rest, cookie_names[i])).p; n++) {
            enum err err = session_of(call, token, &call->session, why);
            if (!err)
                err = call->db->ops->users->user_get(call->db, call->session.user_id, &call->user,
                                                     why);
            if (err != ERR_NOTFOUND)
                return err;
            why_clear(why);
        }
    }
    return ERR_NOTFOUND;
}

/* ---- log in ------------------------------------------------------------------------------------
 */

static void upgrade(struct web_call *call, const struct user_record *user, struct slice password)
{
    char hash[PASSWORD_HASH_SIZE];
    struct why why = { "" };
    enum err err = password_hash(password, hash);
    if (!err)
        err = account_upgrade(call->center, user->id, hash, &why);
    if (err)
        log_warn("web", "the password of user %lld stays a legacy hash: %s", (long long)user->id,
                 why.text[0] ? why.text : err_text(err));
}

static uint64_t source_key(const struct logins *l, uint64_t source)
{
    return rate_key(&l->rates, 'a', slice_of((const char *)&source, sizeof(source)));
}

struct rate_state logins_state(struct logins *l, uint64_t source, int quota)
{
    pthread_mutex_lock(&l->lock);
    struct rate_state x = rate_look(&l->rates, source_key(l, source), quota, clock_boot_ms());
    pthread_mutex_unlock(&l->lock);
    return x;
}

static bool is_peer(void *ctx, const struct session_record *r)
{
    const char **peer = ctx;
    if (strcmp(r->address, *peer) != 0)
        return true;
    *peer = NULL;
    return false;
}

/* Has the user logged in from there before? Then somebody else's guessing, from there or of this
 * name, is not the user's fault: what the pair has done itself still counts. */
static bool is_known(struct web_call *call, int64_t user_id)
{
    struct why why = { "" };
    const char *peer = call->peer;
    if (call->actor) /* who changes the password is logged in */
        return true;
    enum err err = user_id
                       ? call->db->ops->users->sessions_of(call->db, user_id, is_peer, &peer, &why)
                       : ERR_NOTFOUND;
    return !err && !peer;
}

/* ERR_BUSY: another try must wait for so long. */
static enum err must_wait(struct web_call *call, struct slice name, int64_t *ret_wait_ms,
                          struct why *why)
{
    struct logins *l = call->logins;
    const int quota = call->config->login_limit;
    const char *what = "of this user from this address";
    int64_t now_ms = clock_boot_ms();
    bool counts = quota > 0 && !is_known(call, call->user.id);
    pthread_mutex_lock(&l->lock);
    int64_t wait_ms = throttle_wait(&l->throttle, name, call->peer, now_ms);
    int64_t by_address =
        counts ? rate_look(&l->rates, source_key(l, call->source), quota, now_ms).wait_ms : 0;
    int64_t by_name =
        counts ? rate_look(&l->rates, rate_key(&l->rates, 'n', name), quota, now_ms).wait_ms : 0;
    pthread_mutex_unlock(&l->lock);
    if (by_address > wait_ms) {
        wait_ms = by_address;
        what = "from this address";
    }
    if (by_name > wait_ms) {
        wait_ms = by_name;
        what = "of this user";
    }
    if (wait_ms <= 0)
        return OK;
    *ret_wait_ms = wait_ms;
    why_set(why, "too many failed logins %s: wait %lld s", what, (long long)(wait_ms + 999) / 1000);
    return ERR_BUSY;
}

static void count_login(struct web_call *call, struct slice name, bool good)
{
    struct logins *l = call->logins;
    const int quota = call->config->login_limit;
    int64_t now_ms = clock_boot_ms();
    struct rate_state x;
    pthread_mutex_lock(&l->lock);
    if (good) {
        throttle_clear(&l->throttle, name, call->peer);
    } else {
        throttle_failed(&l->throttle, name, call->peer, now_ms);
        if (quota > 0) {
            (void)rate_take(&l->rates, source_key(l, call->source), quota, now_ms, &x);
            (void)rate_take(&l->rates, rate_key(&l->rates, 'n', name), quota, now_ms, &x);
        }
    }
    pthread_mutex_unlock(&l->lock);
}

enum { ALIKE_AMONG = 10000 }; /* users that are looked at for a name in another case */

struct alike {
    struct slice name;
    int64_t id; /* 0: none yet */
    int n;
};

static bool is_alike(void *ctx, const struct user_record *r)
{
    struct alike *a = ctx;
    if (r->username && slice_eq_nocase(a->name, r->username)) {
        a->id = r->id;
        a->n++;
    }
    return true;
}

/* MySQL's collation did not tell Admin from admin, and people are used to that: the exact name,
 * else the one that is equal but for the case of A to Z. Two such are nobody. */
static enum err find_user(struct web_call *call, struct slice name, struct why *why)
{
    char text[USERNAME_MAX * 4 + 1];
    const struct users_filter all = { .role = -1, .limit = ALIKE_AMONG };
    struct alike a = { .name = name };
    int64_t total;
    text_copy(text, sizeof(text), name);
    if (!call->db)
        return ERR_STORE;
    const struct store_users *users = call->db->ops->users;
    enum err err = users->user_find(call->db, text, &call->user, why);
    if (err != ERR_NOTFOUND)
        return err;
    err = users->users_page(call->db, &all, is_alike, &a, &total, why);
    if (err)
        return err;
    return a.n == 1 ? users->user_get(call->db, a.id, &call->user, why) : ERR_NOTFOUND;
}

static enum err wrong(struct why *why)
{
    why_set(why, "the user name or the password is wrong");
    return ERR_NOTFOUND;
}

/* It is nobody's call yet. */
static enum err too_often(struct web_call *call)
{
    user_record_done(&call->user);
    return ERR_BUSY;
}

enum err session_login(struct web_call *call, struct slice name, struct slice password,
                       int64_t *ret_wait_ms, struct why *why)
{
    if (utf8_units(name.p, name.n) > USERNAME_MAX || password.n > PASSWORD_BYTES_MAX)
        return wrong(why); /* no such user can exist */
    enum err err = find_user(call, name, why);
    if (err && err != ERR_NOTFOUND)
        return err;
    why_clear(why);
    if (!err)
        name = slice_text(call->user.username); /* guesses count for the user, however written */
    if (must_wait(call, name, ret_wait_ms, why))
        return too_often(call);
    bool legacy, good = password_matches(err ? NULL : &call->user, password, &legacy);
    count_login(call, name, good);
    if (!good) {
        user_record_done(&call->user);
        log_warn("web", "failed login from %s", call->peer);
        why_clear(why);
        return wrong(why);
    }
    if (legacy)
        upgrade(call, &call->user, password);
    return OK;
}

enum err session_set_password(struct web_call *call, struct slice old, struct slice new,
                              int64_t *ret_wait_ms, struct why *why)
{
    struct slice name = slice_text(call->user.username);
    if (must_wait(call, name, ret_wait_ms, why))
        return ERR_BUSY;
    bool legacy, good = old.n <= PASSWORD_BYTES_MAX && password_matches(&call->user, old, &legacy);
    count_login(call, name, good);
    if (!good) {
        why_set(why, "the old password is wrong");
        return ERR_INVALID;
    }
    char hash[PASSWORD_HASH_SIZE], column[65];
    enum err err = password_hash(new, hash);
    if (err)
        return err;
    password_shared(new, call->db->md5_passwords, column);
    const struct account_change change = { .user_id = call->user.id,
                                           .version = -1,
                                           .argon2 = hash,
                                           .column = call->config->write_passwords ? column : NULL,
                                           .session = call->session.digest };
    return account_change(call->center, &change, audit_new(call, "user.password"), why);
}

enum err session_open(struct web_call *call, bool keep, const char *cookie, bool secure,
                      struct why *why)
{
    struct session_record *s = &call->session;
    int64_t age_s = keep ? REMEMBERED_S : SESSION_S;
    char token[SESSION_TOKEN_SIZE];
    *s = (struct session_record){ .user_id = call->user.id, .created_ms = clock_wall_ms() };
    s->used_ms = s->created_ms;
    secret_token(token, sizeof(token), TOKEN_BYTES);
    digest_of(slice_text(token), s->digest);
    s->expires_ms = s->created_ms + age_s * 1000;
    snprintf(s->address, sizeof(s->address), "%s", call->peer);
    enum err err = account_log_in(call->center, s, audit_session(call, "session.login"), why);
    if (!err)
        cookie_set(call, cookie, token, keep ? age_s : -1, secure);
    return err;
}

/* ---- log out -----------------------------------------------------------------------------------
 */

/* Its user may be another than the asker: the cookie is all that a logout needs. */
static enum err log_out(struct web_call *call, const struct session_record *s, struct why *why)
{
    if (!call->user.id && call->db->ops->users->user_get(call->db, s->user_id, &call->user, NULL))
        call->user.id = 0; /* gone meanwhile */
    struct audit *audit = audit_session(call, "session.logout");
    return account_log_out(call->center, s->digest, audit, why);
}

enum err session_end(struct web_call *call, struct why *why)
{
    for (size_t i = 0; cookie_names[i]; i++) {
        struct slice rest = call->cookie, token;
        for (int n = 0; n < COOKIES_MAX && (token = cookie_next(&rest, cookie_names[i])).p; n++) {
            struct session_record s;
            if (!call->db || session_of(call, token, &s, why)) {
                why_clear(why);
                continue;
            }
            enum err err = log_out(call, &s, why);
            if (err)
                return err;
        }
    }
    return OK;
}
