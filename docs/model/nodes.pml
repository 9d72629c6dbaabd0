/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.pml - two nodes, one database, one executor: a cluster without a leader.
 *
 * A node writes by batches, one at a time. A batch has a number and is applied only as the next of its epoch
 * (compare and set on peal_epoch, the last statement before COMMIT), so it may be delayed, sent twice, or its
 * outcome never heard. Only the owner writes a run: results go to it (forwarded, or by peal_inbox). An edit is
 * answered when no row is left whose owner has not been told. A stop hands over: its last batch ends the epoch
 * and says that what is PLANNED was not sent. A pause needs no action: a node whose steps are not taken is a node
 * under SIGSTOP.
 *
 * -DHEIR gives node 1 a flight recorder. A kill leaves its words, a power cut does not. The life that comes after
 * a kill ends the epoch of the recorder and is its heir: until the heir has ended, or its time is over, no other
 * node adopts the rows of that epoch, and the heir reads from the words what has left.
 *
 * What ledger.pml shows (the reconciliation table cell by cell, group commit, the younger run) is not repeated: an
 * ask is one step and believed when nothing is on the wire. -DDRAWN_x takes one rule out. */
#ifndef TMAX
#define TMAX 3
#endif
#ifndef CRASHES
#define CRASHES 0     /* of node 1: kill -9, it comes back as a new epoch                          */
#endif
#ifndef ECRASHES
#define ECRASHES 0    /* the executor restarts                                                     */
#endif
#ifndef EDITS
#define EDITS 0       /* the user stops the job                                                    */
#endif
#ifndef STOPS
#define STOPS 0       /* node 0 is asked to stop (SIGTERM) and does not come back                  */
#endif
#ifndef DBLOSS
#define DBLOSS 0      /* connections to the database that break while a batch is under way         */
#endif
#ifndef LOSSES
#define LOSSES 0      /* forwarded results that are lost                                           */
#endif
#ifndef REFUSE
#define REFUSE 0      /* connections to the executor that are refused                              */
#endif
#ifndef HEIRS
#define HEIRS 0       /* 1: node 1 has a flight recorder                                           */
#endif
#define LEASE 2       /* the other node ends an epoch that has not beaten for so long                   */
#define GIVEUP 1      /* the node itself stops after this                                          */
#define AHEAD 1
#define HORIZON 2
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
#define LOST 6
#define WITHDRAWN 7
#define HELD 8        /* in memory: a batch under way takes it                                     */
#define ENDED(p) ((p) >= DONE && (p) <= WITHDRAWN)
#define NE 6          /* epochs are unique in the cluster: an epoch is one life of one node        */
#define MOM 1         /* the one scheduled time of the one job; its run is the one row             */

/* ---- database: each step that touches it is one transaction --------------------------------- */
bit  ended[NE], clean[NE];        /* peal_epoch */
byte batch[NE];                   /* number of the last batch of this epoch that was committed */
byte beat[NE], mark[NE];          /* peal_node  */
byte heir[NE];                    /* the epoch that read this one's recorder; 0: none               */
byte lastep = 2;
byte dp = NIL, oe = 0;            /* the run: phase, epoch of the owner                            */
bit  told = 0;                    /* the owner knew of the edit when it wrote the row              */
bit  planned = 0, stopped = 0;    /* the due row; the job's status                                 */
bit  inbox = 0;
short tot = 0;                    /* planned - ended, as the totals have it                        */

typedef Batch {
    bit  there;                   /* a copy is under way to the database                           */
    byte ep, no;
    bit  plan, adopt, sync, last;
    byte c;                       /* change of the run: phase to write, 0 none                     */
};
typedef Node {
    byte ep, from, asked, bt;     /* epoch; lease counted from; beat asked at; 0 none 1 yes 2 no   */
    bit  lease, up;
    byte mk, mp;                  /* mark, run in memory                                           */
    bit  dirty, refused;
    byte hand;                    /* looked at the lease, not sent yet                             */
    bit  busy, drain;             /* a batch is with the writer; asked to stop                     */
    bit  seen;                    /* the edit is known                                             */
    byte no;                      /* batches that are known to be committed                        */
    byte heard, res;              /* of the batch: 1 committed 2 refused; the run that came of it  */
};
Node nd[2];
Batch bb[2], gh[2];               /* the batch under way; an older copy of it                      */

