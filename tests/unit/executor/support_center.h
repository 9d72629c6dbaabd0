/* SPDX-License-Identifier: Apache-2.0 */
/* support_center.h - a stand-in for a center, in a thread: says yes to everything, unless told
 * otherwise, and remembers what it was told; and the calls that a center makes. */
#ifndef SUPPORT_CENTER_H
#define SUPPORT_CENTER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct center {
    int fd;
    char url[64];
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t came;
    char *said;           /* bodies of all callbacks, one after another */
    _Atomic bool refuses; /* says no to callbacks */
};

void center_start(struct center *c);
/* The same in two steps: its address is there, a request waits; and then, with a thread, it serves.
 */
void center_listen(struct center *c);
void center_serve(struct center *c);
void center_stop(struct center *c);
/* Wait until a callback has said "logId":N; the text from there on, to be freed. */
char *center_result(struct center *c, int64_t log_id);
/* How often it was said. */
int center_count(struct center *c, int64_t log_id);

/* POST to address + action without a token; headers: complete lines or "". The reply's body, to be
 * freed. */
char *center_post(const char *address, const char *action, const char *headers, const char *body);
/* What center_run sends as traceparent. */
#define CENTER_TRACE "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
/* A /run of a handler; true if it was accepted. */
bool center_run(const char *address, int64_t job, int64_t log, const char *handler,
                const char *params, int timeout_s);
void center_kill(const char *address, int64_t job);

#endif
