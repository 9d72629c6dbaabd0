/* SPDX-License-Identifier: Apache-2.0 */
/* flight.c - the rules of the flight recorder: when a word is written, when it is given back, and
 * when a dead life's words may be believed.
 *
 * A store with release order is enough: the reader is another process after the writer's death, and
 * what has been stored in shared memory is not lost with a process. */
#include "sched/flight.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x314c4145504c4650u /* "PFLPEAL1" in a little-endian file */
#define VERSION 1
#define STATE_BITS 8
#define ID_END ((int64_t)1 << FLIGHT_ID_BITS)

static uint64_t word_of(int64_t log_id, enum flight_state state)
{
    return (uint64_t)log_id << STATE_BITS | state;
}

void flight_make(struct flight_head *h, uint32_t slots, const char *boot, const char *id)
{
    h->version = VERSION;
    h->slots = slots;
    text_copy(h->boot, sizeof(h->boot), slice_text(boot));
    text_copy(h->id, sizeof(h->id), slice_text(id));
    h->magic = MAGIC;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool same_text(const char *field, size_t size, const char *text)
{
    size_t n = strlen(text);
    return n < size && memcmp(field, text, n + 1) == 0;
}

static bool head_believed(const struct flight_head *h, size_t bytes,
                          const struct watermark *watermark, const char *boot, struct why *why)
{
    const char *fault = NULL;
    if (bytes < FLIGHT_HEAD || h->magic != MAGIC)
        fault = "it is not one, or was never finished";
    else if (h->version != VERSION)
        fault = "another release wrote it";
    else if (h->slots == 0 || bytes != flight_bytes(h->slots))
        fault = "its size is wrong";
    else if (!watermark->recorder[0] || !same_text(h->id, sizeof(h->id), watermark->recorder))
        fault = "the database names another one";
    else if (!boot[0] || !same_text(h->boot, sizeof(h->boot), boot))
        fault = "the machine was started since";
    else if (watermark->renewals < 0 || (uint64_t)watermark->renewals < h->renewals)
        fault = "the database is older than it";
    else if (h->without_word)
        fault = "it was full, and runs were sent that it does not know";
    if (fault)
        why_set(why, "%s", fault);
    return !fault;
}

/* What the map of states points to: a state by its place. */
static char places[FLIGHT_ACCEPTED + 1];

static bool words_read(const flight_word *words, uint32_t slots, int64_t last_id,
                       struct flight_said *said, struct why *why)
{
    for (uint32_t i = 0; i < slots; i++) {
        uint64_t word = atomic_load_explicit(&words[i], memory_order_relaxed);
        if (!word)
            continue;
        uint64_t id = word >> STATE_BITS, state = word & ((1u << STATE_BITS) - 1);
        bool known = state == FLIGHT_LEAVING || state == FLIGHT_ACCEPTED;
        if (!known || id == 0 || id >= (uint64_t)ID_END) {
            why_set(why, "word %u cannot be understood", i);
            return false;
        }
        if ((int64_t)id > last_id) {
            why_set(why, "it knows log id %llu, which the database has not given yet",
                    (unsigned long long)id);
            return false;
        }
        if (map_set(&said->states, id, &places[state])) {
            why_set(why, "log id %llu stands in it twice", (unsigned long long)id);
            return false;
        }
        said->leaving += state == FLIGHT_LEAVING;
        said->accepted += state == FLIGHT_ACCEPTED;
    }
    return true;
}

bool flight_read(const void *file, size_t bytes, const struct watermark *watermark,
                 const char *boot, struct flight_said *ret, struct why *why)
{
    *ret = (struct flight_said){ 0 };
    map_init(&ret->states);
    if (!watermark->recorder[0])
        why_set(why, "the last process had none");
    else if (!file)
        why_set(why, "there is no file with its id");
    else if (head_believed(file, bytes, watermark, boot, why))
        ret->believed =
            words_read((const flight_word *)((const char *)file + FLIGHT_HEAD),
                       ((const struct flight_head *)file)->slots, watermark->last_id, ret, why);
    return ret->believed;
}

enum flight_known flight_known(const struct flight_said *said, int64_t log_id)
{
    if (!said->believed || log_id <= 0 || log_id >= ID_END)
        return FLIGHT_KNOWS_NOTHING;
    const char *place = map_find(&said->states, (uint64_t)log_id);
    if (!place)
        return FLIGHT_KNOWS_UNSENT;
    return place == &places[FLIGHT_ACCEPTED] ? FLIGHT_KNOWS_ACCEPTED : FLIGHT_KNOWS_LEFT;
}

void flight_said_done(struct flight_said *said)
{
    map_done(&said->states);
}

/* ---- slots ----------------------------------------------------------------------------------- */

void flight_init(struct flight *f, struct flight_head *head)
{
    *f = (struct flight){ .head = head };
    if (!head)
        return;
    f->words = flight_words(head);
    f->slots = head->slots;
    f->cside = head->slots;
    f->side = mem_new(f->cside * sizeof(*f->side));
}

void flight_done(struct flight *f)
{
    free(f->real.back);
    free(f->more.back);
    free(f->beyond);
    free(f->side);
    free(f->told);
    *f = (struct flight){ 0 };
}

static void push(uint32_t **array, uint32_t *n, uint32_t *cap, uint32_t value)
{
    if (*n == *cap) {
        *cap = *cap ? *cap * 2 : 1024;
        *array = mem_resize(*array, *cap * sizeof(**array));
    }
    (*array)[(*n)++] = value;
}

/* Slots from f->slots on lie in ordinary memory: words that no start will read, so that a run
 * without one is counted and given back by the same rules. */
static flight_word *at(struct flight *f, uint32_t slot)
{
    return slot < f->slots ? &f->words[slot] : &f->beyond[slot - f->slots];
}

static uint32_t beyond_new(struct flight *f)
{
    if (f->more.nback)
        return f->slots + f->more.back[--f->more.nback];
    if (f->more.fresh == f->cbeyond) {
        f->cbeyond = f->cbeyond ? f->cbeyond * 2 : 64;
        f->beyond = mem_resize(f->beyond, f->cbeyond * sizeof(*f->beyond));
        f->cside = f->slots + f->cbeyond;
        f->side = mem_resize(f->side, f->cside * sizeof(*f->side));
    }
    return f->slots + f->more.fresh++;
}

static uint32_t slot_new(struct flight *f, int64_t log_id)
{
    if (log_id > 0 && log_id < ID_END) {
        f->in_use++;
        if (f->real.nback)
            return f->real.back[--f->real.nback];
        if (f->real.fresh < f->slots)
            return f->real.fresh++;
        f->in_use--;
    }
    f->without_word++; /* before the send: the file proves nothing while such a run is out */
    atomic_store_explicit(&f->head->without_word, 1, memory_order_release);
    return beyond_new(f);
}

static void slot_free(struct flight *f, uint32_t slot)
{
    atomic_store_explicit(at(f, slot), 0, memory_order_release);
    f->side[slot].told = false;
    if (slot < f->slots) {
        f->in_use--;
        push(&f->real.back, &f->real.nback, &f->real.cback, slot);
    } else {
        f->without_word--;
        push(&f->more.back, &f->more.nback, &f->more.cback, slot - f->slots);
    }
}

/* Does the place still hold the word of this run? */
static bool holds(struct flight *f, flight_place place, int64_t log_id)
{
    if (!f->head || !place)
        return false;
    uint64_t word = atomic_load_explicit(at(f, place - 1), memory_order_relaxed);
    return word && word >> STATE_BITS == word_of(log_id, 0) >> STATE_BITS;
}

/* ---- writing --------------------------------------------------------------------------------- */

void flight_leaving(struct flight *f, flight_place *place, int64_t log_id, uint64_t seq)
{
    if (!f->head)
        return;
    if (!holds(f, *place, log_id))
        *place = slot_new(f, log_id) + 1;
    struct flight_slot *side = &f->side[*place - 1];
    side->seq = seq;
    side->told = false; /* what was written before this send says nothing of it */
    atomic_store_explicit(at(f, *place - 1), word_of(log_id, FLIGHT_LEAVING), memory_order_release);
}

void flight_accepted(struct flight *f, flight_place place, int64_t log_id)
{
    if (holds(f, place, log_id))
        atomic_store_explicit(at(f, place - 1), word_of(log_id, FLIGHT_ACCEPTED),
                              memory_order_release);
}

void flight_unsent(struct flight *f, flight_place place, int64_t log_id)
{
    if (holds(f, place, log_id))
        slot_free(f, place - 1);
}

void flight_told(struct flight *f, flight_place place, int64_t log_id, uint64_t seq)
{
    if (!holds(f, place, log_id))
        return;
    struct flight_slot *side = &f->side[place - 1];
    if (seq < side->seq || side->told)
        return;
    side->told = true;
    push(&f->told, &f->ntold, &f->ctold, place - 1);
}

void flight_renewed(struct flight *f, uint64_t renewals)
{
    if (!f->head)
        return;
    atomic_store_explicit(&f->head->renewals, renewals, memory_order_release);
    for (uint32_t i = 0; i < f->ntold; i++)
        if (f->side[f->told[i]].told) /* not sent again meanwhile, nor given back */
            slot_free(f, f->told[i]);
    f->ntold = 0;
    if (f->without_word == 0)
        atomic_store_explicit(&f->head->without_word, 0, memory_order_release);
}