/* ---- wire, executor --------------------------------------------------------------------------- */
byte wire = 0, st = 0, fwd = 0;   /* copies of /run; 0 none 1 queued 2 running 3 ended; result for epoch */
bit  known = 0, cb = 0;

/* ---- the flight recorder of node 1 -------------------------------------------------------------- */
bit  has = 1;                     /* this life writes one                                          */
bit  word = 0;                    /* it has sent the run, or is about to                           */
byte life = 2;                    /* the epoch that the file names                                 */
bit  said = 0, read = 0;          /* the word that the life before left; it was believed           */
bit  over = 0;                    /* the heir's time is over                                       */

byte now = 0, crashes = CRASHES, ecrashes = ECRASHES, edits = EDITS, stops = STOPS, dbloss = DBLOSS, losses = LOSSES, refuse = REFUSE;
/* ---- ghosts */
byte execs = 0;
bit  stale = 0, answered = 0, acked = 0, late = 0, moved = 0, inherited = 0;
hidden byte e, x_;
hidden byte believed;

#define IDLE(n)      (nd[n].hand == 0)
#define HAS_LEASE(n) (nd[n].up && IDLE(n) && nd[n].lease && now - nd[n].from < GIVEUP)
#ifdef DRAWN_NOGATE
#define GATE(n) true
#else
#define GATE(n) (!(nd[n].busy && bb[n].sync)) /* nothing of the job leaves while its edit is with the writer */
#endif
#define ORPHAN       (LIVE(dp) && ended[oe])
#ifdef DRAWN_HEIRALONE            /* an heir that has died keeps its right                          */
#define MAY_ADOPT(ep) (heir[oe] == 0 || heir[oe] == ep || over)
#else
#define MAY_ADOPT(ep) (heir[oe] == 0 || heir[oe] == ep || ended[heir[oe]] || over)
#endif
#define OPEN(p)      ((p) == SENT || (p) == UNKNOWN || (p) == ACCEPTED)

inline forget(n)
{
    nd[n].lease = 0; nd[n].mk = 0; nd[n].mp = NIL; nd[n].dirty = 0; nd[n].bt = 0; nd[n].busy = 0;
    nd[n].heard = 0; nd[n].res = 0; nd[n].no = 0; nd[n].seen = 0; nd[n].hand = 0; nd[n].refused = 0; nd[n].asked = 0;
    if
    :: bb[n].there -> gh[n].there = 1; gh[n].ep = bb[n].ep; gh[n].no = bb[n].no; gh[n].plan = bb[n].plan; gh[n].adopt = bb[n].adopt;
                      gh[n].sync = bb[n].sync; gh[n].last = bb[n].last; gh[n].c = bb[n].c; bb[n].there = 0
    :: else
    fi
}

inline join(n, writes)
{
    lastep++; nd[n].ep = lastep; beat[lastep] = now; batch[lastep] = 0; nd[n].up = 1;
    if
    :: HEIRS && n == 1 -> read = 0; said = 0; has = writes;
        if
        :: has -> word = 0; life = lastep  /* the file is emptied, and names the new epoch           */
        :: else                            /* it cannot be written: what is there stays              */
        fi
    :: else
    fi
}

/* Node 1 was killed, or its machine lost power. The lock on its folder proves that the old process is dead, so its
 * epoch ends at once. After a kill the words are still there, and the new epoch becomes the heir in the same
 * transaction. */
inline restart(killed, writes)
{
    e = nd[1].ep; ended[e] = 1; x_ = word; believed = killed;
#ifdef DRAWN_HEIRPOWER            /* believed although the words are gone                           */
    believed = 1;
    if
    :: !killed -> x_ = 0
    :: else
    fi;
#endif
#ifndef DRAWN_HEIRNAME            /* a file that names another epoch is not believed                */
    believed = believed && life == e;
#endif
    forget(1); join(1, writes);
    if
    :: HEIRS && believed -> heir[e] = lastep; said = x_; read = 1; over = 0
    :: else
    fi
}

