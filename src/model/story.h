/* SPDX-License-Identifier: Apache-2.0 */
/* story.h - when a run went through its steps, and the bytes in which that is kept.
 *
 * The log row has whole seconds, and only of some steps. The story has microseconds, and is kept
 * for the runs that are looked at: see story_kept. Plain data; pure. */
#ifndef PEAL_MODEL_STORY_H
#define PEAL_MODEL_STORY_H

#include "base/buf.h"
#include "model/run.h"

enum story_time {
    STORY_PLANNED,  /* its row was on disk */
    STORY_DUE,      /* it was taken up */
    STORY_SENT,     /* the first byte of its last /run left */
    STORY_ANSWERED, /* what became of that was known: accepted, refused, or not known */
    STORY_ENDED,    /* its end was known */
    STORY_WRITTEN,  /* and given to the database */
    STORY_TIMES
};

#define STORY_OF_LIVE (STORY_ANSWERED + 1) /* a live run knows the times before this one */
#define STORY_UNKNOWN INT32_MIN
#define STORY_LATE_US 1000000 /* sent later than that after it was due: late */
#define STORY_ONE_IN 100      /* of the runs that nothing happened to */
#define STORY_BYTES_MAX 64

struct story {
    int64_t due_ms, scheduled_ms;
    int64_t cause; /* log id of the run that it retries, or that it is a child of; else 0 */
    int32_t attempt;
    int32_t at_us[STORY_TIMES]; /* since due_ms; STORY_UNKNOWN, also for what is out of range */
    uint8_t reroutes;           /* how often its address was chosen anew; 255 stands for more */
    uint8_t doubts, queries;    /* how often its outcome was unknown, and was asked for */
    bool resent;
};

/* A distance as it is kept. */
static inline int32_t story_us(int64_t us)
{
    return us > INT32_MIN && us <= INT32_MAX ? (int32_t)us : STORY_UNKNOWN;
}

/* A time that is known in whole milliseconds only: not before those that are known better. */
void story_note_ms(struct story *s, enum story_time t, int64_t epoch_ms);
/* Epoch microseconds; -1: not known. */
int64_t story_at(const struct story *s, enum story_time t);
bool story_late(const struct story *s);
/* Is the story of a run that has ended so to be kept? */
bool story_kept(const struct story *s, enum phase end, enum kind kind, int64_t log_id);

/* The bytes of peal_story.steps, at most STORY_BYTES_MAX. */
void story_put(struct buf *to, const struct story *s);
/* Bytes of unknown origin. False: they are not what story_put writes. */
bool story_get(struct slice bytes, struct story *ret);

#endif
