/* SPDX-License-Identifier: Apache-2.0 */
/* check_flight.c - what a killed center knew: its recorder is believed, it is right, and nothing is
 * in doubt that had not left. Judged by the words and the rows as they were at the kill, and by
 * what executors have. */
#include "check.h"
#include <string.h>

static bool has_word(const struct flight_head *h, int64_t log_id)
{
    for (uint32_t i = 0; i < h->slots; i++)
        if (flight_words((struct flight_head *)h)[i] >> 8 == (uint64_t)log_id)
            return true;
    return false;
}

/* The word stands there before the first byte leaves; a full recorder says that it is full. */
void check_word(struct sim *s, int64_t log_id)
{
    const struct flight_head *h = s->recording ? s->recorder[s->own] : NULL;
    if (h && !h->without_word && !has_word(h, log_id))
        sim_fail(s, "the recorder", "run %lld leaves, and no word of it is written",
                 (long long)log_id);
}

/* Rows that the next life must know as not sent. */
static void note_unsent(struct sim *s, const struct flight_head *h)
{
    struct map words;
    map_init(&words);
    for (uint32_t i = 0; h && i < h->slots; i++)
        map_set(&words, flight_words((struct flight_head *)h)[i] >> 8, s);
    for (int64_t id = 1; id <= s->last_id; id++) {
        struct ghost *g = &s->ghosts[id];
        const struct mem_run *r = g->born && !g->end && !g->dropped ? live_row(s, id) : NULL;
        g->unsent = h && r && r->row.phase == PHASE_PLANNED && !r->row.doubted &&
                    !map_find(&words, (uint64_t)id);
        g->sends_before = g->sends;
    }
    map_done(&words);
}

void check_flight_end(struct sim *s, enum end_kind how)
{
    const struct watermark *watermark = &memory_of(s->store)->now.watermark;
    const struct flight_head *h = s->recording ? s->recorder[s->own] : NULL;
    bool named = h && strcmp(h->id, watermark->recorder) == 0;
    if (how != END_KILL) {
        s->must_believe = false;
        note_unsent(s, NULL);
    } else if (named) {
        s->must_believe = !h->without_word;
        note_unsent(s, s->must_believe ? h : NULL);
    } else if (!watermark->recorder[0]) {
        s->must_believe = false;
        note_unsent(s, NULL);
    } /* else before its first commit: the older file's turn again */
}

void check_flight_read(struct sim *s, const struct watermark *watermark,
                       const struct flight_said *said, const char *why)
{
    if (s->must_believe && !said->believed && !watermark->clean)
        sim_fail(s, "the recorder", "of a killed center is not believed: %s", why);
    for (int64_t id = 1; id <= s->last_id; id++)
        s->ghosts[id].word_accepted = flight_known(said, id) == FLIGHT_KNOWS_ACCEPTED;
    if (!said->believed)
        return;
    s->believed++;
    for (int64_t id = 1; id <= s->last_id; id++) {
        const struct mem_run *r = live_row(s, id);
        if (!r || r->row.phase != PHASE_PLANNED || flight_known(said, id) != FLIGHT_KNOWS_UNSENT)
            continue;
        for (int x = 0; x < s->nexecs; x++)
            if (exec_has(&s->execs[x], id))
                sim_fail(s, "the recorder", "says that run %lld was not sent, and %s has it",
                         (long long)id, s->execs[x].address);
    }
}

/* All has ended, and a renewal has been heard since: no word is left behind. */
void check_flight_over(struct sim *s)
{
    struct sched_stats st;
    sched_stats(s->sched, &st);
    if (st.words || st.without_word)
        sim_fail(s, "the recorder", "keeps %d words, and %d runs without one, of none that is out",
                 st.words, st.without_word);
}

void check_flight_change(struct sim *s, const struct run_change *c)
{
    const struct ghost *g = ghost_of(s, c->log_id);
    if (c->doubted && g->unsent && g->sends == g->sends_before)
        sim_fail(s, "the recorder",
                 "run %lld is in doubt, and no word of it stood there at the kill",
                 (long long)c->log_id);
}