/* What a transaction does when it comes to its end at the database. */
inline apply(n, b)
{
    e = b.ep; nd[n].res = NIL;
    if
    :: b.c != 0 ->
        if
#ifdef DRAWN_OWNER                /* "an open row" and nothing else                                */
        :: LIVE(dp) -> assert(oe == e);                            /* a stale owner's write never wins */
#else
        :: LIVE(dp) && oe == e ->
#endif
            dp = b.c;
            if
            :: ENDED(b.c) -> tot--;
                if
#ifndef DRAWN_INBOXGONE
                :: inbox && b.c != DONE -> late = 1            /* noted: the run had been given up      */
#endif
                :: else
                fi;
                inbox = 0
            :: else
            fi
        :: else
#ifdef DRAWN_NOCAS
            if
            :: ENDED(b.c) -> tot--           /* the batch brings its totals along                   */
            :: else
            fi
#endif
        fi
    :: else
    fi;
    if
    :: b.sync && LIVE(dp) && oe == e -> told = 1
    :: else
    fi;
    if
    :: b.plan && !planned && !stopped -> planned = 1; dp = PLANNED; oe = e; told = 0; tot++; nd[n].res = PLANNED
    :: else
    fi;
    if
    :: b.adopt && ORPHAN && MAY_ADOPT(e) ->
        if
        :: dp == PLANNED && (clean[oe] || MOM > mark[oe] || (read && heir[oe] == e && !said)) -> /* certainly not sent */
            if
            :: stopped -> dp = WITHDRAWN; tot--; late = late || inbox; inbox = 0
#if PROBE == 5
            :: !stopped && !clean[oe] && MOM <= mark[oe] -> inherited = 1
#endif
            :: else
            fi
        :: dp == ACCEPTED
        :: else -> dp = UNKNOWN
        fi;
        moved = 1; oe = e; nd[n].res = (LIVE(dp) -> dp : NIL);
        told = stopped
    :: else
    fi;
    if
    :: b.last -> ended[e] = 1; clean[e] = 1
    :: else
    fi;
    assert(tot == (LIVE(dp) -> 1 : 0))       /* P1: unaccounted is 0 after every commit           */
}

inline give(n)
{
    bb[n].ep = nd[n].ep; bb[n].no = nd[n].no + 1; bb[n].there = 1; nd[n].busy = 1; nd[n].heard = 0; nd[n].res = 0
}

#ifdef DRAWN_NOCAS
#define NEXT(b) (!ended[b.ep])
#elif defined(DRAWN_NOFENCE)
#define NEXT(b) (batch[b.ep] == b.no - 1)
#else
#define NEXT(b) (!ended[b.ep] && batch[b.ep] == b.no - 1)
#endif

