/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.pml - one node of the scheduling center, its disk, the network and the executors.
 *
 * Read it as the protocol's shortest exact description: every guarded line is a step that the
 * C code takes as a whole, and between any two lines anything else may happen - a crash of the
 * center, a crash of an executor, a lost reply, a user's edit, a clock that steps back.
 *
 * The default is the protocol as the architecture page has it. Each -DDRAWN_x takes one rule
 * out again (an earlier drawing, or a mistake that is easy to make) and makes the
 * checker print the trace. README.md lists the configurations and what each of them gives.
 * Two switches are about assumptions, not about corrections: DRAWN_NOWAIT believes in no bound on a
 * message's life (see SETTLED), ADMIT_IDLE_NONE counts idle/none as a cell that may double.
 *
 * What is abstracted: waits (3 s, 90 s, 60 s) are "at any time"; one job; /idleBeat and /log are
 * answered at once but are two separate steps; the writer's group commit is one step that may
 * come arbitrarily late; messages carry no content beyond the log id. */

/* ---- bounds (override with -D) ------------------------------------------------------------- */
#ifndef NM
#define NM 1          /* moments 1..NM of the one job                                            */
#endif
#ifndef DUE0
#define DUE0 0        /* moment k is due at k + DUE0                                             */
#endif
#ifndef NA
#define NA 1          /* attempts of one firing: 1 = no retry, 2 = one retry                     */
#endif
#ifndef NID
#define NID 2         /* log ids that exist; an assertion says when it was chosen too small      */
#endif
#ifndef NE
#define NE 1          /* executors of the group                                                  */
#endif
#ifndef TMAX
#define TMAX 3        /* the clock runs 0..TMAX                                                  */
#endif
#ifndef CRASHES
#define CRASHES 1     /* crashes of the center                                                   */
#endif
#ifndef ECRASHES
#define ECRASHES 1    /* crashes of executors                                                    */
#endif
#ifndef LOSSES
#define LOSSES 1      /* lost requests, lost replies, lost callback answers, all together        */
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 1    /* calls that time out although the reply might still come                 */
#endif
#ifndef STEPBACKS
#define STEPBACKS 0   /* the wall clock steps back by one                                        */
#endif
#ifndef RESETS
#define RESETS 0      /* another program sets the next-moment column back to 1                   */
#endif
#ifndef EDITS
#define EDITS 0       /* user edits: stop (EDITKIND 1) or a changed schedule (EDITKIND 2)        */
#endif
#ifndef EDITKIND
#define EDITKIND 1
#endif
#ifndef FAILS
#define FAILS 0       /* runs that end with a failure of their own                               */
#endif
#ifndef WASTE
#define WASTE 1       /* asks begun although their answer changes nothing                        */
#endif
#ifndef LOGLOSS
#define LOGLOSS 0     /* an executor that restarts with an empty disk (new container)            */
#endif
#ifndef TENMIN
#define TENMIN 0      /* uses of the ten-minute rule (address gone, no answer: LOST)             */
#endif
#define HORIZON 2     /* planning looks this far ahead                                           */
#ifndef AHEAD
#define AHEAD 1       /* the mark is written this far ahead of the clock                         */
#endif
#define LATE 1        /* a planned row later than this may go to the misfire policy              */

/* executor types */
#define REMEMBERS 1   /* ours: accepted ids and results are in a journal before the answer       */
#define STOCK     2   /* Java: knows only the ids in its queue; has log files with start/end     */
#define MUTE      3   /* as STOCK, but its log cannot be read                                    */
#ifndef EXEC
#define EXEC STOCK
#endif
#define SERIAL  1
#define DISCARD 2
#ifndef BLOCK
#define BLOCK SERIAL
#endif
#ifndef RESEND
#define RESEND 0      /* MUTE only: on_doubt = resend (1) or wait (0)                            */
#endif
#ifndef FAILOVER
#define FAILOVER 0    /* 1: the address is chosen by probing when due, not at planning           */
#endif

/* ---- phases -------------------------------------------------------------------------------- */
#define NIL       0
#define PLANNED   1
#define SENT      2
#define UNKNOWN   3
#define ACCEPTED  4
#define LIVE(p)   ((p) >= PLANNED && (p) <= ACCEPTED)
#define DONE_OK   5
#define DONE_FAIL 6
#define REJECTED  7
#define LOST      8
#define SKIPPED   9
#define WITHDRAWN 10
#define NEVERSENT(p) ((p) == SKIPPED || (p) == WITHDRAWN)

