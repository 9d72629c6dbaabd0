/* SPDX-License-Identifier: Apache-2.0 */
/* An hour is enough for a time service to mend its clock, and for a person to read the log. */
#include "server/ages.h"
#include "base/clock.h"
#include "base/log.h"

static void hold(struct metrics *m, bool step)
{
    atomic_store(&m->ages_step, step);
    atomic_store(&m->ages_ms, clock_boot_ms() + AGES_WAIT_MS);
}

void ages_stepped(struct metrics *m, int64_t by_ms)
{
    if (by_ms < AGES_STEP_MS && by_ms > -AGES_STEP_MS)
        return;
    hold(m, true);
    log_warn("center",
             "nothing is deleted by its age for an hour, because the clock stepped by %lld s: see "
             "that it is right",
             (long long)(by_ms / 1000));
}

void ages_begin(struct metrics *m, int64_t newest_ms)
{
    int64_t ahead_ms = clock_wall_ms() - newest_ms;
    if (newest_ms <= 0 || ahead_ms < AGES_AHEAD_MS)
        return;
    hold(m, false);
    log_info("center",
             "nothing is deleted by its age for an hour, because the clock is %lld min ahead of "
             "the database's last commit",
             (long long)(ahead_ms / 60000));
}

bool ages_held(struct metrics *m, bool *ret_step)
{
    bool held = clock_boot_ms() < atomic_load(&m->ages_ms);
    if (ret_step)
        *ret_step = held && atomic_load(&m->ages_step);
    return held;
}