proctype Node_(byte n)
{
end:do
    /* ---- lease: counts from when the beat was sent; the beat is refused once the epoch has ended */
    :: d_step { nd[n].up && nd[n].bt == 0 && (beat[nd[n].ep] < now || !nd[n].lease) && nd[n].asked != now + 1 && !nd[n].drain ->
        nd[n].asked = now + 1;
        if
        :: !ended[nd[n].ep] -> beat[nd[n].ep] = now; nd[n].bt = 1;
            if
            :: now + AHEAD > mark[nd[n].ep] -> mark[nd[n].ep] = now + AHEAD    /* the beat carries the mark */
            :: else
            fi
        :: else -> nd[n].bt = 2
        fi }
    :: d_step { nd[n].bt == 1 && IDLE(n) -> nd[n].bt = 0; nd[n].lease = 1; nd[n].from = nd[n].asked - 1; nd[n].mk = nd[n].asked - 1 + AHEAD }
    :: d_step { nd[n].bt == 2 && IDLE(n) && lastep < NE - 1 -> forget(n); join(n, 1) }
    /* ---- take-over, first half ---------------------------------------------------------------- */
    :: d_step { HAS_LEASE(n) && nd[1-n].ep != 0 && !ended[nd[1-n].ep] && now - beat[nd[1-n].ep] >= LEASE -> ended[nd[1-n].ep] = 1 }
    /* ---- batches: one at a time ---------------------------------------------------------------- */
    :: d_step { nd[n].up && !nd[n].busy && IDLE(n) && !nd[n].drain &&
                (nd[n].dirty || (HAS_LEASE(n) && !planned && !stopped && MOM <= now + HORIZON) || (HAS_LEASE(n) && ORPHAN && MAY_ADOPT(nd[n].ep)) || (stopped && !nd[n].seen)) ->
        bb[n].plan = HAS_LEASE(n) && !planned && !stopped && MOM <= now + HORIZON;
        bb[n].adopt = HAS_LEASE(n) && ORPHAN && MAY_ADOPT(nd[n].ep) && nd[n].mp == NIL;
        bb[n].c = (nd[n].dirty -> nd[n].mp : 0); nd[n].dirty = 0; bb[n].last = 0;
        bb[n].sync = stopped && !nd[n].seen;
        if
        :: bb[n].sync && nd[n].mp == PLANNED -> bb[n].c = WITHDRAWN; nd[n].mp = HELD
        :: else
        fi;
        give(n) }
    /* ---- stop: nothing is sent any more; what is out is written as in doubt; the epoch ends clean  */
    :: d_step { n == 0 && stops > 0 && nd[0].up && IDLE(0) -> stops--; nd[0].drain = 1 }
    :: d_step { nd[n].drain && nd[n].up && !nd[n].busy && IDLE(n) ->
#ifdef DRAWN_CLEAN                /* "clean" although a send is under way, whose row says PLANNED   */
        bb[n].c = (nd[n].dirty -> nd[n].mp : 0);
#else
        bb[n].c = (nd[n].mp == SENT -> UNKNOWN : (nd[n].dirty -> nd[n].mp : 0));
#endif
        bb[n].plan = 0; bb[n].adopt = 0; bb[n].sync = 0; bb[n].last = 1; give(n) }
    :: d_step { nd[n].busy && nd[n].heard == 1 && IDLE(n) ->
        nd[n].busy = 0; nd[n].no = bb[n].no; nd[n].heard = 0;
        if
        :: bb[n].sync -> nd[n].seen = 1
        :: else
        fi;
        if
        :: nd[n].mp == HELD || ENDED(nd[n].mp) && bb[n].c == nd[n].mp -> nd[n].mp = NIL
        :: else
        fi;
        if
        :: nd[n].res != NIL -> nd[n].mp = nd[n].res; nd[n].res = 0
        :: else
        fi;
        if
        :: bb[n].last -> nd[n].up = 0; nd[n].mp = NIL; nd[n].lease = 0; nd[n].busy = 0; nd[n].drain = 0
        :: else
        fi }
    :: d_step { nd[n].busy && nd[n].heard == 2 && IDLE(n) && lastep < NE - 1 ->
        if
        :: nd[n].drain -> forget(n); nd[n].up = 0; nd[n].drain = 0
        :: else -> forget(n); join(n, 1)
        fi }
    /* ---- firing: the look at the lease, and the send --------------------------------------------- */
    :: d_step { HAS_LEASE(n) && nd[n].mp == PLANNED && !nd[n].seen && !nd[n].drain && MOM <= now && MOM <= nd[n].mk && GATE(n) ->
        assert(!ended[nd[n].ep] && oe == nd[n].ep && LIVE(dp));    /* a valid lease: the run is mine  */
#ifndef DRAWN_WORDLATE
        word = word || (HEIRS && has && n == 1);           /* before the send                        */
#endif
        nd[n].hand = 1 }
#ifdef DRAWN_WORDLATE             /* the word follows the send                                      */
    :: d_step { nd[n].mp == SENT && n == 1 && HEIRS && has && !word -> word = 1 }
#endif
    :: d_step { nd[n].hand == 1 -> nd[n].hand = 0; nd[n].mp = SENT;
        assert(MOM <= now && MOM <= mark[nd[n].ep]);
        if
        :: refuse > 0 -> refuse--; nd[n].refused = 1
        :: else ->
            wire++;
            if
            :: ended[nd[n].ep] || oe != nd[n].ep || !LIVE(dp) -> stale = 1
            :: else ->
                assert(!answered)                                  /* P5                              */
            fi
        fi }
    :: d_step { nd[n].refused && IDLE(n) && nd[n].mp == SENT -> nd[n].refused = 0; nd[n].mp = PLANNED }
    :: d_step { nd[n].up && nd[n].mp == PLANNED && nd[n].seen && IDLE(n) && !nd[n].busy && !nd[n].dirty -> nd[n].mp = WITHDRAWN; nd[n].dirty = 1 }
    /* ---- the call ends ---------------------------------------------------------------------------- */
    :: d_step { nd[n].up && IDLE(n) && nd[n].mp == SENT && !nd[n].refused && wire == 0 && known -> nd[n].mp = ACCEPTED; nd[n].dirty = 1 }
    :: d_step { nd[n].up && IDLE(n) && nd[n].mp == SENT && !nd[n].refused && wire == 0 && !known -> nd[n].mp = UNKNOWN; nd[n].dirty = 1 }
    /* ---- asking: believed only when nothing is on the wire ---------------------------------------- */
    :: d_step { HAS_LEASE(n) && nd[n].mp == UNKNOWN && !nd[n].dirty && wire == 0 ->
        if
        :: st == 0 && !(EXEC == REMEMBERS && known) ->
            if
            :: nd[n].seen || told -> nd[n].mp = WITHDRAWN; nd[n].dirty = 1     /* memory has the job as the row's last write knew it */
            :: else -> nd[n].mp = PLANNED
            fi
        :: else -> nd[n].mp = ACCEPTED; nd[n].dirty = 1
        fi }
    :: d_step { HAS_LEASE(n) && nd[n].mp == ACCEPTED && !nd[n].dirty && !nd[n].busy && !cb && !inbox && fwd == 0 && (st == 0 || st == 3) ->
        nd[n].mp = LOST; nd[n].dirty = 1 }
    /* ---- results for the owner --------------------------------------------------------------------- */
    :: d_step { nd[n].up && fwd == nd[n].ep && nd[n].ep != 0 && IDLE(n) -> fwd = 0;
        if
        :: OPEN(nd[n].mp) -> nd[n].mp = DONE; nd[n].dirty = 1; nd[n].refused = 0;
#ifdef DRAWN_ACKEARLY             /* the executor is told before the commit                         */
            cb = 0; acked = 1
#endif
        :: else
        fi }
    :: d_step { nd[n].up && inbox && oe == nd[n].ep && OPEN(nd[n].mp) && IDLE(n) -> nd[n].mp = DONE; nd[n].dirty = 1; nd[n].refused = 0 }
    od
}

