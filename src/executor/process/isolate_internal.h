/* SPDX-License-Identifier: Apache-2.0 */
/* isolate_internal.h - the processes of isolate.h, and what they say to each other.
 *
 *     executor (isolate_order.c) --order, with descriptors--> fork server (isolate_server.c)
 *          |  ^  ^                                              |  |
 *          |  |  +--------- notes: born, ended (pipe) ----------+  | fork, or vfork and exec
 *          |  +------ frames up, standard output (pipe) -------+   v
 *          +--------------- frames down ----------------> handler's child (isolate_child.c),
 *                                                          or a program, which has no frames
 *
 * From the ground up: isolate_frame.c, isolate_child.c, isolate_server.c, isolate_order.c,
 * isolate.c.
 *
 * The fork server is itself the child of a watch, which forks another one if it dies.
 * Notes come from the server alone, so a child cannot lie about its own end. Orders and frames are
 * packets (SOCK_SEQPACKET): whole or not at all, also when threads or grandchildren send at once.
 */
#ifndef PEAL_EXECUTOR_PROCESS_ISOLATE_INTERNAL_H
#define PEAL_EXECUTOR_PROCESS_ISOLATE_INTERNAL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/str.h"
#include "wire/trace_parent.h"

struct isolate;
struct peal_handler;

enum {
    FRAME_TEXT = 65536 + 512, /* a line of the log and its function */
    FRAME_PIECE = 32768,      /* of a parameter or a message */
    FUNCTION_MAX = 256,
};

/* --- executor to server --- */

/* START is for a handler, SPAWN for a program. */
enum order_kind { ORDER_START, ORDER_SPAWN, ORDER_TERM, ORDER_KILL };

struct order {
    uint32_t kind;
    uint32_t index;  /* START: of the handler */
    uint64_t number; /* of the process, the executor's; never used again */
};

/* What comes along with START and SPAWN, in this order: the pipe for the server's notes (first: a
 * server that has no room for all of them can still say so), the child's end of the frames or the
 * program (spawn_pack), standard output and error. */
enum { ORDER_NOTES, ORDER_FRAMES, ORDER_OUTPUT, ORDER_FDS, ORDER_PROGRAM = ORDER_FRAMES };

/* --- server to executor, a pipe for each run; its end without ENDED or FAILED: the server died ---
 */

/* BORN is the child's own first word, before the handler's or the program's code; the pipe is
 * closed there then. LOST: it ended, and how cannot be known. */
enum note_kind { NOTE_BORN, NOTE_ENDED, NOTE_LOST, NOTE_FAILED };

struct note {
    uint32_t kind;
    int32_t value;  /* pid; wait status; nothing; errno of the start */
    uint32_t stage; /* FAILED: enum spawn_stage */
};

/* --- executor to child and back --- */

enum frame_kind {
    /* down */
    FRAME_FACTS,  /* struct run_facts; first */
    FRAME_PARAMS, /* a piece of the parameter, until it is whole */
    FRAME_STOP,   /* number: the reason */
    /* up */
    FRAME_LINE,     /* number: of the source line; split: bytes of the function's name, then text */
    FRAME_RAW,      /* bytes for the log */
    FRAME_PROGRESS, /* number: percent, and its text */
    FRAME_MESSAGE,  /* a piece of the result's message */
    FRAME_RESULT,   /* number: its code; last */
};

struct frame {
    uint32_t kind;
    int32_t number;
    uint32_t split;
    char text[FRAME_TEXT];
};

struct run_facts {
    int64_t log_id, log_date_ms, job_id, glue_update_ms, timeout_s, scheduled_ms, deadline_ms;
    int32_t shard, shard_total, attempt;
    char trace[WIRE_TRACE_PARENT_SIZE];
    uint64_t params; /* bytes */
};

#define FRAME_HEAD offsetof(struct frame, text)

struct isolate { /* the executor's */
    pid_t pid;   /* of the watch */
    int orders, grace_ms;
    _Atomic uint64_t number; /* of the next process */
};

/* Any worker. fds: ORDER_FDS of them, or NULL; they stay the caller's. False: the server is gone.
 */
bool isolate_send(const struct isolate *i, enum order_kind kind, uint64_t number, size_t index,
                  const int *fds);

/* Send a packet of up to two texts after its head. flags: of send(). False with errno. */
bool frame_send(int fd, enum frame_kind kind, int number, struct slice first, struct slice second,
                int flags);
/* Close all descriptors from 3 on except these n. */
void close_all_but(const int *keep, size_t n);

/* The watch's, the server's and the child's whole life; they do not return. */
_Noreturn void isolate_watch(int orders, int parent, const struct peal_handler *const *handlers,
                             size_t n);
_Noreturn void isolate_serve(int orders, int parent, const struct peal_handler *const *handlers,
                             size_t n);
_Noreturn void isolate_child(const struct peal_handler *handler, int frames, int output);

#endif