/* ---- disk: survives a crash of the center; every write to it below is one commit ----------- */
byte nid = 1;                      /* next log id; id 0 is never used                            */
byte dp[NID], daddr[NID];          /* phase and address as the disk knows them                   */
byte mom[NID], att[NID], due[NID]; /* key of the firing; when to send (a retry: later)           */
byte ver[NID];                     /* version of the schedule that laid the row down             */
byte mark_d = 0;                   /* "nothing due after this has been sent"                     */
bit  on_d = 1;                     /* the job is switched on                                     */
byte ver_d = 0;                    /* its schedule version                                       */
byte pu_d = 0;                     /* planned_until                                              */
byte nx_d = 1;                     /* next-moment column (other programs may write it)           */

/* ---- memory of the center: gone after a crash ---------------------------------------------- */
bit  up = 1;
byte mp[NID], maddr[NID];
bit  dirty[NID];                   /* memory is ahead of the disk for this run                   */
bit  load[NID];                    /* planned and committed, completion not yet in the mailbox   */
bit  call[NID];                    /* a /run is outstanding on an open connection                */
bit  doubt[NID];                   /* an earlier send of this id may have arrived                */
bit  once[NID];                    /* the busy/none cell has used its one resend                 */
byte half[NID];                    /* ask: 0, 1 = said idle, 2 = said busy; /log still to come   */
byte cell[NID];                    /* ask: cell of the table that the first round gave           */
byte mark_m = 0;                   /* the mark as known to be on disk                            */

/* ---- network -------------------------------------------------------------------------------- */
typedef Wire { bit cur[NID]; byte old[NID] };  /* cur: on the open connection; old: left behind  */
Wire w[NE];
byte rep[NID];                     /* reply on the open connection: 0, 1 ok, 2 refused, 3 repeat */

/* ---- executors ------------------------------------------------------------------------------ */
typedef Exec {
    bit  up; byte job; byte picked; /* picked: taken from the queue, "running" flag not yet set  */
    bit  q[NID];                   /* queued                                                     */
    bit  known[NID];               /* REMEMBERS: every id ever accepted (journal)                */
    byte log[NID];                 /* log file: 0 none, 1 start line, 2 end line                 */
    byte cb[NID];                  /* callback not yet acknowledged: 0, 1 ok, 2 failed           */
};
Exec ex[NE];

/* ---- clock, budgets, ghosts (what only the checker sees) ------------------------------------ */
byte now = 0;
byte crashes = CRASHES, ecrashes = ECRASHES, losses = LOSSES, timeouts = TIMEOUTS;
byte stepbacks = STEPBACKS, resets = RESETS, edits = EDITS, fails = FAILS, waste = WASTE;
byte logloss = LOGLOSS, tenmin = TENMIN;
byte execs[NID];                   /* how often the user's code was started under this id        */
bit  doubted[NID];                 /* was in doubt at least once: its row is kept, not deleted   */
bit  left[NID];                    /* a /run with this id has left the center                    */
bit  admitted[NID];                /* a resend from a cell that the table admits may double      */
bit  okrun[NID];                   /* a run under this id ended well                             */
bit  noticed[NID];                 /* "second run / late result" counted                         */
byte answered_ver = 0;             /* the user's edit that made this version has been answered   */
bit  diskedit = 0;                 /* DRAWN_EDIT: edit committed, memory not told yet            */

hidden byte x, j, d, a, n, k, c, r;         /* scratch inside one step, not part of the state          */

#define MAX(a,b) ((a) > (b) -> (a) : (b))
#define BUSY(e)  (ex[e].job != 0 || QUEUED(e))
#if NID == 2
#define QUEUED(e) (ex[e].q[1])
#define ANYDIRTY (dirty[1])
#elif NID == 3
#define QUEUED(e) (ex[e].q[1] || ex[e].q[2])
#define ANYDIRTY (dirty[1] || dirty[2])
#elif NID == 4
#define QUEUED(e) (ex[e].q[1] || ex[e].q[2] || ex[e].q[3])
#define ANYDIRTY (dirty[1] || dirty[2] || dirty[3])
#else
#define QUEUED(e) (ex[e].q[1] || ex[e].q[2] || ex[e].q[3] || ex[e].q[4])
#define ANYDIRTY (dirty[1] || dirty[2] || dirty[3] || dirty[4])
#endif
#if NE == 1
#define OLDCOPIES(i) (w[0].old[i])
#define PICKED(i)    (ex[0].picked == (i))
#else
#define OLDCOPIES(i) (w[0].old[i] + w[1].old[i])
#define PICKED(i)    (ex[0].picked == (i) || ex[1].picked == (i))
#endif
/* Between two rounds of asks lie three seconds. What was on its way when the old connection was
 * reset has arrived or died by then, and an executor that took a run from its queue has begun it.
 * This is the only place where the model trusts a length of time. */