/* The database's side of a batch, and connections that break. */
proctype Db(byte n)
{
end:do
    :: d_step { bb[n].there -> bb[n].there = 0;
        if
        :: NEXT(bb[n]) -> apply(n, bb[n]); batch[bb[n].ep] = bb[n].no;
            if
            :: dbloss > 0 -> dbloss--                      /* the answer is never heard               */
            :: else -> nd[n].heard = 1
            fi
        :: !NEXT(bb[n]) && batch[bb[n].ep] >= bb[n].no -> nd[n].heard = 1       /* it was committed before */
        :: else -> nd[n].heard = 2
        fi }
    /* the connection broke: the same batch again; the first copy may still be under way             */
    :: d_step { nd[n].busy && nd[n].heard == 0 && !bb[n].there -> bb[n].there = 1 }
    :: d_step { nd[n].busy && nd[n].heard == 0 && bb[n].there && !gh[n].there && dbloss > 0 -> dbloss--;
        gh[n].there = 1; gh[n].ep = bb[n].ep; gh[n].no = bb[n].no; gh[n].plan = bb[n].plan; gh[n].adopt = bb[n].adopt;
        gh[n].sync = bb[n].sync; gh[n].last = bb[n].last; gh[n].c = bb[n].c }
    :: d_step { gh[n].there -> gh[n].there = 0;
        if
        :: NEXT(gh[n]) ->
            x_ = nd[n].res; apply(n, gh[n]); batch[gh[n].ep] = gh[n].no;
            if                                             /* the rows are known before COMMIT, by the copy that is answered */
            :: nd[n].busy && bb[n].ep == gh[n].ep && bb[n].no == gh[n].no -> skip
            :: else -> nd[n].res = x_
            fi
        :: else
        fi }
    od
}

