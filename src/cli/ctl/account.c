/* SPDX-License-Identifier: Apache-2.0 */
/* The file is small JSON, {"url", "token", "ca"}, replaced by a rename. */
#include "cli/ctl/account.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/ctl/http.h"
#include "cli/ctl/print.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 65536 };

static bool path_of(char to[PATH_MAX], const char *name)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int n = -1;
    if (config && *config == '/')
        n = snprintf(to, PATH_MAX, "%s%s", config, name);
    else if (home && *home)
        n = snprintf(to, PATH_MAX, "%s/.config%s", home, name);
    return n > 0 && n < PATH_MAX;
}

char *ctl_account_url(const char *url)
{
    size_t n = strlen(url);
    while (n && url[n - 1] == '/')
        n--;
    return mem_dupn(url, n);
}

/* ---- read ------------------------------------------------------------------------------------ */

static bool read_all(int fd, struct buf *text)
{
    struct stat st;
    if (fstat(fd, &st) || st.st_size > FILE_MAX)
        return false;
    char *room = buf_room(text, (size_t)st.st_size + 1);
    if (!room)
        return false;
    text->len += file_read(fd, 0, room, (size_t)st.st_size);
    return true;
}

/* The file's object, owned; NULL with CTL_DONE: there is none. */
static enum ctl_exit load(const struct ctl *c, json_t **ret)
{
    char path[PATH_MAX];
    struct stat st;
    struct buf text = BUF_INIT(FILE_MAX + 1);
    if (!path_of(path, "/peal/ctl.json"))
        return CTL_DONE;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? CTL_DONE
                   : ctl_say(c, CTL_FAILED, "%s: %s", path, strerror(errno));
    enum ctl_exit status = CTL_DONE;
    if (fstat(fd, &st) || (st.st_mode & 077) || st.st_uid != geteuid()) {
        status = ctl_say(c, CTL_FAILED,
                         "%s has a token and others may read or have written it: chmod 600 it, or "
                         "remove it and log in again",
                         path);
    } else if (!read_all(fd, &text) || !(*ret = json_loadb(buf_str(&text), text.len, 0, NULL))) {
        status = ctl_say(c, CTL_FAILED, "%s cannot be read: remove it and log in again", path);
    }
    close(fd);
    buf_done(&text);
    return status;
}

static const char *first(const char *option, const char *variable)
{
    const char *value = option ? option : getenv(variable);
    return value && *value ? value : NULL;
}

/* The token of an option, the environment, or the file, if that is of this center. A login keeps
 * only one that is named. */
static enum ctl_exit find_token(struct ctl *c, const json_t *file, bool login)
{
    const char *path = ctl_option(c, "--token-file"), *variable = getenv("PEAL_TOKEN");
    if (path) {
        c->token = ctl_read_secret(c, "--token-file", path);
        return c->token ? CTL_DONE : CTL_USAGE;
    }
    if (login)
        return CTL_DONE;
    if (variable && *variable)
        c->token = mem_dup(variable);
    else if (file && strcmp(ctl_text(file, "url"), c->url) == 0 && *ctl_text(file, "token"))
        c->token = mem_dup(ctl_text(file, "token"));
    return CTL_DONE;
}

static enum ctl_exit check_url(const struct ctl *c)
{
    if (!c->url)
        return ctl_say(c, CTL_USAGE,
                       "which center? Log in with peal ctl login URL, or set --url or PEAL_URL");
    if (!ctl_url_good(c->url))
        return ctl_say(c, CTL_USAGE,
                       "the center's address is http://HOST:PORT or https://HOST:PORT, without a "
                       "user, not %.200s",
                       c->url);
    return CTL_DONE;
}

static bool token_good(const char *token)
{
    for (const char *p = token; *p; p++)
        if (*p <= ' ' || *p > '~')
            return false;
    return true;
}

static enum ctl_exit check_token(const struct ctl *c, bool need)
{
    if (!c->token && need)
        return ctl_say(c, CTL_NOT_PERMITTED,
                       "there is no token for %.200s: log in with peal ctl login %.200s, or set "
                       "--token-file or PEAL_TOKEN",
                       c->url, c->url);
    if (c->token && !token_good(c->token))
        return ctl_say(c, CTL_USAGE, "the token has characters that no token has");
    return CTL_DONE;
}

static enum ctl_exit settle(struct ctl *c, const json_t *file, bool need)
{
    const char *url = first(ctl_option(c, "--url"), "PEAL_URL");
    const char *ca = first(ctl_option(c, "--ca"), "PEAL_CA");
    if (!c->url && (url || (file && *ctl_text(file, "url"))))
        c->url = ctl_account_url(url ? url : ctl_text(file, "url"));
    enum ctl_exit status = check_url(c);
    if (status != CTL_DONE || !c->url)
        return status;
    bool same = file && strcmp(ctl_text(file, "url"), c->url) == 0;
    if (!ca && same && *ctl_text(file, "ca"))
        ca = ctl_text(file, "ca");
    c->ca = mem_dup(ca);
    status = find_token(c, file, !need);
    return status == CTL_DONE ? check_token(c, need) : status;
}

enum ctl_exit ctl_account(struct ctl *c, bool need_token)
{
    json_t *file = NULL;
    enum ctl_exit status = load(c, &file);
    if (status == CTL_DONE)
        status = settle(c, file, need_token);
    json_decref(file);
    return status;
}

/* ---- write ----------------------------------------------------------------------------------- */

static bool make_folders(const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof(folder), "%s", path);
    for (char *p = strchr(folder + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        if (mkdir(folder, 0700) && errno != EEXIST)
            return false;
        *p = '/';
    }
    return true;
}

static bool write_file(const char *path, struct slice text)
{
    char made[PATH_MAX + 8];
    snprintf(made, sizeof(made), "%s.XXXXXX", path);
    int fd = make_folders(path) ? mkostemp(made, O_CLOEXEC) : -1; /* 0600 */
    if (fd < 0)
        return false;
    bool good = file_write(fd, text) && fsync(fd) == 0;
    good = close(fd) == 0 && good;
    if (good && rename(made, path) == 0)
        return true;
    int number = errno;
    unlink(made);
    errno = number;
    return false;
}

/* As seen from any folder. */
static char *whole_path(const char *path)
{
    return path ? realpath(path, NULL) : NULL;
}

bool ctl_account_keep(const struct ctl *c, char **ret_path)
{
    char path[PATH_MAX];
    if (!path_of(path, "/peal/ctl.json")) {
        ctl_say(c, CTL_FAILED,
                "neither HOME nor XDG_CONFIG_HOME says where the token is to be "
                "kept");
        return false;
    }
    char *ca = whole_path(c->ca);
    json_t *o = json_pack("{ss ss ss*}", "url", c->url, "token", c->token, "ca", ca);
    char *text = o ? json_dumps(o, JSON_INDENT(2)) : NULL;
    bool good = text && write_file(path, slice_text(text));
    if (!good)
        ctl_say(c, CTL_FAILED, "%s cannot be written: %s", path, strerror(errno));
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
    free(ca);
    json_decref(o);
    if (good)
        *ret_path = mem_dup(path);
    return good;
}

bool ctl_account_forget(const struct ctl *c, bool *ret)
{
    char path[PATH_MAX];
    *ret = path_of(path, "/peal/ctl.json") && unlink(path) == 0;
    if (*ret || errno == ENOENT || errno == ENOTDIR)
        return true;
    ctl_say(c, CTL_FAILED, "%s: %s", path, strerror(errno));
    return false;
}