#ifdef DRAWN_NOWAIT
#define SETTLED(i) 1
#else
#define SETTLED(i) (OLDCOPIES(i) == 0 && !PICKED(i))
#endif

/* cells of the asking table */
#define C_IDLE_END   1
#define C_IDLE_START 2
#define C_IDLE_NONE  3
#define C_BUSY_LOG   4             /* busy, and the log has at least its start line              */
#define C_BUSY_NONE  5
#define C_CANT_IDLE  6             /* idle, log unreadable                                       */
#define C_CANT_BUSY  7
#define CELL(idle,l) (EXEC == MUTE -> ((idle) -> C_CANT_IDLE : C_CANT_BUSY) : \
                      ((idle) -> ((l) == 2 -> C_IDLE_END : ((l) == 1 -> C_IDLE_START : C_IDLE_NONE)) \
                              : ((l) != 0 -> C_BUSY_LOG : C_BUSY_NONE)))
#define NOW_CELL(i)  CELL(!BUSY(maddr[i]), ex[maddr[i]].log[i])
/* cells in which the same id is sent again although it may be there already */
#define RESENDS(i,c) ((c) == C_BUSY_NONE && BLOCK == SERIAL && !once[i] && ver[i] == ver_d && due[i] <= now || \
                      (c) == C_CANT_IDLE && RESEND && !once[i] && ver[i] == ver_d && due[i] <= now || EARLY(c))
#ifdef DRAWN_EARLY
#define EARLY(c) ((c) == C_IDLE_NONE)   /* "never arrived: send the same id", at once             */
#else
#define EARLY(c) 0
#endif
/* would this cell change anything for run i? */
#define SOON(i) (RESEND && !once[i] && due[i] > now)   /* resend, but not before its moment      */
#define USEFUL(i,c) (mp[i] == UNKNOWN -> \
        ((c) != C_CANT_BUSY && (c) != C_BUSY_NONE && !((c) == C_CANT_IDLE && SOON(i)) || RESENDS(i, c)) \
      : ((c) == C_IDLE_END || (c) == C_IDLE_START || (c) == C_IDLE_NONE || (c) == C_CANT_IDLE))

inline ask_reset(i) { half[i] = 0; cell[i] = 0 }

/* Lay down one row: the only place where a log id is born. */
inline insert_row(m, a, d, ad)
{
    assert(nid < NID);                       /* NID too small for this configuration            */
    x = 1;
    do
    :: x < nid ->
        /* P2: never two log ids for one (moment, attempt) unless the first never left           */
        assert(!(mom[x] == m && att[x] == a && !NEVERSENT(dp[x])));
        x++
    :: else -> break
    od;
    x = 0;
    dp[nid] = PLANNED; daddr[nid] = ad; mom[nid] = m; att[nid] = a; due[nid] = d;
    ver[nid] = ver_d; load[nid] = 1; nid++
}

/* One transaction: the run ends as p; a failure lays down its retry in the same commit. */
inline finish(i, p)
{
    assert(LIVE(dp[i]) || dp[i] == LOST);    /* a row ends once; LOST may still become finished  */
    if
    :: (p == DONE_FAIL || p == REJECTED || p == LOST) && dp[i] != LOST &&
       att[i] + 1 < NA && on_d && ver[i] == ver_d ->
        d = (now < TMAX -> now + 1 : TMAX); insert_row(mom[i], att[i] + 1, d, daddr[i])
    :: else
    fi;
    dp[i] = p; mp[i] = p; dirty[i] = 0; call[i] = 0; doubt[i] = 0; ask_reset(i)
}