proctype Callback()
{
end:do
    :: d_step { cb && !LIVE(dp) -> cb = 0;                 /* over: late, or a repetition             */
        if
        :: dp == WITHDRAWN -> assert(stale); late = 1
        :: dp == LOST -> late = 1
        :: else
        fi }
    :: d_step { cb && LIVE(dp) && !ended[oe] && fwd == 0 -> fwd = oe }        /* any node forwards it */
    :: d_step { fwd != 0 && losses > 0 -> losses--; fwd = 0 }
    :: d_step { fwd != 0 && ended[fwd] -> fwd = 0 }        /* no node is there                        */
#ifndef DRAWN_NOINBOX
    :: d_step { cb && LIVE(dp) && !inbox && (losses < LOSSES || LOSSES == 0) -> inbox = 1; cb = 0; acked = 1 }
#endif
    od
}

proctype Executor()
{
end:do
    :: d_step { wire > 0 -> wire--;
        if
        :: EXEC == REMEMBERS && known
        :: EXEC == REMEMBERS && !known -> known = 1; st = 1
        :: EXEC == STOCK && st == 1
        :: EXEC == STOCK && st != 1 -> st = 1; known = 1
        fi }
    :: d_step { st == 1 -> st = 2; execs++;
        assert(execs == 1 || (EXEC == STOCK && stale)) }   /* P2                                      */
    :: d_step { st == 2 -> st = 3; cb = 1 }
    :: d_step { ecrashes > 0 && (st == 1 || st == 2) -> ecrashes--;
        if
        :: EXEC == REMEMBERS && st == 2 -> st = 3; cb = 1
        :: EXEC == REMEMBERS && st == 1
        :: EXEC == STOCK -> st = (st == 1 -> 0 : 3)
        fi }
    od
}

proctype World()
{
end:do
    :: d_step { now < TMAX -> now++ }
    :: d_step { edits > 0 -> edits--; stopped = 1 }        /* committed by either node             */
    :: d_step { stopped && !answered &&
#ifdef DRAWN_PHASEONLY            /* waits for PLANNED rows only                                     */
                !(dp == PLANNED && !told) ->
#elif defined(DRAWN_NOWAIT)
                true ->
#else
                !(dp >= PLANNED && dp <= UNKNOWN && !told) ->
#endif
        answered = 1 }
    :: d_step { crashes > 0 && nd[1].up && lastep < NE - 1 -> crashes--; restart(true, 1) }
    :: d_step { HEIRS && crashes > 0 && nd[1].up && lastep < NE - 1 -> crashes--; restart(true, 0) }
    :: d_step { HEIRS && crashes > 0 && nd[1].up && lastep < NE - 1 -> crashes--; restart(false, 1) }
    :: d_step { HEIRS && read && !over -> over = 1 }       /* ten seconds, at any time                */
    od
}

active proctype Judge()
{
    timeout;
    d_step {
#if PROBE == 1
        assert(!moved);
#elif PROBE == 2
        assert(!stale);
#elif PROBE == 3
        assert(dp != DONE || !moved);
#elif PROBE == 4
        assert(!(execs > 1));
#elif PROBE == 5
        assert(!(inherited && dp == DONE));
#endif
        assert(!LIVE(dp));                                 /* P1: nothing is stuck                    */
        assert(planned || stopped);
        assert(dp != WITHDRAWN || execs == 0 || (stale && late));
        assert(!acked || dp == DONE || late);              /* an acknowledged result counts or is noted */
        assert(!stopped || answered);
        assert(!inbox || dp == NIL || !LIVE(dp))
    }
}

init {
    atomic {
        nd[0].ep = 1; nd[1].ep = 2; nd[0].up = 1; nd[1].up = 1; nd[0].lease = 1; nd[1].lease = 1;
        run World(); run Callback(); run Executor(); run Db(0); run Db(1); run Node_(0); run Node_(1)
    }
}
