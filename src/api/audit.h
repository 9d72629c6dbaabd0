/* SPDX-License-Identifier: Apache-2.0 */
/* audit.h - what a request leaves in the audit, written in the transaction of what it changes.
 * Private to src/api.
 *
 * An entry is made by the request's worker, which knows who asks, from where and through what. The
 * writer's thread fills in the thing and its members before and after, and adds the row. Secrets
 * (passwords, tokens) are never in it; of a script only its length and SHA-256 are. */
#ifndef PEAL_API_AUDIT_H
#define PEAL_API_AUDIT_H

#include "api/front.h"

struct audit;

/* action: "user.update"; what stands before the dot is the kind of the thing. */
struct audit *audit_new(const struct web_call *call, const char *action);
/* Of the center itself. */
struct audit *audit_new_center(const char *action, int64_t keep_ms);
void audit_free(struct audit *a); /* NULL is fine */

/* In a transaction, again from the beginning when it is tried again: the thing, */
void audit_thing(struct audit *a, int64_t id, const char *name);
/* its members that have changed (NULL: there is none; equal ones are left out), */
void audit_text(struct audit *a, const char *field, const char *before, const char *after);
/* values that are JSON, */
void audit_json(struct audit *a, const char *field, const char *before, const char *after);
/* a secret that was set, */
void audit_secret(struct audit *a, const char *field);
/* and the row. Rows that are older than audit.keep go meanwhile, a few at a time. */
MUST_CHECK enum err audit_put(struct audit *a, struct store *s, struct why *why);

/* Of the asker's own sessions: the thing is the user. */
struct audit *audit_session(const struct web_call *call, const char *action);
/* Attach to the edit of a job or group its companion write. */
void audit_edit(const struct web_call *call, struct edit *e);

/* One entry of a bulk action on jobs, written with the first of them that is done; each is an item
 * of it. Counted: what is under way holds it, too. */
struct audit_many;
struct audit_many *audit_many_new(const struct web_call *call, const char *action);
void audit_many_free(struct audit_many *m); /* NULL is fine */
/* Before the first job: a member that all of them get. */
void audit_many_json(struct audit_many *m, const char *field, const char *after);
/* Attach to the edit of a job. */
void audit_many_edit(struct audit_many *m, struct edit *e);

/* A run that is asked for by hand: an entry of its own, or (many not NULL) an item of that.
 * Attach to the spawn; name: the job's. */
void audit_spawn(const struct web_call *call, struct audit_many *many, const char *name,
                 struct spawn *spawn);
/* Note without waiting what is done already: a run that was killed. */
void audit_note(const struct web_call *call, const char *action, int64_t id, const char *name);
/* The same of a thing whose id is text. */
void audit_note_named(const struct web_call *call, const char *action, const char *id,
                      const char *name);

#endif