/* Put one /run on the wire. All the promises about sending are asserted here. */
inline put_on_wire(i)
{
    assert(due[i] <= now);                   /* P3 never early by the node's clock               */
#ifndef SEE_THE_DOUBLE                       /* define it to see where a broken mark leads to     */
    assert(due[i] <= mark_d);                /* P3 never beyond the mark on disk                 */
#endif
    assert(answered_ver <= ver[i]);          /* P5 never after the edit was answered             */
    assert(!NEVERSENT(dp[i]));               /* P1 a row counted as never sent is not sent       */
    w[maddr[i]].cur[i] = 1; rep[i] = 0; call[i] = 1; left[i] = 1;
    mp[i] = SENT; dirty[i] = 1; ask_reset(i)
}

/* A callback's effect, in the transaction after which it is answered. r: 1 ok, 2 failed. */
inline callback(i)
{
    j = 1;
    if
    :: mp[i] == LOST ->
        do                                   /* look for the retry of this run                   */
        :: j < nid && !(mom[j] == mom[i] && att[j] == att[i] + 1) -> j++
        :: else -> break
        od;
        if
        :: j == nid -> dp[i] = (r == 1 -> DONE_OK : DONE_FAIL); mp[i] = dp[i]   /* no retry laid */
        :: j < nid && r == 2 -> dp[i] = DONE_FAIL; mp[i] = DONE_FAIL            /* retry stands  */
#ifdef DRAWN_RETRYLEFT
        /* the transaction looks at the row on disk: still PLANNED, so "has not left yet"       */
        :: j < nid && r == 1 && dp[j] == PLANNED ->
#else
        /* decided on the scheduler's thread: planned by this incarnation's knowledge, unsent   */
        :: j < nid && r == 1 && (mp[j] == PLANNED || load[j]) ->
#endif
            assert(!left[j]);                /* P4 a retry counted withdrawn has not left        */
            dp[j] = WITHDRAWN; mp[j] = WITHDRAWN; load[j] = 0; dirty[j] = 0;
            dp[i] = DONE_OK; mp[i] = DONE_OK
        :: j < nid && r == 1 && NEVERSENT(dp[j]) -> dp[i] = DONE_OK; mp[i] = DONE_OK
        :: else ->                           /* the retry has left: LOST stands, and is noted    */
#ifdef DRAWN_LATE
            skip                             /* handle_code is not 0: "changes nothing"          */
#else
            noticed[i] = 1
#endif
        fi
    :: mp[i] == REJECTED -> assert(false)    /* P1 rejected, and yet it ran                      */
#ifdef DRAWN_NOWAIT                          /* no bound on a message's life: it can come after all */
    :: NEVERSENT(mp[i]) -> assert(doubted[i]); noticed[i] = 1
#else
    :: NEVERSENT(mp[i]) -> assert(false)     /* P1 never sent, and yet it ran                    */
#endif
    :: mp[i] == DONE_OK || mp[i] == DONE_FAIL ->                     /* duplicate: no effect     */
        if
        :: execs[i] > 1 -> noticed[i] = 1
        :: else
        fi
    :: else ->                               /* any open phase; PLANNED only if it was in doubt   */
        assert(mp[i] != PLANNED || doubted[i]);
        finish(i, (r == 1 -> DONE_OK : DONE_FAIL))
    fi;
    j = 0
}

#ifdef DRAWN_NOWAIT
#define PROOF(i) 1                           /* without a bound on delays there is no proof      */
#else
#define PROOF(i) (ex[maddr[i]].job != i || NE > 1)
#endif
/* The asking table. Both rounds gave cell c (or one was enough). */
inline decide(i, c)
{
    if
    :: mp[i] == ACCEPTED && (c == C_IDLE_END || c == C_IDLE_START || c == C_IDLE_NONE || c == C_CANT_IDLE) ->
        assert(PROOF(i));                    /* a proof of loss does not name a run that runs    */
        finish(i, LOST)
    :: mp[i] == UNKNOWN && (c == C_IDLE_END || c == C_IDLE_START) ->
        assert(PROOF(i));
        finish(i, LOST)
    :: mp[i] == UNKNOWN && c == C_BUSY_LOG -> mp[i] = ACCEPTED; dirty[i] = 1; ask_reset(i)
#ifndef DRAWN_EARLY
    /* proven unsent: an ordinary planned row again, so that the moment, the mark, the address and
     * a user's edit count for it as for any other; it is not "sent at once" */
    :: mp[i] == UNKNOWN && c == C_IDLE_NONE ->
#ifdef ADMIT_IDLE_NONE
        admitted[i] = 1;
#endif
        left[i] = 0; ask_reset(i);
        if
#ifndef DRAWN_STOPDOUBT
        :: ver[i] != ver_d -> finish(i, WITHDRAWN)         /* edited while it was in doubt       */
        :: ver[i] == ver_d -> mp[i] = PLANNED; dirty[i] = 1
#else
        :: mp[i] = PLANNED; dirty[i] = 1
#endif
        fi
#endif
    :: mp[i] == UNKNOWN && (RESENDS(i, c)) ->
        if
        :: c != C_IDLE_NONE -> once[i] = 1; admitted[i] = 1   /* the cells that may double       */
        :: else
        fi;
        put_on_wire(i)
    :: mp[i] == UNKNOWN && c == C_CANT_IDLE && !(RESENDS(i, c)) && !SOON(i) -> finish(i, LOST)   /* on_doubt = wait */
    :: else -> ask_reset(i)
    fi
}

