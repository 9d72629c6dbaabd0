/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.c - the flight recorder's two files, as the server keeps them on tmpfs: a kill leaves
 * them as they are at that step, a power cut takes them, or brings an older state back. */
#include "sim.h"
#include "store/memory/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void boot_text(const struct sim *s, char text[40])
{
    snprintf(text, 40, "boot %u", s->boots);
}

static void drop(struct sim *s, int i)
{
    free(s->recorder[i]);
    s->recorder[i] = NULL;
}

bool recorder_read(struct sim *s, const struct watermark *watermark, struct flight_said *ret)
{
    const struct flight_head *named = NULL;
    char boot[40];
    s->own = 0;
    for (int i = 0; i < 2; i++) {
        if (!s->recorder[i] || strcmp(s->recorder[i]->id, watermark->recorder) != 0)
            continue;
        named = s->recorder[i];
        s->own = 1 - i;
    }
    struct why why = { "" };
    boot_text(s, boot);
    bool believed =
        flight_read(named, named ? flight_bytes(named->slots) : 0, watermark, boot, ret, &why);
    sim_trace(s, "the recorder is %s%s, %d leaving, %d accepted",
              believed ? "believed" : "not: ", why.text, ret->leaving, ret->accepted);
    check_flight_read(s, watermark, ret, why.text);
    return believed;
}

void recorder_make(struct sim *s)
{
    char boot[40], id[RECORDER_ID_SIZE];
    drop(s, s->own);
    s->recording = !sim_chance(s, 100000);
    s->settled = false;
    if (!s->recording)
        return;
    uint32_t slots = sim_chance(s, 150000) ? (uint32_t)sim_between(s, 1, 6) : 4096;
    boot_text(s, boot);
    snprintf(id, sizeof(id), "%032llx", (unsigned long long)dice_u64(&s->dice));
    s->recorder[s->own] = mem_new(flight_bytes(slots));
    flight_make(s->recorder[s->own], slots, boot, id);
    sched_record(s->sched, s->recorder[s->own]);
}

/* As the server: the first commit has been heard. */
void recorder_heard(struct sim *s, const struct batch *b)
{
    if (!b->watermark.renewals || s->settled)
        return;
    s->settled = true;
    drop(s, 1 - s->own);
}

/* The words as they were when the machine still thought that they would last. */
static void older(struct flight_head *h)
{
    h->without_word = 0;
    for (uint32_t i = 0; i < h->slots; i++)
        flight_words(h)[i] = 0;
}

void recorder_end(struct sim *s, enum end_kind how)
{
    if (how == END_CLEAN && s->recording)
        drop(s, s->own);
    if (how != END_POWER_CUT)
        return;
    s->boots++;
    for (int i = 0; i < 2; i++) {
        if (s->recorder[i] && sim_chance(s, 500000))
            older(s->recorder[i]);
        else
            drop(s, i);
    }
}

void recorder_free(struct sim *s)
{
    drop(s, 0);
    drop(s, 1);
}

/* ---- a backup that is put back --------------------------------------------------------------- */

void backup_soon(struct sim *s, struct event *e)
{
    (void)e;
    s->backup_wanted = !s->calm;
}

static void backup_drop(struct sim *s)
{
    if (s->backup_made)
        store_memory_backup(s->store, false);
    s->backup_made = s->backup_heard = false;
}

/* A commit that a backup may lack: it says how runs stand, and nothing that another process knows.
 */
static bool harmless(const struct batch *b)
{
    for (int i = 0; i < b->nchanges; i++)
        if (b->changes[i].what & ~(unsigned)(CHANGE_PHASE | CHANGE_TRIGGER) ||
            b->changes[i].phase > PHASE_ACCEPTED)
            return false;
    return b->nplanned + b->nedits + b->nspawns + b->ndelays + b->nlate + b->njobs_planned == 0 &&
           !b->sweep && !b->clean && !b->forget_jobs;
}

void backup_written(struct sim *s, const struct batch *b)
{
    if (s->backup_made && !harmless(b))
        backup_drop(s);
    if (!s->backup_made && s->backup_wanted && b->watermark.renewals > 1) {
        store_memory_backup(s->store, true);
        s->backup_made = true;
    }
}

bool backup_ripe(struct sim *s, const struct batch *b)
{
    int64_t made = s->backup_made ? memory_of(s->store)->backup.watermark.renewals : 0;
    bool some = b->nchanges && sim_chance(s, 300000); /* not even a renewal is missing */
    return s->backup_made && !s->stopping && !s->calm &&
           (b->watermark.renewals > made || (some && !b->watermark.renewals));
}

void backup_sent(struct sim *s, const struct call *c)
{
    if (s->backup_made && c->due_ms > memory_of(s->store)->backup.watermark.until_ms)
        backup_drop(s);
}

/* The process has been killed, before its next life. */
void backup_end(struct sim *s)
{
    if (!s->backup_heard) {
        backup_drop(s);
        return;
    }
    sim_trace(s, "a backup is put back");
    store_memory_restore(s->store);
    s->backup_wanted = s->backup_made = s->backup_heard = false;
    s->must_believe = false;
    for (int64_t id = 1; id <= s->last_id; id++)
        s->ghosts[id].unsent = false;
    s->restored++;
}
