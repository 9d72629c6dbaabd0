/* SPDX-License-Identifier: Apache-2.0 */
/* fcntl locks know processes only, and closing any descriptor of a file drops them. So a table of
 * this process says which paths it holds, and a held path is never opened a second time. */
#include "base/filelock.h"
#include "base/list.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct filelock {
    struct list_node node;
    dev_t dev;
    ino_t ino;
    int fd;
};

/* Closing any descriptor of a file gives back the process's record locks on it: so a file that is
 * held here is recognised before it is opened a second time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list held = { { &held.head, &held.head } };

static bool held_here(const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return false;
    list_each(&held, n, tmp)
    {
        const struct filelock *l = container_of(n, struct filelock, node);
        if (l->dev == st.st_dev && l->ino == st.st_ino)
            return true;
    }
    return false;
}

static enum err open_error(void)
{
    if (errno == ENOSPC || errno == EDQUOT)
        return ERR_FULL;
    return errno == EACCES || errno == EPERM || errno == EROFS ? ERR_READONLY : ERR_IO;
}

static enum err take(const char *path, struct filelock *l, int64_t *ret_holder)
{
    struct stat st;
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    if (held_here(path)) {
        *ret_holder = getpid();
        return ERR_BUSY;
    }
    l->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (l->fd < 0 || fstat(l->fd, &st))
        return open_error();
    l->dev = st.st_dev;
    l->ino = st.st_ino;
    if (!fcntl(l->fd, F_SETLK, &whole))
        return OK;
    if (errno != EACCES && errno != EAGAIN)
        return ERR_IO;
    *ret_holder = !fcntl(l->fd, F_GETLK, &whole) && whole.l_type != F_UNLCK ? whole.l_pid : 0;
    return ERR_BUSY;
}

enum err filelock_take(const char *path, struct filelock **ret, int64_t *ret_holder)
{
    struct filelock *l = mem_new(sizeof(*l));
    l->fd = -1;
    pthread_mutex_lock(&lock);
    enum err err = take(path, l, ret_holder);
    if (!err)
        list_push(&held, &l->node);
    pthread_mutex_unlock(&lock);
    if (!err) {
        *ret = l;
        return OK;
    }
    int e = errno;
    if (l->fd >= 0)
        close(l->fd);
    free(l);
    errno = e;
    return err;
}

void filelock_free(struct filelock *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&lock);
    list_remove(&l->node);
    close(l->fd);
    pthread_mutex_unlock(&lock);
    free(l);
}
