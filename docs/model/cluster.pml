/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.pml - two nodes, one shared database, one executor: who may send, who may write.
 *
 * Pauses need no action of their own: a node whose steps are not taken is a node under SIGSTOP,
 * for as long as the clock likes, at any point - also between the look at its lease and the
 * write() that sends. What ledger.pml already shows (the reconciliation table cell by cell, group commit)
 * is kept short here: an ask is one step and is believed only when nothing is on the wire.
 *
 * Default = the protocol as the architecture page has it; -DDRAWN_x takes one rule out. */

#ifndef NM
#define NM 1          /* scheduled times of the one job, due at 1, 2, ...                               */
#endif
#ifndef NID
#define NID 2         /* log ids, 0 unused                                                      */
#endif
#ifndef TMAX
#define TMAX 3
#endif
#ifndef CRASHES
#define CRASHES 0     /* crashes of nodes (kill -9, comes back with a new epoch)                */
#endif
#ifndef ECRASHES
#define ECRASHES 0    /* the executor restarts and loses what it had not finished               */
#endif
#ifndef EDITS
#define EDITS 0       /* the user stops the job, at node 0                                      */
#endif
#ifndef RESETS
#define RESETS 0      /* another program sets the next-scheduled time column back                       */
#endif
#ifndef DBLOSS
#define DBLOSS 0      /* planning commits whose outcome the node never hears                    */
#endif
#ifndef LOSSES
#define LOSSES 0      /* messages on the wire that are lost                                     */
#endif
#ifndef LEASE
#define LEASE 2       /* the others take over after this (3 s in the drawing)                   */
#define GIVEUP 1      /* the node itself stops after this (two thirds, 2 s)                     */
#endif
#define HORIZON 2
#define AHEAD 1
#define REMEMBERS 1
#define STOCK 2
#ifndef EXEC
#define EXEC REMEMBERS
#endif

#define NIL 0
#define PLANNED 1
#define SENT 2
#define UNKNOWN 3
#define ACCEPTED 4
#define LIVE(p) ((p) >= PLANNED && (p) <= ACCEPTED)
#define DONE 5
#define LOST 8
#define WITHDRAWN 10

/* ---- database: every step below that touches it is one transaction ------------------------- */
byte epoch_db[2];                 /* peal_node: current epoch of each node                       */
bit  dead_db[2];                  /* declared dead in this epoch                                 */
byte beat_db[2];                  /* time of the last beat                                       */
byte mark_db[2];
byte dp[NID], own[NID], oep[NID]; /* run: phase, owner node, owner epoch                         */
byte mom[NID];
bit  old[NID];                    /* planned before the user's stop                            */
byte nid = 1, pu = 0, nx = 1;
bit  on_db = 1;
bit  conf[2];                     /* peal_change: this node has withdrawn what it held           */

/* ---- memory of a node ----------------------------------------------------------------------- */
typedef Node {
    byte ep;                      /* my epoch                                                    */
    byte from;                    /* lease counted from here                                     */
    byte asked;                   /* when the beat under way was sent                            */
    byte beat;                    /* beat under way: 0 none, 1 accepted, 2 refused               */
    bit  lease;                   /* I have one                                                  */
    byte mark;
    byte mp[NID];
    byte hand;                    /* run whose lease was looked at, not sent yet                 */
    byte hep;                     /* lease end that goes with it (for executors that look)       */
    byte plan;                    /* planning transaction under way: epoch it was begun in       */
    byte load;                    /* row planned by me, completion not yet here                  */
    byte wv[NID], we[NID];        /* owner's write under way: phase, epoch                       */
};
Node nd[2];

/* ---- wire, executor -------------------------------------------------------------------------- */
byte wire[NID];                   /* copies of /run under way                                    */
byte stamp[NID];                  /* "not after" that the oldest copy carries                    */
byte st[NID];                     /* executor: 0 unknown, 1 queued, 2 running, 3 finished        */
bit  known[NID], cb[NID];

#ifndef PROBE
#define PROBE 0
#endif
/* ---- clock, budgets, ghosts ------------------------------------------------------------------ */
byte now = 0, crashes = CRASHES, ecrashes = ECRASHES, edits = EDITS, resets = RESETS, dbloss = DBLOSS;
byte losses = LOSSES;
byte execs[NID];
bit  stale[NID];                  /* sent by a node that did not own it any more                 */
bit  taken[NID];                  /* changed hands                                               */
bit  caught[NID];                 /* ... and the executor knew the id                            */
bit  promised[NID];               /* the user was told: withdrawn                                */
bit  answered = 0, noticed = 0;
hidden byte x, y;

