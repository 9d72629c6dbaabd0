/* SPDX-License-Identifier: Apache-2.0 */
/* A script is kept as {logpath}/gluesource/{jobId}_{glueUpdatetime}{suffix}; the update time names
 * the version, so a newer one is a new file and the older ones go. It becomes visible complete or
 * not at all. Called as: interpreter, file, parameter, shard index, shard total. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"
#include "executor/executor.h"
#include "executor/process.h"
#include "executor/script.h"
#include "wire/texts.h"

static const struct script_kind kinds[] = {
    { "GLUE_SHELL", "shell", "bash", ".sh" },
};

const struct script_kind *script_kind_find(struct slice glue_type)
{
    for (size_t i = 0; i < countof(kinds); i++)
        if (slice_eq(glue_type, kinds[i].glue_type))
            return &kinds[i];
    return NULL;
}

bool script_kind_allowed(const struct script_kind *k, const struct executor_config *config)
{
    return slice_has_item(slice_text(config->glue), slice_text(k->name));
}

enum err script_kinds_check(const char *list, struct why *why)
{
    struct slice rest = slice_text(list);
    for (struct slice name; slice_item(&rest, &name);) {
        bool known = false;
        for (size_t i = 0; i < countof(kinds); i++)
            known |= slice_eq(name, kinds[i].name);
        if (known)
            continue;
        why_set(why, "peal.executor.glue: there is no script kind %.*s; this executor runs: shell",
                (int)utf8_cut(name.p, name.n, 64), name.p);
        return ERR_INVALID;
    }
    return OK;
}

/* --- the file --- */

static void remove_others(const char *folder, const struct peal_run *r, const char *keep)
{
    char prefix[32];
    int n = snprintf(prefix, sizeof(prefix), "%lld_", (long long)r->job_id);
    DIR *d = opendir(folder);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));)
        if (strncmp(e->d_name, prefix, (size_t)n) == 0 && strcmp(e->d_name, keep) != 0)
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
}

static bool write_all(int fd, struct slice s)
{
    while (s.n > 0) {
        ssize_t n = write(fd, s.p, s.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        s.p += n;
        s.n -= (size_t)n;
    }
    return true;
}

static bool write_file(const char *path, struct slice source)
{
    char draft[RUNLOG_PATH + 64];
    snprintf(draft, sizeof(draft), "%s.draft-%d", path, (int)gettid());
    int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool good = write_all(fd, source);
    good = close(fd) == 0 && good;
    good = good && rename(draft, path) == 0;
    int saved = errno;
    if (!good)
        unlink(draft);
    errno = saved;
    return good;
}

/* Two centers may have jobs of the same number and time: the name alone proves nothing. */
static bool holds(const char *path, struct slice source)
{
    char piece[4096];
    bool same = true;
    size_t at = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    for (ssize_t n; same && (n = read(fd, piece, sizeof(piece))) > 0; at += (size_t)n)
        same = at + (size_t)n <= source.n && memcmp(source.p + at, piece, (size_t)n) == 0;
    close(fd);
    return same && at == source.n;
}

/* path: RUNLOG_PATH bytes. False with errno set. */
static bool script_file(const struct peal_run *r, char *path)
{
    char folder[RUNLOG_PATH], name[80];
    snprintf(name, sizeof(name), "%lld_%lld%s", (long long)r->job_id, (long long)r->glue_update_ms,
             r->script->suffix);
    int n = snprintf(folder, sizeof(folder), "%s/gluesource", r->config->logpath);
    int m = snprintf(path, RUNLOG_PATH, "%s/gluesource/%s", r->config->logpath, name);
    if (n >= RUNLOG_PATH || m >= RUNLOG_PATH) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return false;
    if (holds(path, r->source))
        return true;
    if (!write_file(path, r->source))
        return false;
    remove_others(folder, r, name);
    return true;
}

void script_run(struct peal_run *r)
{
    char path[RUNLOG_PATH], interpreter[32], index[16], total[16];
    if (!script_file(r, path)) {
        run_result(r, WIRE_CODE_FAIL, "the script cannot be kept in %.400s: %s", path,
                   strerror(errno));
        return;
    }
    snprintf(interpreter, sizeof(interpreter), "%s", r->script->interpreter);
    snprintf(index, sizeof(index), "%d", r->shard);
    snprintf(total, sizeof(total), "%d", r->shard_total);
    char *params = (char *)r->params.p; /* terminated, and without a NUL inside */
    char *argv[] = { interpreter, path, params, index, total, NULL };
    run_log(r, "script file: %s", path);
    process_run(r, argv);
}
