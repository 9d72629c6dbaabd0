/* SPDX-License-Identifier: Apache-2.0 */
/* The thread sleeps in its mailbox, and is nicer than the rest of the process: the copy competes
 * with the scheduler for processors and for the disk, and has time. */
#include "server/backups.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "base/mem.h"
#include "base/thread.h"
#include "store/backup.h"
#include "store/url.h"
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define LOOK_MS 1000
#define AGAIN_MS 600000 /* after one that failed, unless the next is due before */
#define NICE 10

struct backups {
    char *url, *folder;
    int64_t every_ms, not_before_ms; /* wall; after a failure */
    int keep;
    struct metrics *metrics;
    struct mailbox *in; /* only the request to stop */
    struct message stop;
    pthread_t thread;
};

static bool step(void *ctx, int64_t done, int64_t all)
{
    const struct backups *b = ctx;
    (void)done;
    (void)all;
    return !mailbox_any(b->in);
}

static void tell_last(struct backups *b, int64_t ms)
{
    atomic_store_explicit(&b->metrics->backup_ms, ms, memory_order_relaxed);
}

static void made(struct backups *b, const struct store_backup *got)
{
    struct why why = { "" };
    tell_last(b, got->at_ms);
    log_info("backup", "%s has all that was committed until it began, %lld KiB", got->path,
             (long long)(got->bytes >> 10));
    if (got->odd.text[0])
        log_error("backup", "%s is made, but %s", got->path, got->odd.text);
    if (store_backup_keep(b->folder, b->keep, got->path, &why))
        log_warn("backup", "older backups stay: %s", why.text);
}

static void make(struct backups *b, int64_t now_ms)
{
    struct store_backup *got = mem_new(sizeof(*got));
    struct why why = { "" };
    enum err err = store_backup(b->url, b->folder, step, b, got, &why);
    if (!err) {
        made(b, got);
    } else if (err != ERR_STOPPING) {
        atomic_fetch_add_explicit(&b->metrics->backup_errors, 1, memory_order_relaxed);
        b->not_before_ms = now_ms + (b->every_ms < AGAIN_MS ? b->every_ms : AGAIN_MS);
        log_error("backup", "no backup could be made: %s", why.text);
    }
    free(got);
}

/* One whose time lies ahead was made before the clock was set back: it counts for nothing. */
static bool due(const struct backups *b, int64_t now_ms)
{
    int64_t newest_ms = store_backup_newest_ms(b->folder);
    bool old = now_ms - newest_ms >= b->every_ms || newest_ms > now_ms;
    bool wait = now_ms < b->not_before_ms && b->not_before_ms - now_ms <= AGAIN_MS;
    return old && !wait;
}

static void *backups_main(void *arg)
{
    struct backups *b = arg;
    struct list incoming;
    list_init(&incoming);
    (void)!setpriority(PRIO_PROCESS, 0, NICE); /* of this thread */
    tell_last(b, store_backup_newest_ms(b->folder));
    while (!mailbox_take(b->in, &incoming)) {
        int64_t now_ms = clock_wall_ms();
        if (due(b, now_ms))
            make(b, now_ms);
        mailbox_wait(b->in, LOOK_MS);
    }
    return NULL;
}

struct backups *backups_new(const char *url, const struct backups_config *config,
                            struct metrics *metrics)
{
    if (!config->folder || !config->folder[0])
        return NULL;
    if (db_url_is(url)) {
        log_warn("backup",
                 "backup.folder does nothing: the database is a server's, which has tools "
                 "of its own (mariadb-backup, mysqldump; pg_basebackup, pg_dump)");
        return NULL;
    }
    struct backups *b = mem_new(sizeof(*b));
    b->url = mem_dup(url);
    b->folder = mem_join(config->folder, "/"); /* if it is not there, no file gets its name */
    b->every_ms = config->every_ms;
    b->keep = config->keep;
    b->metrics = metrics;
    b->in = mailbox_new();
    atomic_store_explicit(&metrics->backup_every_ms, config->every_ms, memory_order_relaxed);
    if (thread_start(&b->thread, "peal-backup", 0, backups_main, b))
        abort(); /* no threads at start: nothing can run */
    return b;
}

void backups_free(struct backups *b)
{
    if (!b)
        return;
    mailbox_send(b->in, &b->stop);
    pthread_join(b->thread, NULL);
    mailbox_free(b->in);
    free(b->url);
    free(b->folder);
    free(b);
}

static bool same(const struct backups *b, const struct backups_config *config)
{
    const char *folder = config->folder ? config->folder : "";
    size_t n = b ? strlen(b->folder) - 1 : 0; /* without the slash behind it */
    if (!b)
        return !folder[0];
    return strlen(folder) == n && memcmp(folder, b->folder, n) == 0 &&
           b->every_ms == config->every_ms && b->keep == config->keep;
}

struct backups *backups_again(struct backups *b, const char *url,
                              const struct backups_config *config, struct metrics *metrics)
{
    if (same(b, config))
        return b;
    backups_free(b);
    atomic_store_explicit(&metrics->backup_every_ms, 0, memory_order_relaxed);
    return backups_new(url, config, metrics);
}
