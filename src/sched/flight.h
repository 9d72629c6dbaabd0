/* SPDX-License-Identifier: Apache-2.0 */
/* flight.h - the flight recorder: what a center that was killed had sent.
 *
 * Memory that outlives the process but not the kernel (the driver maps a file of tmpfs, the
 * simulation has an array) holds one word for each run that is out: its log id and how far it is
 * known to have come. A word is written before the send exists, by one store, and given back once
 * the database says as much. The next process reads the words: a planned row without one was
 * certainly not sent, wherever the watermark stands.
 *
 * This file has the rules and touches nothing but the memory that it is given. The protocol is
 * docs/model/ledger.pml with -DRECORDER; when a file may be believed: flight_read. */
#ifndef PEAL_SCHED_FLIGHT_H
#define PEAL_SCHED_FLIGHT_H

#include <stdatomic.h>
#include "base/map.h"
#include "base/why.h"
#include "model/model.h"

#define FLIGHT_SLOTS (1u << 18) /* more than the planned runs that memory may hold */
#define FLIGHT_HEAD 4096        /* bytes before the words */
#define FLIGHT_ID_BITS 55       /* larger log ids get no word */

typedef _Atomic uint64_t flight_word; /* 0 free, else log id << 8 | enum flight_state */

enum flight_state {
    FLIGHT_LEAVING = 1,  /* a /run with this id may have arrived */
    FLIGHT_ACCEPTED = 2, /* an executor said that it took it */
};

struct flight_head { /* the first page of the file; the words follow at FLIGHT_HEAD */
    uint64_t magic;
    uint32_t version, slots;
    char boot[40];             /* the kernel's boot id: an older state than this boot's is none */
    char id[40];               /* as in struct watermark */
    _Atomic uint64_t renewals; /* of the watermark that have been heard; written before the words
                                * that they cover are freed */
    _Atomic uint64_t without_word; /* 1: runs may be out of which no word tells */
};

static inline flight_word *flight_words(struct flight_head *h)
{
    return (flight_word *)((char *)h + FLIGHT_HEAD);
}

static inline size_t flight_bytes(uint32_t slots)
{
    return FLIGHT_HEAD + (size_t)slots * sizeof(flight_word);
}

/* Begin a file in zeroed memory of flight_bytes(slots). id has RECORDER_ID_SIZE - 1 characters. */
void flight_make(struct flight_head *h, uint32_t slots, const char *boot, const char *id);

/* ---- reading: what the last life says ---------------------------------------------------------
 */

enum flight_known {
    FLIGHT_KNOWS_NOTHING, /* ask the watermark */
    FLIGHT_KNOWS_UNSENT,
    FLIGHT_KNOWS_LEFT, /* may have arrived */
    FLIGHT_KNOWS_ACCEPTED,
    FLIGHT_NOT_ASKED, /* the row itself says all: what is planned has not been sent */
};

struct flight_said {
    bool believed;
    struct map states; /* log id -> enum flight_state */
    int leaving, accepted;
};

/* May the file be believed? file has bytes of it, private to the caller, aligned as a word; NULL:
 * there is none. watermark is what the database says, boot this kernel's boot id. If not, why says
 * which rule failed and every answer is FLIGHT_KNOWS_NOTHING. ret is always to be given to
 * flight_said_done. */
bool flight_read(const void *file, size_t bytes, const struct watermark *watermark,
                 const char *boot, struct flight_said *ret, struct why *why);
enum flight_known flight_known(const struct flight_said *said, int64_t log_id);
void flight_said_done(struct flight_said *said);

/* ---- writing: one life's file, the scheduler's thread ------------------------------------------
 */

struct flight {
    struct flight_head *head; /* NULL: no recorder; every call does nothing */
    flight_word *words;
    uint32_t slots;
    struct flight_pool { /* free slots: those given back, then those never used */
        uint32_t *back;
        uint32_t nback, cback, fresh;
    } real, more; /* more: runs that found no slot, their words lie in beyond */
    flight_word *beyond;
    struct flight_slot {
        uint64_t seq; /* of the batch that gathered when the word was last written */
        bool told;    /* the database says as much; goes with the next renewal */
    } * side;
    uint32_t cbeyond, cside;
    uint32_t *told; /* slots to look at when the next renewal is heard */
    uint32_t ntold, ctold;
    int in_use, without_word;
};

/* A run's place, kept by the run: 0 = none. It may be another's meanwhile; the word says whose. */
typedef uint32_t flight_place;

void flight_init(struct flight *f, struct flight_head *head); /* head outlives f, or NULL */
void flight_done(struct flight *f);
/* Before each /run with this id can exist. seq: of the batch that gathers now. */
void flight_leaving(struct flight *f, flight_place *place, int64_t log_id, uint64_t seq);
/* The answer to the /run is yes. */
void flight_accepted(struct flight *f, flight_place place, int64_t log_id);
/* Nothing of the last /run has left, nor of an earlier one: the word goes at once. */
void flight_unsent(struct flight *f, flight_place place, int64_t log_id);
/* A change of the run is on disk that says its end, or was taken while no /run of it was under way.
 * seq: of the batch it was taken with; one older than the last word says nothing of that send. */
void flight_told(struct flight *f, flight_place place, int64_t log_id, uint64_t seq);
/* The renewal with this number has been heard: the number, then the words that it covers. */
void flight_renewed(struct flight *f, uint64_t renewals);

#endif