#ifdef DRAWN_ONEROUND
#define ENOUGH(i,c) (mp[i] == UNKNOWN || cell[i] == (c))   /* two rounds only before a loss of ACCEPTED */
#else
#define ENOUGH(i,c) (cell[i] == (c) || (c) == C_BUSY_LOG || (c) == C_BUSY_NONE)
#endif

#ifdef DRAWN_MARKBACK
#define MARK_MOVES (now + AHEAD != mark_d)
#else
#define MARK_MOVES (now + AHEAD > mark_d)                  /* the mark never goes back           */
#endif
#ifdef NO_MARK
#define MARKED(i) 1
#else
#define MARKED(i) (due[i] <= mark_m)
#endif
#ifdef DRAWN_ADDRESS
#define ADDRESS_ON_DISK(i) 1
#else
#define ADDRESS_ON_DISK(i) (daddr[i] == maddr[i])
#endif

/* next moment that planning would lay down */
#ifdef DRAWN_NOPU
#define NEXT nx_d
#else
#define NEXT MAX(nx_d, pu_d + 1)
#endif

/* the writer takes everything that is dirty into one transaction */
inline commit_dirty()
{
    d = 1;
    do
    :: d < NID ->
        if
        :: dirty[d] && LIVE(dp[d]) -> dp[d] = mp[d]; daddr[d] = maddr[d]
        :: else
        fi;
        dirty[d] = 0; d++
    :: else -> break
    od; d = 0
}

