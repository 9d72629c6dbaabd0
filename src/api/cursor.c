/* SPDX-License-Identifier: Apache-2.0 */
/* Three numbers of eight bytes (filter, sort key, id), the text of the sort key, the HMAC of all
 * that: 32 bytes and the text, in base64url. */
#include "api/cursor.h"
#include "api/form.h"
#include "base/secret.h"
#include <string.h>

#define NUMBERS 24
#define MAC 8

static void put(unsigned char *to, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        to[i] = (unsigned char)(v >> (56 - 8 * i));
}

static uint64_t get(const unsigned char *from)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++)
        v = v << 8 | from[i];
    return v;
}

static uint64_t hash(const char *name, size_t name_n, const char *value)
{
    unsigned char parts[64], whole[32];
    sha256(name, name_n, parts);
    sha256(value, strlen(value), parts + 32);
    sha256(parts, sizeof(parts), whole);
    return get(whole);
}

/* A sum does not depend on the order, and one parameter given twice is not the same as none. */
uint64_t cursor_filter(struct slice path, const struct form *query)
{
    static const char *const others[] = { "cursor", "limit", "fields" };
    uint64_t sum = hash(path.n ? path.p : "", path.n, "");
    for (size_t i = 0; i < query->n; i++) {
        const struct form_item *item = &query->items[i];
        bool counts = true;
        for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++)
            counts = counts && strcmp(item->name, others[k]) != 0;
        if (counts)
            sum += hash(item->name, strlen(item->name), item->value);
    }
    return sum;
}

static void mac(const unsigned char *bytes, size_t n, const unsigned char *key,
                unsigned char to[MAC])
{
    unsigned char whole[32];
    hmac_sha256(slice_of((const char *)key, CURSOR_KEY_SIZE), bytes, n, whole);
    memcpy(to, whole, MAC);
}

void cursor_key(const char *token, int64_t database, unsigned char ret[CURSOR_KEY_SIZE])
{
    unsigned char bytes[16] = "cursor";
    put(bytes + 8, (uint64_t)database);
    hmac_sha256(slice_text(token), bytes, sizeof(bytes), ret);
}

void cursor_write(const struct cursor *c, uint64_t filter, const unsigned char key[CURSOR_KEY_SIZE],
                  char to[CURSOR_SIZE])
{
    unsigned char bytes[NUMBERS + CURSOR_TEXT_MAX + MAC];
    size_t n = utf8_cut(c->text, strnlen(c->text, CURSOR_TEXT_MAX), CURSOR_TEXT_MAX);
    put(bytes, filter);
    put(bytes + 8, (uint64_t)c->number);
    put(bytes + 16, (uint64_t)c->id);
    memcpy(bytes + NUMBERS, c->text, n);
    n += NUMBERS;
    mac(bytes, n, key, bytes + n);
    base64url_write(bytes, n + MAC, to);
}

enum err cursor_read(struct slice text, uint64_t filter, const unsigned char key[CURSOR_KEY_SIZE],
                     struct cursor *ret, struct why *why)
{
    unsigned char bytes[NUMBERS + CURSOR_TEXT_MAX + MAC], wanted[MAC];
    size_t n = 0;
    bool good = base64url_read(text, bytes, sizeof(bytes), &n) && n >= NUMBERS + MAC;
    if (good) {
        n -= MAC;
        mac(bytes, n, key, wanted);
        good = secret_equal(slice_of((char *)wanted, MAC), slice_of((char *)bytes + n, MAC));
    }
    if (!good) {
        why_set(why, "cursor: this is none that this center has given since it was started; ask "
                     "for the first page again");
        return ERR_INVALID;
    }
    if (get(bytes) != filter) {
        why_set(why, "cursor: it belongs to a list with other filters");
        return ERR_INVALID;
    }
    *ret = (struct cursor){ .number = (int64_t)get(bytes + 8), .id = (int64_t)get(bytes + 16) };
    memcpy(ret->text, bytes + NUMBERS, n - NUMBERS);
    return OK;
}
