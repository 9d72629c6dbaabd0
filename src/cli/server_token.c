/* SPDX-License-Identifier: Apache-2.0 */
/* server_token.c - the access token of `peal server`: given, kept in a file of the data folder, or
 * made at the first start. One that everybody knows is refused. */
#include "api/group_tokens.h"
#include "base/file.h"
#include "base/secret.h"
#include "cli/server_settings.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* First line of the file; false if there is no file. */
static bool token_read(const char *path, char *to, size_t size, struct why *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno != ENOENT)
            why_set(why, "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    char text[SERVER_TOKEN_MAX + 2];
    ssize_t n = read(fd, text, sizeof(text));
    close(fd);
    struct slice s = slice_trim(slice_of(text, n > 0 ? (size_t)n : 0));
    if (n < 0)
        why_set(why, "cannot read %s: %s", path, strerror(errno));
    else if (s.n == 0 || s.n > SERVER_TOKEN_MAX)
        why_set(why, "%s must hold a token of 1-%d bytes; delete it to get a new one", path,
                SERVER_TOKEN_MAX);
    else
        text_copy(to, size, s);
    return !why->text[0];
}

static bool token_write(const char *path, const char *token, struct why *why)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && file_write(fd, slice_text(token)) && file_write(fd, slice_of("\n", 1)) &&
              fsync(fd) == 0;
    if (!ok)
        why_set(why, "cannot write %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok;
}

bool server_token_known(const char *token)
{
    return group_token_famous(token);
}

enum err server_token_choose(const struct config *c, char to[SERVER_TOKEN_MAX + 1], bool *ret_made,
                             struct why *why)
{
    const char *given = config_text(c, "token"), *data = config_text(c, "data");
    *ret_made = false;
    if (given && !given[0] && !config_flag(c, "insecure-no-token")) {
        why_set(why, "token is empty: anybody could register as an executor or end runs; "
                     "--insecure-no-token allows it");
        return ERR_INVALID;
    }
    if (given && server_token_known(given) && !config_flag(c, "insecure-known-token")) {
        why_set(why,
                "token is %s, which everybody knows from XXL-JOB's documentation: anybody could "
                "register as an executor or end runs. Choose another, here and as "
                "xxl.job.accessToken of the executors, or leave it out and a random one is made; "
                "--insecure-known-token allows it",
                given);
        return ERR_INVALID;
    }
    if (given && strlen(given) > SERVER_TOKEN_MAX) {
        why_set(why, "token must have at most %d bytes", SERVER_TOKEN_MAX);
        return ERR_INVALID;
    }
    for (const char *p = given ? given : ""; *p; p++)
        if (*p < '!' || *p > '~') {
            why_set(why, "token must be printable ASCII without blanks (it is sent in a header)");
            return ERR_INVALID;
        }
    text_copy(to, SERVER_TOKEN_MAX + 1, slice_text(given));
    if (given || config_flag(c, "insecure-no-token"))
        return OK;
    char path[4096];
    if (snprintf(path, sizeof(path), "%s/" SERVER_TOKEN_FILE, data) >= (int)sizeof(path)) {
        why_set(why, "data must be shorter than 4,000 bytes");
        return ERR_INVALID;
    }
    if (mkdir(data, 0750) < 0 && errno != EEXIST) {
        why_set(why, "cannot make the data folder %s: %s", data, strerror(errno));
        return ERR_IO;
    }
    if (token_read(path, to, SERVER_TOKEN_MAX + 1, why))
        return OK;
    if (why->text[0])
        return ERR_IO;
    secret_token(to, SERVER_TOKEN_MAX + 1, 24);
    *ret_made = true;
    return token_write(path, to, why) ? OK : ERR_IO;
}