/* One process per log id: the life of one run in the memory of the center. */
proctype Run(byte i)
{
end:do
    /* ---- the planning's completion arrives: the row gets into memory and into the ring ------ */
    :: d_step { up && load[i] -> load[i] = 0;
#ifdef DRAWN_LOAD
        mp[i] = PLANNED; maddr[i] = daddr[i]
#else
        if                                   /* an edit may have come between commit and here    */
        :: dp[i] == PLANNED -> mp[i] = PLANNED; maddr[i] = daddr[i]
        :: else
        fi
#endif
       }

    /* ---- firing ----------------------------------------------------------------------------- */
    :: d_step { up && mp[i] == PLANNED && due[i] <= now && MARKED(i) && ex[maddr[i]].up &&
                ADDRESS_ON_DISK(i) -> put_on_wire(i) }
#if NE > 1
    /* connection refused, lane full, FAILOVER's probe: the other address                        */
    :: d_step { up && mp[i] == PLANNED && due[i] <= now && ex[1 - maddr[i]].up &&
                (!ex[maddr[i]].up || (FAILOVER && maddr[i] == 0 && daddr[i] == 0)) ->
        maddr[i] = 1 - maddr[i]; dirty[i] = 1 }
#endif
    /* too late: the misfire policy. Only for rows that surely have not left                     */
    :: d_step { up && mp[i] == PLANNED && due[i] + LATE < now -> assert(!left[i]); finish(i, SKIPPED) }

    /* ---- the call's end --------------------------------------------------------------------- */
    :: d_step { call[i] && (rep[i] == 1 || rep[i] == 3) ->
        call[i] = 0; rep[i] = 0; mp[i] = ACCEPTED; dirty[i] = 1; doubt[i] = 0 }
    :: d_step { call[i] && rep[i] == 2 ->
        call[i] = 0; rep[i] = 0;
        if
#ifndef DRAWN_REFUSAL
        :: doubt[i] -> mp[i] = UNKNOWN; dirty[i] = 1    /* the refused one may be the second     */
        :: !doubt[i] -> finish(i, REJECTED)
#else
        :: finish(i, REJECTED)
#endif
        fi }
    :: d_step {                              /* timed out, or reset after the first byte left    */
        call[i] && (timeouts > 0 || (rep[i] == 0 && !w[maddr[i]].cur[i])) ->
        if
        :: rep[i] == 0 && !w[maddr[i]].cur[i]
        :: else -> timeouts--
        fi;
        call[i] = 0; rep[i] = 0; doubt[i] = 1; doubted[i] = 1; mp[i] = UNKNOWN; dirty[i] = 1;
        w[maddr[i]].old[i] = w[maddr[i]].old[i] + w[maddr[i]].cur[i]; w[maddr[i]].cur[i] = 0 }

    /* ---- asking: two requests, and the world moves between them ------------------------------ */
    :: d_step { up && (mp[i] == UNKNOWN || mp[i] == ACCEPTED) && !call[i] && half[i] == 0 &&
                ex[maddr[i]].up && (cell[i] == 0 || SETTLED(i)) && (USEFUL(i, NOW_CELL(i)) || waste > 0) ->
        if
        :: USEFUL(i, NOW_CELL(i))
        :: else -> waste--
        fi;
#ifdef DRAWN_LOGFIRST
        half[i] = 1 + ex[maddr[i]].log[i] }
    :: d_step { up && half[i] != 0 && ex[maddr[i]].up -> c = CELL(!BUSY(maddr[i]), half[i] - 1);
#else
        half[i] = (BUSY(maddr[i]) -> 2 : 1) }
    :: d_step { up && half[i] != 0 && ex[maddr[i]].up -> c = CELL(half[i] == 1, ex[maddr[i]].log[i]);
#endif
        half[i] = 0;
        if
        :: ENOUGH(i, c) -> decide(i, c)
        :: else -> cell[i] = c
        fi }
    /* the ten-minute rule: not registered, no answer                                            */
    :: d_step { up && tenmin > 0 && (mp[i] == UNKNOWN || mp[i] == ACCEPTED) && !call[i] && !ex[maddr[i]].up ->
        tenmin--; finish(i, LOST) }

    /* ---- completion: commit, then the answer, which may be lost ------------------------------ */
    :: d_step { up && ex[0].up && ex[0].cb[i] != 0 -> r = ex[0].cb[i]; callback(i); ex[0].cb[i] = 0 }
    :: d_step { up && losses > 0 && ex[0].up && ex[0].cb[i] != 0 -> r = ex[0].cb[i]; callback(i); losses-- }
#if NE > 1
    :: d_step { up && ex[1].up && ex[1].cb[i] != 0 -> r = ex[1].cb[i]; callback(i); ex[1].cb[i] = 0 }
    :: d_step { up && losses > 0 && ex[1].up && ex[1].cb[i] != 0 -> r = ex[1].cb[i]; callback(i); losses-- }
#endif
    od
}

