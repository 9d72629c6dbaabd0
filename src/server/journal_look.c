/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes are taken as they are: a server may write them meanwhile, and a record that is half
 * written is none. */
#include "server/journal_look.h"
#include "base/file.h"
#include "base/mem.h"
#include "server/journal/journal_file.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void each(void *ctx, const struct journal_result *r)
{
    (void)ctx;
    (void)r;
}

static unsigned count(const char *data, const char *name)
{
    char path[PATH_MAX];
    struct journal_scan scan = { 0 };
    struct stat st;
    snprintf(path, sizeof(path), "%s/%s", data, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 ? (size_t)st.st_size : 0;
    char *bytes = n && n <= JOURNAL_MAX ? try_alloc(n) : NULL;
    if (bytes)
        journal_scan(bytes, file_read(fd, 0, bytes, n), each, NULL, &scan);
    free(bytes);
    if (fd >= 0)
        close(fd);
    return scan.records;
}

unsigned journal_look(const char *data)
{
    return count(data, "callbacks.journal") + count(data, "callbacks.journal.2");
}