/* The scheduler's thread does one thing at a time: between the look at the lease and the send
 * of one run nothing else happens in the memory of that node.                                    */
#define IDLE(n)      (nd[n].hand == 0)
#define HAS_LEASE(n) (IDLE(n) && nd[n].lease && now - nd[n].from < GIVEUP)
#define MINE(n,i)    (own[i] == n && oep[i] == nd[n].ep)
/* a row whose (node, epoch) is not a living one */
#define ORPHAN(i)    (LIVE(dp[i]) && (oep[i] != epoch_db[own[i]] || dead_db[own[i]]))

#ifdef DRAWN_NOPU
#define NEXT nx
#else
#define NEXT (nx > pu -> nx : pu + 1)
#endif

inline adopt(n, i)
{
    nd[n].mp[i] = (dp[i] == PLANNED && mom[i] > mark_db[own[i]] && !(old[i]) -> PLANNED :
                   (dp[i] == ACCEPTED -> ACCEPTED : UNKNOWN));
    taken[i] = taken[i] || own[i] != n;
    own[i] = n; oep[i] = nd[n].ep
}

inline forget(n)
{
    x = 1;
    do
    :: x < NID -> nd[n].mp[x] = NIL; x++
    :: else -> break
    od;
    nd[n].lease = 0; nd[n].load = 0; nd[n].mark = 0; nd[n].beat = 0
}

/* the owner's own decisions: only while the row is his, in this epoch, and still open */
inline owner_write(n, i)
{
    if
#ifdef DRAWN_GUARD                /* "guarded by handle_code = 0" and nothing else               */
    :: LIVE(dp[i]) ->
        assert(own[i] == n && oep[i] == nd[n].we[i]);       /* a stale node's write never wins   */
        dp[i] = nd[n].wv[i]
#else
    :: LIVE(dp[i]) && own[i] == n && oep[i] == nd[n].we[i] -> dp[i] = nd[n].wv[i]
#endif
#ifndef DRAWN_COMPLETION
    :: !(LIVE(dp[i]) && own[i] == n && oep[i] == nd[n].we[i]) && nd[n].we[i] != nd[n].ep ->
        skip                      /* the completion of an earlier epoch: thrown away             */
#endif
    :: else ->                    /* no row changed: it is not mine or it is over; forget it     */
        nd[n].mp[i] = NIL
    fi;
    nd[n].wv[i] = NIL
}

proctype Node_(byte n)
{
    byte i;
end:do
    /* ---- beat: the lease counts from the scheduled time the beat was SENT ---------------------------- */
    :: d_step { nd[n].beat == 0 && (beat_db[n] < now || !nd[n].lease) && nd[n].asked != now + 1 ->
        nd[n].asked = now + 1;
        if
#ifdef DRAWN_BEAT                 /* an unconditional update: a dead node's beat revives it      */
        :: beat_db[n] = now; nd[n].beat = 1; dead_db[n] = 0
#else
        :: epoch_db[n] == nd[n].ep && !dead_db[n] -> beat_db[n] = now; nd[n].beat = 1
        :: else -> nd[n].beat = 2
#endif
        fi }
    :: d_step { nd[n].beat == 1 && IDLE(n) ->
        nd[n].beat = 0; nd[n].lease = 1;
#ifdef DRAWN_LEASEFROM
        nd[n].from = now
#else
        nd[n].from = nd[n].asked - 1
#endif
       }
    /* refused: I was declared dead. Drop everything, come back as a new epoch                   */
    :: d_step { nd[n].beat == 2 && IDLE(n) -> forget(n);
        epoch_db[n]++; dead_db[n] = 0; beat_db[n] = now; nd[n].ep = epoch_db[n];
        conf[n] = !on_db; nd[n].asked = 0 }

    /* ---- the watermark ------------------------------------------------------------------------------ */
    :: d_step { HAS_LEASE(n) && now + AHEAD > mark_db[n] -> mark_db[n] = now + AHEAD; nd[n].mark = now + AHEAD }
    :: d_step { nd[n].lease && IDLE(n) && nd[n].mark < mark_db[n] -> nd[n].mark = mark_db[n] }   /* at a restart */

    /* ---- planning: begin under a lease; the commit may come much later ------------------------ */
    :: d_step { HAS_LEASE(n) && nd[n].plan == 0 && nd[n].load == 0 && on_db && NEXT <= NM && NEXT <= now + HORIZON ->
        nd[n].plan = nd[n].ep }
    :: d_step { nd[n].plan != 0 ->
        if
#ifdef DRAWN_PLANLATE
        :: on_db && NEXT <= NM ->
#else                             /* the transaction itself looks at the node's own row          */
        :: on_db && NEXT <= NM && epoch_db[n] == nd[n].plan && !dead_db[n] ->
#endif
            x = 1; y = NEXT;
            do
            :: x < nid -> assert(mom[x] != y); x++          /* each scheduled time is claimed once       */
            :: else -> break
            od;
            assert(nid < NID);
            dp[nid] = PLANNED; own[nid] = n; oep[nid] = nd[n].plan; mom[nid] = y;
            pu = y; nx = y + 1;
            if
            :: dbloss > 0 -> dbloss--                       /* the outcome is never heard        */
            :: else ->
                if
                :: nd[n].ep == nd[n].plan -> nd[n].load = nid
                :: else
                fi
            fi;
            nid++
        :: else
        fi;
        nd[n].plan = 0 }
    :: d_step { nd[n].load != 0 && IDLE(n) -> i = nd[n].load; nd[n].load = 0;
        if
        :: nd[n].mp[i] == NIL && (on_db || !conf[n]) -> nd[n].mp[i] = PLANNED
        :: else
        fi; i = 0 }

    od
}

