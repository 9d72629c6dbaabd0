/* SPDX-License-Identifier: Apache-2.0 */
/* err.h - what can go wrong, as one list: codes, names and texts come from ERR_LIST.
 *
 * A function that can fail returns enum err and nothing else; results leave through ret_
 * parameters, which stay untouched on failure. Text for people goes into a struct why (why.h). */
#ifndef PEAL_BASE_ERR_H
#define PEAL_BASE_ERR_H

#define ERR_LIST(X)                                                                                \
    X(NOMEM, "out of memory")                                                                      \
    X(INVALID, "invalid input")                                                                    \
    X(TOOBIG, "input exceeds its limit")                                                           \
    X(NOTFOUND, "not found")                                                                       \
    X(EXISTS, "already exists")                                                                    \
    X(BUSY, "in use by another process")                                                           \
    X(FULL, "disk or queue is full")                                                               \
    X(READONLY, "database is read-only")                                                           \
    X(CORRUPT, "stored data is damaged")                                                           \
    X(STORE, "the database refused the operation")                                                 \
    X(IO, "input/output error")                                                                    \
    X(NET, "network error")                                                                        \
    X(TIMEOUT, "timed out")                                                                        \
    X(NEVER, "the schedule has no next scheduled time")                                            \
    X(STOPPING, "shutting down")                                                                   \
    X(OVERTAKEN, "changed by another request at the same time")                                    \
    X(CONFLICT, "another transaction was in the way")                                              \
    X(UNHEARD, "the database has not said whether it committed")                                   \
    X(FENCED, "another server has taken over")                                                     \
    X(VALUE, "the database does not take this value")                                              \
    X(MORE, "more is to be done")

enum err {
    OK = 0,
#define ERR_ENUM(name, text) ERR_##name,
    ERR_LIST(ERR_ENUM)
#undef ERR_ENUM
};

#define MUST_CHECK __attribute__((warn_unused_result))

/* English text of a code; static storage, any thread. */
const char *err_text(enum err e);
/* Name of a code as written in the list ("NOMEM"); static storage, any thread. */
const char *err_name(enum err e);

#endif
