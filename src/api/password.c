/* SPDX-License-Identifier: Apache-2.0 */
/* A check costs the same 40 ms whether the user exists, the hash is of the old kind or the password
 * is wrong, so the time of an answer tells nothing. Failures are counted in a table of fixed size,
 * because an attacker chooses the names. */
#include "api/password.h"
#include "base/map.h"
#include "base/md5.h"
#include "base/mem.h"
#include "base/secret.h"
#include <argon2.h>
#include <string.h>

/* OWASP's second choice of equal strength: 19 MiB, two passes, one lane. */
#define ARGON_KIB 19456
#define ARGON_PASSES 2
#define ARGON_KIB_MAX (256 * 1024) /* of a stored hash: another program may have written it */
#define ARGON_PASSES_MAX 16

enum err password_check(struct slice password, int max, struct why *why)
{
    size_t n = utf8_units(password.p, password.n);
    if (utf8_valid(password.p, password.n) && slice_trim(password).n == password.n &&
        n >= PASSWORD_MIN && n <= (size_t)max && password.n <= PASSWORD_BYTES_MAX)
        return OK;
    why_set(why, "password: must have %d-%d characters, with no blank at either end", PASSWORD_MIN,
            max);
    return ERR_INVALID;
}

enum err password_hash(struct slice password, char ret[PASSWORD_HASH_SIZE])
{
    unsigned char salt[16];
    secret_random(salt, sizeof(salt));
    int rc = argon2id_hash_encoded(ARGON_PASSES, ARGON_KIB, 1, password.p, password.n, salt,
                                   sizeof(salt), 32, ret, PASSWORD_HASH_SIZE);
    return rc == ARGON2_OK ? OK : ERR_NOMEM;
}

void password_shared(struct slice password, bool old, char ret[65])
{
    unsigned char digest[32];
    if (old)
        md5(password.p, password.n, digest);
    else
        sha256(password.p, password.n, digest);
    hex_text(digest, old ? 16 : 32, ret);
}

/* The number behind name in a PHC string, -1 if there is none. */
static int64_t phc_number(const char *phc, const char *name)
{
    const char *at = strstr(phc, name);
    if (!at)
        return -1;
    at += strlen(name);
    int64_t v;
    return parse_i64(slice_of(at, strspn(at, "0123456789")), &v) ? v : -1;
}

static bool argon2_matches(const char *phc, struct slice password)
{
    int64_t kib = phc_number(phc, "$m="), passes = phc_number(phc, ",t=");
    if (kib < 8 || kib > ARGON_KIB_MAX || passes < 1 || passes > ARGON_PASSES_MAX)
        return false;
    return argon2id_verify(phc, password.p, password.n) == ARGON2_OK;
}

/* As much work as a check against a hash of ours. */
static void waste_time(struct slice password)
{
    char hash[PASSWORD_HASH_SIZE];
    (void)!password_hash(password, hash);
}

static bool legacy_matches(const char *column, struct slice password)
{
    unsigned char digest[32];
    char hex[65];
    size_t n = strlen(column);
    if (n == 32) {
        md5(password.p, password.n, digest);
        hex_text(digest, 16, hex);
    } else if (n == 64) {
        sha256(password.p, password.n, digest);
        hex_text(digest, 32, hex);
    } else {
        return false;
    }
    return secret_equal(slice_text(column), slice_of(hex, n));
}

bool password_matches(const struct user_record *user, struct slice password, bool *ret_upgrade)
{
    *ret_upgrade = false;
    if (user && user->argon2)
        return argon2_matches(user->argon2, password);
    waste_time(password);
    if (!user || !user->password || !legacy_matches(user->password, password))
        return false;
    *ret_upgrade = true;
    return true;
}

void password_random(char ret[17])
{
    /* 32 symbols that are not mistaken for each other: 80 bits */
    static const char symbols[] = "abcdefghijkmnpqrstuvwxyz23456789";
    unsigned char random[16];
    secret_random(random, sizeof(random));
    for (size_t i = 0; i < sizeof(random); i++)
        ret[i] = symbols[random[i] % 32];
    ret[16] = '\0';
}

/* ---- throttle ----------------------------------------------------------------------------------
 */

#define FREE_TRIES 5
#define WAIT_MAX_MS (5 * 60 * 1000)
#define FORGET_MS (10 * 60 * 1000)
#define PROBES 8

static uint64_t key_of(struct slice user, const char *address)
{
    uint64_t key = hash_u64(hash_text(user) ^ hash_u64(hash_text(slice_text(address)) + 1));
    return key ? key : 1;
}

static bool stale(const struct throttle_slot *s, int64_t now_ms)
{
    return s->key == 0 || now_ms - s->touched_ms > FORGET_MS;
}

static const struct throttle_slot *slot_of(const struct throttle *t, uint64_t key)
{
    for (size_t i = 0; i < PROBES; i++) {
        const struct throttle_slot *s = &t->slots[(key + i) % THROTTLE_SLOTS];
        if (s->key == key)
            return s;
    }
    return NULL;
}

int64_t throttle_wait(const struct throttle *t, struct slice user, const char *address,
                      int64_t now_ms)
{
    const struct throttle_slot *s = slot_of(t, key_of(user, address));
    if (!s || stale(s, now_ms) || s->until_ms <= now_ms)
        return 0;
    return s->until_ms - now_ms;
}

void throttle_failed(struct throttle *t, struct slice user, const char *address, int64_t now_ms)
{
    uint64_t key = key_of(user, address);
    struct throttle_slot *s = (struct throttle_slot *)slot_of(t, key);
    for (size_t i = 0; !s && i < PROBES; i++) /* a free one */
        if (stale(&t->slots[(key + i) % THROTTLE_SLOTS], now_ms))
            s = &t->slots[(key + i) % THROTTLE_SLOTS];
    if (!s) { /* or the one touched longest ago */
        s = &t->slots[key % THROTTLE_SLOTS];
        for (size_t i = 1; i < PROBES; i++)
            if (t->slots[(key + i) % THROTTLE_SLOTS].touched_ms < s->touched_ms)
                s = &t->slots[(key + i) % THROTTLE_SLOTS];
    }
    if (s->key != key || stale(s, now_ms))
        *s = (struct throttle_slot){ .key = key };
    s->failures++;
    s->touched_ms = now_ms;
    int over = s->failures - FREE_TRIES;
    int64_t wait = over < 0 ? 0 : over > 8 ? WAIT_MAX_MS : 1000ll << over;
    s->until_ms = now_ms + wait;
}

void throttle_clear(struct throttle *t, struct slice user, const char *address)
{
    struct throttle_slot *s = (struct throttle_slot *)slot_of(t, key_of(user, address));
    if (s)
        *s = (struct throttle_slot){ 0 };
}
