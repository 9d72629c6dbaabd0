/* SPDX-License-Identifier: Apache-2.0 */
/* answers.c - a small table under one lock. Who finds an answer that is too old makes a new one;
 * who asks meanwhile gets the old one, or makes one too if there is none. Nobody waits. */
#include "api/answers.h"
#include "base/mem.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define STALE_MS 5000 /* an answer is given so long while a new one is made */

struct answer {
    char *key, *text;
    size_t key_n, n;
    int64_t made_ms, asked_ms;
    bool making;
};

struct answers {
    pthread_mutex_t lock;
    struct answer table[ANSWERS_MAX];
};

struct answers *answers_new(void)
{
    struct answers *a = mem_new(sizeof(*a));
    pthread_mutex_init(&a->lock, NULL);
    return a;
}

void answers_free(struct answers *a)
{
    if (!a)
        return;
    for (int i = 0; i < ANSWERS_MAX; i++) {
        free(a->table[i].key);
        free(a->table[i].text);
    }
    pthread_mutex_destroy(&a->lock);
    free(a);
}

static bool is_key(const struct answer *one, struct slice key)
{
    return one->key && one->key_n == key.n && memcmp(one->key, key.p, key.n) == 0;
}

static struct answer *find(struct answers *a, struct slice key)
{
    for (int i = 0; i < ANSWERS_MAX; i++)
        if (is_key(&a->table[i], key))
            return &a->table[i];
    return NULL;
}

/* A free place, or that of the answer that was asked for longest ago. */
static struct answer *place(struct answers *a, struct slice key, int64_t boot_ms)
{
    struct answer *oldest = &a->table[0];
    for (int i = 0; i < ANSWERS_MAX; i++) {
        struct answer *one = &a->table[i];
        if (!one->key || (oldest->key && one->asked_ms < oldest->asked_ms))
            oldest = one;
    }
    free(oldest->key);
    free(oldest->text);
    *oldest = (struct answer){ .key = mem_dupn(key.p, key.n), .key_n = key.n, .asked_ms = boot_ms };
    return oldest;
}

bool answers_take(struct answers *a, struct slice key, int64_t boot_ms, struct buf *out)
{
    if (key.n > ANSWERS_KEY_MAX)
        return false;
    pthread_mutex_lock(&a->lock);
    struct answer *one = find(a, key);
    if (!one)
        one = place(a, key, boot_ms);
    one->asked_ms = boot_ms;
    int64_t age = boot_ms - one->made_ms;
    bool good = one->text && age < (one->making ? STALE_MS : ANSWERS_MS);
    if (good)
        buf_add(out, one->text, one->n);
    else
        one->making = true;
    pthread_mutex_unlock(&a->lock);
    return good;
}

void answers_put(struct answers *a, struct slice key, int64_t boot_ms, struct slice answer)
{
    if (key.n > ANSWERS_KEY_MAX)
        return;
    pthread_mutex_lock(&a->lock);
    struct answer *one = find(a, key);
    if (!one)
        one = place(a, key, boot_ms);
    free(one->text);
    one->text = mem_dupn(answer.n ? answer.p : "", answer.n);
    one->n = answer.n;
    one->made_ms = boot_ms;
    one->making = false;
    pthread_mutex_unlock(&a->lock);
}

void answers_not(struct answers *a, struct slice key)
{
    pthread_mutex_lock(&a->lock);
    struct answer *one = find(a, key);
    if (one)
        one->making = false;
    pthread_mutex_unlock(&a->lock);
}
