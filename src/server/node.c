/* SPDX-License-Identifier: Apache-2.0 */
/* The thread sleeps in its mailbox and beats when the time is up. Nothing depends on a beat that
 * fails: what ends this server's right to write is the fence in its commits. */
#include "server/node.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/thread.h"
#include "store/url.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVERY_MS 1000
#define ROUND_TRIP_MS 100 /* a slower answer says nothing about clocks */
#define SKEW_MS 250       /* more is told */
#define LINE_MAX_BYTES 128

struct node {
    char *db, *password, *address;
    char name[129];
    char key[65]; /* of the database's URL, for the file */
    int fd;       /* node.lock */
    int64_t gone_epoch;
    struct store *store; /* of the beat; NULL: not open */
    struct store_options options;
    struct metrics *metrics;
    int64_t beats;
    bool skewed, silent; /* has been told */
    struct mailbox *in;  /* only the request to stop */
    struct message stop;
    pthread_t thread;
    bool started;
};

/* ---- the data folder's memory ---------------------------------------------------------------- */

static void key_of(const char *db, char key[65])
{
    struct db_url u;
    char text[1024] = "";
    unsigned char digest[32];
    if (!db_url_parse(db, &u, NULL)) {
        db_url_text(&u, text, sizeof(text));
        db_url_wipe(&u);
    }
    sha256(text, strlen(text), digest);
    hex_text(digest, sizeof(digest), key);
}

/* "EPOCH KEY": whose life the last process of this folder was. */
static int64_t epoch_read(const struct node *n)
{
    char text[LINE_MAX_BYTES] = "";
    int64_t epoch = 0;
    text[file_read(n->fd, 0, text, sizeof(text) - 1)] = '\0';
    char *blank = strchr(text, ' ');
    if (!blank || strncmp(blank + 1, n->key, sizeof(n->key) - 1) != 0)
        return 0;
    return parse_i64(slice_of(text, (size_t)(blank - text)), &epoch) ? epoch : 0;
}

static void epoch_write(const struct node *n, int64_t epoch)
{
    char text[LINE_MAX_BYTES];
    int size = snprintf(text, sizeof(text), "%lld %s\n", (long long)epoch, n->key);
    if (pwrite(n->fd, text, (size_t)size, 0) != size || ftruncate(n->fd, size))
        log_warn("node", "cannot write node.lock: %s; a start after a kill waits 3 s",
                 strerror(errno));
}

static enum err lock(struct node *n, const char *data, struct why *why)
{
    char *path = mem_join(data, "/node.lock");
    n->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    enum err err = n->fd < 0 ? ERR_IO : file_lock(n->fd);
    if (err == ERR_BUSY)
        why_set(why, "the folder %s is in use by another server; give this one another --data",
                data);
    else if (err)
        why_set(why, "cannot lock %s: %s", path, strerror(errno));
    free(path);
    return err;
}

static void name_take(struct node *n, const char *name)
{
    char host[65] = "";
    if (!name || !*name) {
        if (gethostname(host, sizeof(host) - 1) || !host[0])
            snprintf(host, sizeof(host), "peal");
        name = host;
    }
    text_copy(n->name, sizeof(n->name), slice_text(name));
}

enum err node_new(const char *data, const char *db, const char *password, const char *name,
                  struct metrics *metrics, struct node **ret, struct why *why)
{
    *ret = NULL;
    if (!db_url_is(db))
        return OK;
    struct node *n = mem_new(sizeof(*n));
    n->fd = -1;
    n->db = mem_dup(db);
    n->password = mem_dup(password);
    n->metrics = metrics;
    name_take(n, name);
    key_of(db, n->key);
    enum err err = lock(n, data, why);
    if (err) {
        node_free(n);
        return err;
    }
    n->gone_epoch = epoch_read(n);
    *ret = n;
    return OK;
}

int64_t node_gone_epoch(const struct node *n)
{
    return n ? n->gone_epoch : 0;
}

const char *node_name(const struct node *n)
{
    return n ? n->name : NULL;
}

/* ---- the beat -------------------------------------------------------------------------------- */