/* One process per node and log id. */
proctype Run(byte n, i)
{
end:do
#ifndef DRAWN_UNHEARD
    /* a commit without an answer: read back what is mine                                         */
    :: d_step { HAS_LEASE(n) && dp[i] == PLANNED && MINE(n, i) && nd[n].mp[i] == NIL && nd[n].load != i &&
                nd[n].wv[i] == NIL && nd[n].hand != i -> nd[n].mp[i] = UNKNOWN }
#endif
    /* ---- firing: the look at the lease ... ------------------------------------------------------ */
    :: d_step { nd[n].hand == 0 && HAS_LEASE(n) && nd[n].mp[i] == PLANNED && !(old[i] && conf[n]) && mom[i] <= now && mom[i] <= nd[n].mark ->
        /* a node that finds its lease valid was not declared dead, and the run is still its own  */
        assert(!dead_db[n] && epoch_db[n] == nd[n].ep && (MINE(n, i) || !LIVE(dp[i])));
        nd[n].hand = i; nd[n].hep = nd[n].from + GIVEUP }
    /* ... and the send. Any time may pass between the two                                         */
    :: d_step { nd[n].hand == i -> nd[n].hand = 0;
        assert(mom[i] <= now && mom[i] <= mark_db[n]);
        if
        :: !MINE(n, i) || !LIVE(dp[i]) || dead_db[n] -> stale[i] = 1
        :: else ->
            assert(!promised[i])      /* P5: a node that still owns the run keeps the promise      */
        fi;
#ifdef STRICT                     /* is even the stale send impossible after the user's answer?  */
        assert(!promised[i]);
#endif
        if
        :: wire[i] == 0 -> stamp[i] = nd[n].hep
        :: else -> if
                   :: nd[n].hep < stamp[i] -> stamp[i] = nd[n].hep
                   :: else
                   fi
        fi;
        wire[i]++;
        if
        :: nd[n].mp[i] == PLANNED -> nd[n].mp[i] = SENT; nd[n].wv[i] = SENT; nd[n].we[i] = nd[n].ep
        :: else
        fi }
    /* a row that came to this node after it had confirmed the stop, and is proven unsent         */
    :: d_step { nd[n].mp[i] == PLANNED && old[i] && conf[n] && IDLE(n) && nd[n].wv[i] == NIL ->
        nd[n].wv[i] = WITHDRAWN; nd[n].we[i] = nd[n].ep; nd[n].mp[i] = NIL }
    /* ---- the owner's writes reach the database late ------------------------------------------- */
    :: d_step { nd[n].wv[i] != NIL -> owner_write(n, i) }
    /* ---- the call ends: accepted, or nothing heard --------------------------------------------- */
    :: d_step { IDLE(n) && nd[n].mp[i] == SENT && wire[i] == 0 && known[i] && nd[n].wv[i] == NIL ->
        nd[n].mp[i] = ACCEPTED; nd[n].wv[i] = ACCEPTED; nd[n].we[i] = nd[n].ep }
    :: d_step { IDLE(n) && nd[n].mp[i] == SENT && nd[n].wv[i] == NIL && !known[i] && wire[i] == 0 -> nd[n].mp[i] = UNKNOWN }
    /* ---- asking: believed only when nothing is on the wire -------------------------------------- */
    :: d_step { HAS_LEASE(n) && nd[n].mp[i] == UNKNOWN && nd[n].wv[i] == NIL && wire[i] == 0 ->
        if
        :: st[i] == 0 && !(EXEC == REMEMBERS && known[i]) ->  /* never arrived                    */
            if
            :: old[i] -> nd[n].wv[i] = WITHDRAWN; nd[n].we[i] = nd[n].ep; nd[n].mp[i] = NIL
            :: else -> nd[n].mp[i] = PLANNED
            fi
        :: else -> nd[n].mp[i] = ACCEPTED; nd[n].wv[i] = ACCEPTED; nd[n].we[i] = nd[n].ep
        fi }
    /* accepted, and the executor has nothing of it (any more): lost                              */
    :: d_step { HAS_LEASE(n) && nd[n].mp[i] == ACCEPTED && nd[n].wv[i] == NIL && !cb[i] && (st[i] == 0 || st[i] == 3) ->
        nd[n].mp[i] = NIL; nd[n].wv[i] = LOST; nd[n].we[i] = nd[n].ep }
    /* the row is over, or not mine any more: found at the next read by key                       */
    :: d_step { nd[n].mp[i] != NIL && !LIVE(dp[i]) && IDLE(n) -> nd[n].mp[i] = NIL }
    /* ---- callback: any node takes it; open rows only; ownership does not matter ----------------- */
    :: d_step { cb[i] -> cb[i] = 0;
        if
        :: LIVE(dp[i]) -> dp[i] = DONE
        :: dp[i] == LOST -> noticed = 1; dp[i] = DONE         /* ledger.pml has the retry's side   */
        :: dp[i] == WITHDRAWN -> assert(stale[i]); noticed = 1
        :: else
        fi }
    /* ---- take-over, second half: rows of no living (node, epoch), looked for again and again ------ */
#ifndef DRAWN_ONESHOT
    :: d_step { HAS_LEASE(n) && i < nid && ORPHAN(i) -> adopt(n, i) }
#endif
    od
}

