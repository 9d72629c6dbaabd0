/* SPDX-License-Identifier: Apache-2.0 */
/* The settings are read once more as at start, by the same table and rules, and compared. */
#include "cli/reload.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "net/tls.h"

/* What counts at once; anything else is read at start only. */
static const char *const at_once[] = { "log.level",    "log.format",    "tls.cert",
                                       "tls.key",      "tls.client-ca", "executor.ca",
                                       "http.proxies", "backup.folder", "backup.every",
                                       "backup.keep" };

struct reload {
    const struct config *started;
    struct config last; /* read when the signal came last */
    bool again;         /* there is one */
    int argc;
    char **argv;
    const struct reload_ops *ops;
    struct tls_server *tls;
    struct tls_client *trust;
    pthread_t thread;
    _Atomic bool stop;
};

/* ---- TLS ---------------------------------------------------------------------------------------
 */

static struct tls_files files_of(const struct config *c)
{
    return (struct tls_files){ .cert = config_text(c, "tls.cert"),
                               .key = config_text(c, "tls.key"),
                               .client_ca = config_text(c, "tls.client-ca") };
}

enum err reload_tls_check(const struct config *c, struct why *why)
{
    struct tls_files f = files_of(c);
    if (f.cert && !f.key)
        why_set(why, "tls.cert needs tls.key, the file of its private key");
    else if (f.key && !f.cert)
        why_set(why, "tls.key needs tls.cert, the file of its certificate");
    else if (f.client_ca && !f.cert)
        why_set(why, "tls.client-ca needs tls.cert and tls.key: without them the port speaks plain "
                     "HTTP");
    else
        return OK;
    return ERR_INVALID;
}

static void warn_of_key(const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && (st.st_mode & 0007))
        log_warn("server", "tls.key: every user of this machine may open %s: chmod 600", path);
}

enum err reload_tls_open(const struct config *c, struct tls_server **ret, struct why *why)
{
    struct tls_files f = files_of(c);
    *ret = NULL;
    if (!f.cert)
        return OK;
    warn_of_key(f.key);
    return tls_server_new(&f, ret, why);
}

static void tls_again(struct reload *r, const struct config *now)
{
    struct tls_files f = files_of(now);
    struct why why = { "" };
    if (!r->tls || !f.cert)
        return;
    warn_of_key(f.key);
    if (tls_server_reload(r->tls, &f, &why))
        log_error("server", "reload: the certificate in use stays: %s", why.text);
    else
        log_info("server", "reload: new connections get the certificate in %s", f.cert);
}

static struct tls_trust trust_of(const struct config *c)
{
    return (struct tls_trust){ .ca = config_text(c, "executor.ca"), .setting = "executor.ca" };
}

enum err reload_trust_open(const struct config *c, struct tls_client **ret, struct why *why)
{
    struct tls_trust trust = trust_of(c);
    return tls_client_new(&trust, ret, why);
}

static void trust_again(struct reload *r, const struct config *now)
{
    struct tls_trust trust = trust_of(now);
    struct why why = { "" };
    if (tls_client_reload(r->trust, &trust, &why))
        log_error("server", "reload: executors are checked as before: %s", why.text);
    else
        log_info("server", "reload: new connections to executors are checked with executor.ca=%s",
                 trust.ca);
}

static void certificates_again(struct reload *r, const struct config *now)
{
    tls_again(r, now);
    trust_again(r, now);
}

/* ---- settings ----------------------------------------------------------------------------------
 */

static bool differs(const struct config *a, const struct config *b, const char *key)
{
    const char *x = config_text(a, key), *y = config_text(b, key);
    return x && y ? strcmp(x, y) != 0 : x != y;
}

/* TLS is not begun or ended while the port is open. */
static bool counts_at_once(const struct reload *r, const struct config *now, const char *key)
{
    if (strncmp(key, "tls.", 4) == 0 && (!r->tls || !config_text(now, "tls.cert")))
        return false;
    for (size_t i = 0; i < countof(at_once); i++)
        if (strcmp(key, at_once[i]) == 0)
            return true;
    return false;
}

static void name(struct buf *b, const char *key)
{
    buf_printf(b, "%s%s", b->len ? ", " : "", key);
}

static void tell(struct reload *r, const struct config *now)
{
    struct buf changed = BUF_INIT(8192), later = BUF_INIT(8192);
    const struct config *last = r->again ? &r->last : r->started;
    for (int i = 0; i < now->table->n; i++) {
        const char *key = now->table->rows[i].key;
        if (!counts_at_once(r, now, key)) {
            if (differs(r->started, now, key))
                name(&later, key);
        } else if (differs(last, now, key)) {
            name(&changed, key);
        }
    }
    log_info("server", "reload: changed: %s", changed.len ? buf_str(&changed) : "no setting");
    if (later.len)
        log_warn("server", "reload: these have changed and need a restart: %s", buf_str(&later));
    buf_done(&changed);
    buf_done(&later);
}

static void settings_again(struct reload *r)
{
    struct config now;
    struct why why = { "" };
    enum err err = r->ops->read(r->started->table, r->argc, r->argv, &now, &why);
    if (!err)
        err = r->ops->check(&now, &why);
    if (err) {
        log_error("server", "reload: no setting is changed: %s", why.text);
        config_done(&now);
        certificates_again(r, r->again ? &r->last : r->started);
        return;
    }
    r->ops->apply(&now);
    tell(r, &now);
    certificates_again(r, &now);
    if (r->again)
        config_done(&r->last);
    r->last = now;
    r->again = true;
}

/* ---- the thread --------------------------------------------------------------------------------
 */

static sigset_t hup(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    return set;
}

static void read_again(struct reload *r)
{
    r->ops->busy(true);
    settings_again(r);
    r->ops->busy(false);
}

void reload_hold(void)
{
    sigset_t set = hup();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void *wait_for_it(void *arg)
{
    struct reload *r = arg;
    sigset_t set = hup();
    int number;
    while (sigwait(&set, &number) == 0 && !atomic_load(&r->stop))
        read_again(r);
    return NULL;
}

struct reload *reload_start(const struct config *started, int argc, char **argv,
                            const struct reload_ops *ops, struct tls_server *tls,
                            struct tls_client *trust)
{
    struct reload *r = mem_new(sizeof(*r));
    *r = (struct reload){
        .started = started, .argc = argc, .argv = argv, .ops = ops, .tls = tls, .trust = trust
    };
    int rc = thread_start(&r->thread, "peal-reload", 0, wait_for_it, r);
    if (!rc)
        return r;
    log_error("server", "SIGHUP reads nothing again: cannot start a thread: %s", strerror(rc));
    free(r);
    return NULL;
}

void reload_stop(struct reload *r)
{
    if (!r)
        return;
    atomic_store(&r->stop, true);
    pthread_kill(r->thread, SIGHUP);
    pthread_join(r->thread, NULL);
    if (r->again)
        config_done(&r->last);
    free(r);
}