/* The center as a whole: planning, the mark, the writer, the user's edit, crash and restart. */
active proctype Center()
{
    byte i;
end:do
    /* ---- planning: one commit; the completion comes to Run() later -------------------------- */
    :: d_step { up && on_d && NEXT <= NM && NEXT + DUE0 <= now + HORIZON ->
        c = NEXT; insert_row(c, 0, c + DUE0, 0); nx_d = c + 1; pu_d = MAX(pu_d, c) }

    /* ---- the mark: commit first, use it only when the completion is back -------------------- */
    :: d_step { up && MARK_MOVES -> mark_d = now + AHEAD; commit_dirty() }
    :: d_step { up && mark_m != mark_d -> mark_m = mark_d }

    /* ---- group commit of what the runs went through ----------------------------------------- */
    :: d_step { up && ANYDIRTY -> commit_dirty() }

    /* ---- the user's edit --------------------------------------------------------------------- */
    :: d_step { up && edits > 0 -> edits--; ver_d++; 
        if
        :: EDITKIND == 1 -> on_d = 0
        :: else
        fi;
        pu_d = 0; i = 1;
        do
        :: i < NID ->
            if
#ifdef DRAWN_EDIT                            /* by the disk, in the edit's own transaction       */
            :: dp[i] == PLANNED -> dp[i] = WITHDRAWN
#else                                        /* first out of the ring, then the commit           */
            :: mp[i] == PLANNED || load[i] ->
                assert(!left[i]);
                dp[i] = WITHDRAWN; mp[i] = WITHDRAWN; dirty[i] = 0
#endif
            :: else
            fi;
            if                               /* planned_until: last moment that was not withdrawn */
            :: dp[i] != NIL && dp[i] != WITHDRAWN -> pu_d = MAX(pu_d, mom[i])
            :: else
            fi;
            i++
        :: else -> break
        od;
        nx_d = MAX(1, now + 1);              /* recomputed from the clock, as the original does  */
#ifdef DRAWN_VERSION
        pu_d = 0;                            /* "kept per schedule version": a new one, a new start */
#endif
#ifdef DRAWN_EDIT
        diskedit = 1;
#endif
        answered_ver = ver_d; i = 0 }
#ifdef DRAWN_EDIT
    :: d_step { up && diskedit -> diskedit = 0; i = 1;
        do
        :: i < NID ->
            if
            :: mp[i] == PLANNED -> mp[i] = WITHDRAWN; dirty[i] = 0
            :: else
            fi; i++
        :: else -> break
        od; i = 0 }
#endif

    /* ---- crash at any step; restart from the disk -------------------------------------------- */
    :: d_step { up && crashes > 0 -> crashes--; up = 0; mark_m = 0; diskedit = 0; i = 1;
        do
        :: i < NID ->
            mp[i] = NIL; maddr[i] = 0; dirty[i] = 0; load[i] = 0; call[i] = 0; doubt[i] = 0; once[i] = 0;
            rep[i] = 0; ask_reset(i);
            w[0].old[i] = w[0].old[i] + w[0].cur[i]; w[0].cur[i] = 0;
#if NE > 1
            w[1].old[i] = w[1].old[i] + w[1].cur[i]; w[1].cur[i] = 0;
#endif
            i++
        :: else -> break
        od; i = 0 }
    :: d_step { !up -> up = 1; mark_m = mark_d; i = 1;
        do
        :: i < NID ->
            mp[i] = dp[i]; maddr[i] = daddr[i];
            if
            :: dp[i] == SENT || dp[i] == UNKNOWN || (dp[i] == PLANNED && due[i] <= mark_d) ->
                mp[i] = UNKNOWN; doubt[i] = 1; doubted[i] = 1
            :: else
            fi; i++
        :: else -> break
        od; i = 0 }
    od
}

/* What an executor does with a /run; a: 1 queued, 2 refused (busy, DISCARD_LATER), 3 "repeat". */
inline take(e, i, a)
{
    if
    :: EXEC == REMEMBERS && ex[e].known[i] -> a = 3      /* ours looks at the id before the strategy */
    :: !(EXEC == REMEMBERS && ex[e].known[i]) && BLOCK == DISCARD && BUSY(e) -> a = 2
    :: !(EXEC == REMEMBERS && ex[e].known[i]) && !(BLOCK == DISCARD && BUSY(e)) ->
        if
        :: ex[e].q[i] -> a = 3
        :: else -> a = 1; ex[e].q[i] = 1; ex[e].known[i] = (EXEC == REMEMBERS)
        fi
    fi
}

inline begin(e, i)
{
    ex[e].q[i] = 0; ex[e].picked = 0; ex[e].job = i; ex[e].log[i] = 1;
    execs[i]++;
    /* P2 a second run of one id: never with an executor that remembers, else only if admitted    */
    assert(execs[i] == 1 || (EXEC != REMEMBERS && admitted[i]));
    /* P1 what is counted as never run does not run                                               */
#ifdef DRAWN_NOWAIT
    assert(dp[i] != REJECTED && (!NEVERSENT(dp[i]) || doubted[i]))
#else
    assert(dp[i] != REJECTED && !NEVERSENT(dp[i]))
#endif
}

/* One process per executor and log id: the wire's end at that executor. */
proctype Arrive(byte e, i)
{
end:do
    :: d_step { ex[e].up && w[e].cur[i] -> w[e].cur[i] = 0; take(e, i, a); rep[i] = a }
    :: d_step { ex[e].up && w[e].cur[i] && losses > 0 -> losses--;    /* arrived, reply lost         */
        w[e].cur[i] = 0; take(e, i, a) }
    :: d_step { w[e].cur[i] && losses > 0 -> losses--; w[e].cur[i] = 0 }  /* request lost            */
    :: d_step { ex[e].up && w[e].old[i] > 0 -> w[e].old[i]--; take(e, i, a) }   /* arrives long after */
    :: d_step { w[e].old[i] > 0 -> w[e].old[i]-- }                    /* or never                    */
#if EXEC == REMEMBERS
    :: d_step { ex[e].up && ex[e].job == 0 && ex[e].q[i] -> begin(e, i) }
#else
    /* stock: the id leaves the queue before the "running" flag is up and the start line written */
    :: d_step { ex[e].up && ex[e].job == 0 && ex[e].picked == 0 && ex[e].q[i] ->
        ex[e].q[i] = 0; ex[e].picked = i }
    :: d_step { ex[e].up && ex[e].picked == i -> begin(e, i) }
#endif
    :: d_step { ex[e].job == i -> ex[e].log[i] = 2; ex[e].cb[i] = 1; okrun[i] = 1; ex[e].job = 0 }
    :: d_step { ex[e].job == i && fails > 0 -> fails--; ex[e].log[i] = 2; ex[e].cb[i] = 2; ex[e].job = 0 }
    od
}