/* Take-over, first half: the dead node's epoch ends, by a conditional update on its beat. */
proctype Undertaker(byte n)
{
    byte i, o;
end:do
    :: d_step { HAS_LEASE(n) && !dead_db[1 - n] && now - beat_db[1 - n] >= LEASE ->
        o = 1 - n;
#ifndef DRAWN_NOFENCE
        dead_db[o] = 1;
#endif
#if defined(DRAWN_ONESHOT) || defined(DRAWN_NOFENCE)
        i = 1;
        do
        :: i < nid ->
            if
            :: LIVE(dp[i]) && own[i] == o -> adopt(n, i)
            :: else
            fi; i++
        :: else -> break
        od; i = 0;
#endif
        o = 0 }
    od
}

/* The user stops the job at node 0. */
proctype Edit(byte n)
{
    byte i;
end:do
    :: d_step { n == 0 && edits > 0 && HAS_LEASE(0) -> edits--; on_db = 0; i = 1;
        do
        :: i < nid -> old[i] = 1;
#ifdef DRAWN_EDITROWS             /* the edit's transaction deletes every planned row, whoever owns it */
            if
            :: dp[i] == PLANNED -> dp[i] = WITHDRAWN
            :: else
            fi;
#endif
            i++
        :: else -> break
        od; i = 0 }
    /* an owner reads peal_change: out of its ring first, then its rows, then "confirmed"         */
    :: d_step { !on_db && !conf[n] && nd[n].lease && IDLE(n) -> i = 1;
        do
        :: i < nid ->
            old[i] = 1;
            if
            :: nd[n].mp[i] == PLANNED || nd[n].load == i ->   /* memory decides, not the row's phase */
                nd[n].mp[i] = NIL; nd[n].load = (nd[n].load == i -> 0 : nd[n].load);
                if
                :: MINE(n, i) && !dead_db[n] && LIVE(dp[i]) -> dp[i] = WITHDRAWN
                :: else
                fi
            :: else
            fi; i++
        :: else -> break
        od;
        conf[n] = 1; i = 0 }
    od
}

