/* SPDX-License-Identifier: Apache-2.0 */
/* setting.c - what is wrong with a file is said at the start, not when the first run has failed. */
#include "alarm/setting.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"

enum err setting_secret(const char *key, const char *path, char **ret, struct why *why)
{
    char text[SETTING_SECRET_MAX + 2];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
    int failed = errno;
    if (fd >= 0)
        close(fd);
    if (n < 0) {
        why_set(why, "%s: cannot read %s: %s", key, path, strerror(failed));
        return ERR_IO;
    }
    const char *end = memchr(text, '\n', (size_t)n);
    struct slice line = slice_trim(slice_of(text, end ? (size_t)(end - text) : (size_t)n));
    bool good = line.n && line.n <= SETTING_SECRET_MAX && !memchr(line.p, '\0', line.n);
    if (good)
        *ret = mem_dupn(line.p, line.n);
    else
        why_set(why, "%s: the first line of %s must have 1-%d bytes", key, path,
                SETTING_SECRET_MAX);
    explicit_bzero(text, sizeof(text));
    return good ? OK : ERR_INVALID;
}

enum err setting_readable(const char *key, const char *path, struct why *why)
{
    if (!path || access(path, R_OK) == 0)
        return OK;
    why_set(why, "%s: cannot read %s: %s", key, path, strerror(errno));
    return ERR_INVALID;
}
