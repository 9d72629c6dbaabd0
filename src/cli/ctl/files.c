/* SPDX-License-Identifier: Apache-2.0 */
/* Files that the command line names: bounded, and said by name when they cannot be used. */
#include "cli/ctl/ctl.h"
#include "base/mem.h"
#include "base/str.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool fill(int fd, struct buf *ret)
{
    for (;;) {
        char *room = buf_room(ret, 65536);
        ssize_t n = room ? read(fd, room, 65536) : 0;
        if (n > 0) {
            ret->len += (size_t)n;
            ret->data[ret->len] = '\0';
        } else if (n == 0 || errno != EINTR) {
            return n == 0;
        }
    }
}

bool ctl_read(const struct ctl *c, const char *what, const char *path, size_t max, struct buf *ret)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    buf_init(ret, max + 65536);
    bool good = fd >= 0 && fill(fd, ret);
    if (!good)
        ctl_say(c, CTL_USAGE, "%s: %s: %s", what, path, strerror(errno));
    if (fd >= 0 && !standard)
        close(fd);
    if (good && (ret->failed || ret->len > max)) {
        ctl_say(c, CTL_USAGE, "%s: %s has more than %zu bytes", what, path, max);
        good = false;
    }
    if (!good)
        buf_done(ret);
    return good;
}

json_t *ctl_read_object(const struct ctl *c, const char *path)
{
    struct buf text;
    json_error_t error;
    if (!ctl_read(c, "--file", path, CTL_FILE_MAX, &text))
        return NULL;
    json_t *o = json_loadb(buf_str(&text), text.len, JSON_REJECT_DUPLICATES, &error);
    buf_done(&text);
    if (!o)
        ctl_say(c, CTL_USAGE, "--file: %s, line %d: %s", path, error.line, error.text);
    if (o && !json_is_object(o)) {
        ctl_say(c, CTL_USAGE, "--file: %s is not a JSON object", path);
        json_decref(o);
        return NULL;
    }
    return o;
}

char *ctl_read_secret(const struct ctl *c, const char *what, const char *path)
{
    struct buf text;
    if (!ctl_read(c, what, path, 4096, &text))
        return NULL;
    struct slice rest = slice_of(buf_str(&text), text.len), line = { NULL, 0 };
    (void)slice_cut(&rest, '\n', &line);
    line = slice_trim(line);
    char *secret = line.n ? mem_dupn(line.p, line.n) : NULL;
    if (!secret)
        ctl_say(c, CTL_USAGE, "%s: the first line of %s is empty", what, path);
    if (text.data)
        explicit_bzero(text.data, text.len);
    buf_done(&text);
    return secret;
}