/* The answer to the user. */
proctype Answer()
{
    byte i;
end:do
#ifdef DRAWN_CAP                  /* one second is over: answer as if everybody had confirmed    */
    :: d_step { !on_db && !answered -> answered = 1; i = 1;
#else                             /* every node has confirmed, or is dead and has lost its runs   */
    :: d_step { !on_db && !answered && (conf[0] || dead_db[0]) && (conf[1] || dead_db[1]) ->
        answered = 1; i = 1;
#endif
        do
        :: i < nid ->
#ifdef DRAWN_CAP
            promised[i] = (dp[i] == WITHDRAWN || dp[i] == PLANNED);
#else
            promised[i] = (dp[i] == WITHDRAWN);
#endif
            i++
        :: else -> break
        od; i = 0 }
    od
}

proctype Executor(byte i)
{
end:do
    :: d_step { wire[i] > 0 -> wire[i]--;
        if
#ifdef NOTAFTER                   /* our executors refuse a /run that comes after its "not after" */
        :: EXEC == REMEMBERS && now >= stamp[i]
        :: EXEC == REMEMBERS && now < stamp[i] && known[i] -> caught[i] = stale[i]
        :: EXEC == REMEMBERS && now < stamp[i] && !known[i] -> known[i] = 1; st[i] = 1
#else
        :: EXEC == REMEMBERS && known[i] -> caught[i] = stale[i]
        :: EXEC == REMEMBERS && !known[i] -> known[i] = 1; st[i] = 1
#endif
        :: EXEC == STOCK && st[i] == 1
        :: EXEC == STOCK && st[i] != 1 -> st[i] = 1; known[i] = 1
        fi }
    :: d_step { wire[i] > 0 && losses > 0 -> losses--; wire[i]-- }
    :: d_step { st[i] == 1 -> st[i] = 2; execs[i]++;
        /* P2: a second run needs an executor that forgets and a stale send                      */
        assert(execs[i] == 1 || (EXEC == STOCK && stale[i]));
        assert(!promised[i] || stale[i]);
#ifdef NOTAFTER
        assert(EXEC == STOCK || !promised[i])
#endif
       }
    :: d_step { st[i] == 2 -> st[i] = 3; cb[i] = 1 }
    :: d_step { ecrashes > 0 && (st[i] == 1 || st[i] == 2) -> ecrashes--;
        if
        :: EXEC == REMEMBERS && st[i] == 2 -> st[i] = 3; cb[i] = 1      /* reported failed         */
        :: EXEC == REMEMBERS && st[i] == 1                              /* still in its journal    */
        :: EXEC == STOCK -> st[i] = (st[i] == 1 -> 0 : 3)               /* 3: start line is there  */
        fi }
    od
}

proctype World()
{
end:do
    :: d_step { now < TMAX -> now++ }
    :: d_step { resets > 0 -> resets--; nx = 1 }
    :: d_step { crashes > 0 -> crashes--; forget(1); nd[1].hand = 0; nd[1].plan = 0;     /* node 1 */
        x = 1;
        do
        :: x < NID -> nd[1].wv[x] = NIL; x++
        :: else -> break
        od;
        epoch_db[1]++; dead_db[1] = 0; nd[1].ep = epoch_db[1]; conf[1] = !on_db; nd[1].asked = 0 }
    od
}

active proctype Judge()
{
    byte i;
    timeout;
    d_step { i = 1;
        do
        :: i < nid ->
#if PROBE == 1                    /* reachable? (expects an error) a stale send, caught           */
            assert(!caught[i]);
#elif PROBE == 2                  /* a stale send, and a second run                               */
            assert(execs[i] < 2);
#elif PROBE == 3                  /* a row that ended under its second owner                      */
            assert(!taken[i]);
#endif
            assert(!LIVE(dp[i]));                     /* P1: nothing is stuck                     */
            assert(dp[i] != WITHDRAWN || execs[i] == 0 || (stale[i] && noticed));
            i++
        :: else -> break
        od;
        assert(nid == NM + 1 || EDITS > 0);
        assert(!(EDITS > 0 && edits == 0) || answered)
    }
}

init {
    byte i;
    atomic {
        epoch_db[0] = 1; epoch_db[1] = 1; nd[0].ep = 1; nd[1].ep = 1; nd[0].lease = 1; nd[1].lease = 1;
        run World();
        run Node_(0); run Node_(1); run Undertaker(0); run Undertaker(1);
#if EDITS
        run Edit(0); run Edit(1); run Answer();
#endif
        i = 1;
        do
        :: i < NID -> run Run(0, i); run Run(1, i); run Executor(i); i++
        :: else -> break
        od; i = 0
    }
}