/* The clock of the database is not used for anything here, but people compare its times with ours,
 * and the next server may stand on another machine. */
static void clock_look(struct node *n, int64_t before_us, int64_t after_us, int64_t wall_ms,
                       int64_t clock_ms)
{
    int64_t trip_us = after_us - before_us;
    if (clock_ms < 0 || trip_us > ROUND_TRIP_MS * 1000)
        return;
    int64_t skew_ms = clock_ms - (wall_ms - trip_us / 2000);
    atomic_store_explicit(&n->metrics->db_skew_ms, skew_ms, memory_order_relaxed);
    bool skewed = skew_ms > SKEW_MS || skew_ms < -SKEW_MS;
    if (skewed && !n->skewed)
        log_warn("node",
                 "the database's clock is %lld ms %s this machine's: let both follow a time server",
                 (long long)(skew_ms < 0 ? -skew_ms : skew_ms),
                 skew_ms < 0 ? "behind" : "ahead of");
    n->skewed = skewed;
}

static enum err connected(struct node *n, struct why *why)
{
    struct store *store = n->store;
    enum err err = store ? OK : store_open(n->db, &n->options, &store, why);
    if (!err)
        n->store = store;
    return err;
}

static enum err beat_once(struct node *n, struct why *why)
{
    struct node_beat b = { .n = ++n->beats,
                           .wall_ms = clock_wall_ms(),
                           .live = atomic_load_explicit(&n->metrics->open, memory_order_relaxed),
                           .address = n->address,
                           .version = PEAL_VERSION };
    bool ours = true;
    int64_t clock_ms = -1;
    enum err err = connected(n, why);
    if (err)
        return err;
    int64_t before_us = clock_boot_us();
    err = n->store->ops->cluster->beat(n->store, &b, &ours, &clock_ms, why);
    if (err)
        return err;
    clock_look(n, before_us, clock_boot_us(), clock_wall_ms(), clock_ms);
    atomic_store_explicit(&n->metrics->db_beat_ms, clock_wall_ms(), memory_order_relaxed);
    atomic_store_explicit(&n->metrics->db_server, 1, memory_order_relaxed);
    if (!ours)
        why_set(why, "another server has taken the database over");
    return ours ? OK : ERR_FENCED;
}

static void beat(struct node *n)
{
    struct why why = { "" };
    enum err err = beat_once(n, &why);
    if (err && !n->silent)
        log_warn("node", "no beat: %s; a server that starts now would wait 3 s and take over",
                 why.text);
    else if (!err && n->silent)
        log_info("node", "the database takes the beat again");
    n->silent = err != OK;
}

static void *node_main(void *arg)
{
    struct node *n = arg;
    struct list incoming;
    list_init(&incoming);
    while (!mailbox_take(n->in, &incoming)) {
        beat(n);
        mailbox_wait(n->in, EVERY_MS);
    }
    return NULL;
}

enum err node_start(struct node *n, struct store *store, const char *address, struct why *why)
{
    if (!n || !store->ops->cluster)
        return OK;
    int64_t node, epoch;
    store->ops->cluster->life(store, &node, &epoch);
    n->options = (struct store_options){
        .node = node, .epoch = epoch, .life = epoch, .password = n->password
    };
    n->address = mem_dup(address);
    epoch_write(n, epoch);
    log_info("node", "%s is node %lld of this database, epoch %lld", n->name, (long long)node,
             (long long)epoch);
    enum err err = beat_once(n, why); /* rights and limits of connections show at the start */
    if (err)
        return err;
    n->in = mailbox_new();
    if (thread_start(&n->thread, "peal-node", 0, node_main, n))
        abort(); /* no threads at start: nothing can run */
    n->started = true;
    return OK;
}

void node_free(struct node *n)
{
    if (!n)
        return;
    if (n->started) {
        mailbox_send(n->in, &n->stop);
        pthread_join(n->thread, NULL);
    }
    if (n->in)
        mailbox_free(n->in);
    store_close(n->store);
    if (n->fd >= 0)
        close(n->fd);
    if (n->password)
        explicit_bzero(n->password, strlen(n->password));
    free(n->password);
    free(n->db);
    free(n->address);
    free(n);
}
