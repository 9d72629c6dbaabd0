/* SPDX-License-Identifier: Apache-2.0 */
/* api.h - everything that a center answers over HTTP.
 *
 * What executors call and the health checks are answered on the scheduler's loop, at once. Every
 * other request moves, with its connection, to the web loop, a thread of its own, and is answered
 * there by one of four workers that may block. docs/internals/api.md draws it. */
#ifndef PEAL_API_API_H
#define PEAL_API_API_H

#include "api/cursor.h"
#include "net/forwarded.h"
#include "server/center.h"
#include "wire/trigger_text.h"

struct api;
struct config;

#define API_SESSION_IDLE_DAYS 7
#define API_AUDIT_KEEP_DAYS 400
#define API_STREAMS_MAX 2000
#define API_TOKEN_LIMIT 600
#define API_SESSION_LIMIT 1200
#define API_LOGIN_LIMIT 10

enum api_per_job {                   /* whose own metrics are in /metrics */
                   API_PER_JOB_AUTO, /* all, but those that fail if there are more than 2,000 */
                   API_PER_JOB_OFF,
                   API_PER_JOB_FAILING,
                   API_PER_JOB_ALL
};

struct alarms;

struct api_config {
    enum wire_lang lang;    /* of the messages in the trigger log */
    const char *prefix;     /* before all paths, as api_prefix gives it; borrowed for api_new */
    struct proxies proxies; /* whose X-Forwarded-* count */
    struct proxies metrics_allow; /* who may read /metrics, besides who has this: */
    const char *metrics_token;    /* borrowed for good; NULL: none. Without both everybody may */
    const char *address;          /* of this center, shown there; borrowed for good */
    enum api_per_job per_job;
    bool get_changes;               /* GET may change something too, as in XXL-JOB (false) */
    bool write_passwords;           /* new passwords go into XXL-JOB's column, too (false) */
    int64_t audit_keep_ms;          /* entries that are older go; 0: none do */
    int streams_max;                /* followed at once; at most a quarter of the files */
    int token_limit, session_limit; /* requests a minute, see rate.h; 0: as many as they like */
    int login_limit; /* failed logins a minute from an address, and of a name; 0: the same */
    int64_t session_idle_ms;       /* a session that was not used for so long has ended */
    struct alarms *alarms;         /* borrowed until api_free; NULL: channels have none */
    const struct config *settings; /* to be shown; borrowed for good. NULL: none */
    unsigned char cursor_key[CURSOR_KEY_SIZE]; /* of the cursors in lists */
};

/* With a random cursor_key: cursors of another process are refused, unless it serves the same
 * database as one of several (node.cluster). */
void api_config_default(struct api_config *c);

/* Serve what the center's front gets. Before center_run, on its thread. */
MUST_CHECK enum err api_new(struct center *c, const struct api_config *config, struct api **ret,
                            struct why *why);
/* After center_run has returned, before center_free. */
/* Whose X-Forwarded-* count from now on. Any thread. */
void api_proxies(const struct proxies *proxies);
void api_free(struct api *a);

/* Does this build have the console's pages? Any thread. */
bool api_has_console(void);

#define API_PREFIX_MAX 100

/* The setting http.prefix as it is used: "/peal", "" for none. ERR_INVALID: why says the rule. */
MUST_CHECK enum err api_prefix(const char *setting, char ret[API_PREFIX_MAX + 1], struct why *why);

#define API_PASSWORD_SIZE 64

/* Make the user "admin" if there are no users: with the password wanted, or a random one if that is
 * NULL or empty; ret_password gets it (empty text: there were users already, wanted is ignored).
 * From then on /readyz may say yes. Blocks; any thread but the scheduler's. */
MUST_CHECK enum err api_first_user(struct api *a, const char *wanted,
                                   char ret_password[API_PASSWORD_SIZE], struct why *why);

#endif
