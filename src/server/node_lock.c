/* SPDX-License-Identifier: Apache-2.0 */
/* node.lock is one line, "EPOCH KEY LOST": whose life the last process of this folder was, on which
 * database, and how many commits it has found that the database had lost. Earlier releases have not
 * written the last number. */
#include "server/node_lock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/str.h"
#include "store/url.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 128

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

static void epoch_read(struct node_lock *l)
{
    char text[LINE_MAX_BYTES] = "";
    text[file_read(l->fd, 0, text, sizeof(text) - 1)] = '\0';
    char *key = strchr(text, ' ');
    if (!key || strncmp(key + 1, l->key, sizeof(l->key) - 1) != 0 ||
        !parse_i64(slice_of(text, (size_t)(key - text)), &l->epoch))
        return;
    struct slice lost = slice_trim(slice_text(key + sizeof(l->key)));
    if (!parse_i64(lost, &l->lost) || l->lost < 0)
        l->lost = 0;
}

enum err node_lock_open(const char *data, const char *db, struct node_lock *ret, struct why *why)
{
    char *path = mem_join(data, "/node.lock");
    *ret = (struct node_lock){ .fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) };
    key_of(db, ret->key);
    enum err err = ret->fd < 0 ? ERR_IO : file_lock(ret->fd);
    if (err == ERR_BUSY)
        why_set(why, "the folder %s is in use by another server; give this one another --data",
                data);
    else if (err)
        why_set(why, "cannot lock %s: %s", path, strerror(errno));
    else
        epoch_read(ret);
    free(path);
    return err;
}

void node_lock_write(const struct node_lock *l, int64_t epoch, int64_t lost)
{
    char text[LINE_MAX_BYTES];
    int size =
        snprintf(text, sizeof(text), "%lld %s %lld\n", (long long)epoch, l->key, (long long)lost);
    if (pwrite(l->fd, text, (size_t)size, 0) != size || ftruncate(l->fd, size))
        log_warn("node", "cannot write node.lock: %s; a start after a kill waits 3 s",
                 strerror(errno));
}

void node_lock_close(struct node_lock *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}