inline crash_exec(e, cblost)
{
    i = 1;
        do
        :: i < NID ->
            w[e].cur[i] = 0; w[e].old[i] = 0;            /* connections die with the process       */
            if
            :: EXEC != REMEMBERS -> ex[e].q[i] = 0
            :: else
            fi;
            if
            :: cblost -> ex[e].cb[i] = 0
            :: else
            fi; i++
        :: else -> break
        od;
        if
        :: EXEC == REMEMBERS && ex[e].job != 0 -> ex[e].cb[ex[e].job] = 2   /* reported failed     */
        :: else
        fi;
        ex[e].up = 0; ex[e].job = 0; ex[e].picked = 0; i = 0
}

proctype Executor(byte e)
{
    byte i;
end:do
    :: d_step { ex[e].up && ecrashes > 0 -> ecrashes--; crash_exec(e, 0) }
#if EXEC != REMEMBERS
    :: d_step { ex[e].up && ecrashes > 0 -> ecrashes--; crash_exec(e, 1) }   /* callbacks lost too */
#endif
    :: d_step { !ex[e].up -> ex[e].up = 1 }
#if LOGLOSS
    :: d_step { !ex[e].up && logloss > 0 -> logloss--; ex[e].up = 1; i = 1;
        do
        :: i < NID -> ex[e].log[i] = 0; ex[e].known[i] = 0; ex[e].q[i] = 0; ex[e].cb[i] = 0; i++
        :: else -> break
        od; i = 0 }
#endif
    od
}

/* Time and the outside world. */
active proctype World()
{
end:do
    :: d_step { now < TMAX -> now++ }
    :: d_step { stepbacks > 0 && now > 0 -> stepbacks--; now-- }
    :: d_step { resets > 0 -> resets--; nx_d = 1 }
    od
}

/* When nothing can move any more, every row must have reached its end, and every moment its row. */
active proctype Judge()
{
    byte i;
    timeout;
    d_step {
#ifdef PROBE                                 /* is this end reachable at all? expects an error    */
        assert(dp[1] != PROBE);
#endif
        i = 1;
        do
        :: i < nid ->
            assert(!LIVE(dp[i]));                                     /* P1 nothing is stuck       */
#ifdef DRAWN_NOWAIT
            assert(!(dp[i] == REJECTED || NEVERSENT(dp[i])) || execs[i] == 0 || doubted[i]);
#else
            assert(!(dp[i] == REJECTED || NEVERSENT(dp[i])) || execs[i] == 0);
#endif
            assert(!NEVERSENT(dp[i]) || !left[i] || ver[i] != ver_d); /* in doubt, then proven unsent */
            assert(dp[i] != DONE_OK || execs[i] > 0);
#if EXEC == REMEMBERS && LOGLOSS == 0
            assert(!(dp[i] == LOST && okrun[i]) || noticed[i]);       /* P4 no silent second success */
#endif
            i++
        :: else -> break
        od;
        k = 1;
        do
        :: k <= NM ->                                                 /* P1 no moment without a row */
            n = 0; i = 1;
            do
            :: i < nid ->
                if
                :: mom[i] == k && att[i] == 0 && dp[i] != WITHDRAWN -> n++
                :: else
                fi; i++
            :: else -> break
            od;
            assert(n == 1 || ver_d > 0);
            assert(n <= 1);
            k++
        :: else -> break
        od
    }
}

init {
    byte i;
    atomic {
        ex[0].up = 1; run Executor(0);
#if NE > 1
        ex[1].up = 1; run Executor(1);
#endif
        i = 1;
        do
        :: i < NID -> run Run(i); run Arrive(0, i);
#if NE > 1
            run Arrive(1, i);
#endif
            i++
        :: else -> break
        od; i = 0
    }
}
