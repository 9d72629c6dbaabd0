/* SPDX-License-Identifier: Apache-2.0 */
/* isolate_parts.h - the three processes of isolate.h, and what they say to each other.
 *
 *     executor (isolate.c) --order, with descriptors--> fork server (isolate_server.c)
 *          |  ^  ^                                        |  |
 *          |  |  +------- notes: born, ended (pipe) ------+  | fork
 *          |  +---- frames up, standard output (pipe) ---+   v
 *          +------------- frames down ----------------> child (isolate_child.c)
 *
 * Notes come from the server alone, so a child cannot lie about its own end. Orders and frames are
 * packets (SOCK_SEQPACKET): whole or not at all, also when threads or grandchildren send at once.
 */
#ifndef PEAL_EXECUTOR_ISOLATE_PARTS_H
#define PEAL_EXECUTOR_ISOLATE_PARTS_H

#include <stddef.h>
#include <stdint.h>
#include "base/str.h"

struct peal_handler;

enum {
    FRAME_TEXT = 65536 + 512, /* a line of the log and its function */
    FRAME_PIECE = 32768,      /* of a parameter or a message */
    FUNCTION_MAX = 256,
};

/* --- executor to server --- */

enum order_kind { ORDER_START, ORDER_TERM, ORDER_KILL, ORDER_HOLD, ORDER_RELEASE };

struct order {
    uint32_t kind;
    uint32_t index;  /* START: of the handler */
    uint64_t number; /* of the run, the executor's; HOLD, RELEASE: of the group */
};

/* What comes along with START, in this order: the pipe for the server's notes (first: a server that
 * has no room for all of them can still say so), the child's end of the frames, its standard output
 * and error. */
enum { ORDER_NOTES, ORDER_FRAMES, ORDER_OUTPUT, ORDER_FDS };

/* --- server to executor, a pipe for each run; its end without ENDED or FAILED: the server died ---
 */

/* BORN is the child's own first word, before the handler's code; the pipe is closed there then. */
enum note_kind { NOTE_BORN, NOTE_ENDED, NOTE_FAILED };

struct note {
    uint32_t kind;
    int32_t value; /* pid; wait status; errno of fork */
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
    int64_t log_id, log_date_ms, job_id, glue_update_ms, timeout_s, moment_ms, deadline_ms;
    int32_t shard, shard_total, attempt;
    uint64_t params; /* bytes */
};

#define FRAME_HEAD offsetof(struct frame, text)

/* Send a packet of up to two texts after its head. flags: of send(). False with errno. */
bool frame_send(int fd, enum frame_kind kind, int number, struct slice first, struct slice second,
                int flags);
/* Close all descriptors from 3 on except these n. */
void close_all_but(const int *keep, size_t n);

/* The server's and the child's whole life; they do not return. */
_Noreturn void isolate_serve(int orders, int parent, const struct peal_handler *const *handlers,
                             size_t n);
_Noreturn void isolate_child(const struct peal_handler *handler, int frames, int output);

#endif
