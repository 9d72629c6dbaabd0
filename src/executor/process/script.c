/* SPDX-License-Identifier: Apache-2.0 */
/* A script is kept as {logpath}/gluesource/{jobId}_{glueUpdatetime}{suffix}; the update time names
 * the version, so a newer one is a new file and the older ones go. It becomes visible complete or
 * not at all. Called as: interpreter, file, parameter, shard index, shard total. Scripts of another
 * user belong to the executor's and to that user's group, which may read them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "base/mem.h"
#include "executor/process/process.h"
#include "executor/process/script.h"
#include "executor/process/spawn.h"
#include "wire/texts.h"

/* What XXL-JOB starts differs by release; these are the names that its latest ones look for. */
static const struct script_kind kinds[] = {
    { "GLUE_SHELL", "shell", { "bash", NULL }, ".sh", false },
    { "GLUE_PYTHON", "python", { "python3", NULL }, ".py", false },
    { "GLUE_PYTHON2", "python2", { "python2", "python" }, ".py", true },
    { "GLUE_PHP", "php", { "php", NULL }, ".php", false },
    { "GLUE_NODEJS", "nodejs", { "node", NULL }, ".js", false },
    { "GLUE_POWERSHELL", "powershell", { "pwsh", "powershell" }, ".ps1", false },
};

enum { ASK_MS = 10000 };

const struct script_kind *script_kind_find(struct slice glue_type)
{
    for (size_t i = 0; i < countof(kinds); i++)
        if (slice_eq(glue_type, kinds[i].glue_type))
            return &kinds[i];
    return NULL;
}

const char *script_kind_hint(struct slice glue_type)
{
    if (!slice_eq(glue_type, "GLUE_GROOVY"))
        return NULL;
    return "An executor in C cannot run Groovy: make it a handler of a program with libpeal, or a "
           "script of another kind, or leave the job to a Java executor.";
}

bool script_kind_allowed(const struct script_kind *k, const char *list)
{
    return slice_has_item(slice_text(list), slice_text(k->name));
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
        why_set(why,
                "peal.executor.glue: there is no script kind %.*s; there are shell, python, "
                "python2, php, nodejs, powershell",
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

/* A script can be read by the executor and, if it is another one, its user by their group. */
static mode_t mode_of(const struct limits *l)
{
    return l->change_user ? 0640 : 0600;
}

static bool give(int fd, const struct limits *l, mode_t mode)
{
    return (!l->change_user || fchown(fd, (uid_t)-1, l->gid) == 0) && fchmod(fd, mode) == 0;
}

static bool write_file(const char *path, struct slice source, const struct limits *l)
{
    char draft[RUNLOG_PATH + 64];
    snprintf(draft, sizeof(draft), "%s.draft-%d", path, (int)gettid());
    int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    bool good = file_write(fd, source) && give(fd, l, mode_of(l));
    int saved = errno;
    if (close(fd) < 0 && good) {
        saved = errno;
        good = false;
    }
    if (good && rename(draft, path) < 0) {
        saved = errno;
        good = false;
    }
    if (!good)
        unlink(draft);
    errno = saved;
    return good;
}

/* Two centers may have jobs of the same number and time: the name alone proves nothing. */
static bool holds(const char *path, struct slice source, const struct limits *l)
{
    char piece[4096];
    struct stat s;
    size_t at = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool same = fstat(fd, &s) == 0 && (s.st_mode & 07777) == mode_of(l) && s.st_uid == geteuid() &&
                (!l->change_user || s.st_gid == l->gid);
    for (ssize_t n; same && (n = read(fd, piece, sizeof(piece))) > 0; at += (size_t)n)
        same = at + (size_t)n <= source.n && memcmp(source.p + at, piece, (size_t)n) == 0;
    close(fd);
    return same && at == source.n;
}

static bool folder_name(const struct run_context *context, char *folder)
{
    if (snprintf(folder, RUNLOG_PATH, "%s/gluesource", context->logpath) < RUNLOG_PATH)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

static bool make_folder(const char *folder, const struct limits *l)
{
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return false;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && give(fd, l, l->change_user ? 0750 : 0700);
    int saved = errno;
    if (fd >= 0)
        close(fd);
    errno = saved;
    return good;
}

enum err script_folder(const struct run_context *context, struct why *why)
{
    const struct limits *l = context->limits;
    char folder[RUNLOG_PATH], which[300];
    if (!folder_name(context, folder) || !make_folder(folder, l)) {
        why_set(why, "the folder for scripts in %.300s: %s", context->logpath, strerror(errno));
        return ERR_IO;
    }
    if (!l->change_user || limits_may_use(l, folder, which, sizeof(which)))
        return OK;
    why_set(why,
            "peal.executor.glue.user: the user cannot go into %s, and scripts are kept below it",
            which);
    return ERR_INVALID;
}

/* path: RUNLOG_PATH bytes. False with errno set. */
static bool script_file(const struct peal_run *r, char *path)
{
    const struct limits *l = r->context->limits;
    char folder[RUNLOG_PATH], name[80];
    snprintf(name, sizeof(name), "%lld_%lld%s", (long long)r->job_id, (long long)r->glue_update_ms,
             r->script->suffix);
    path[0] = '\0';
    if (!folder_name(r->context, folder))
        return false;
    if (snprintf(path, RUNLOG_PATH, "%s/%s", folder, name) >= RUNLOG_PATH) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (holds(path, r->source, l))
        return true;
    if (!write_file(path, r->source, l)) {
        /* the folder was removed since the start */
        if (errno != ENOENT || !make_folder(folder, l) || !write_file(path, r->source, l))
            return false;
    }
    remove_others(folder, r, name);
    return true;
}

/* --- the interpreter --- */

static bool is_python2(const struct run_context *context, const char *program)
{
    char *argv[] = { (char *)program, (char *)"-c",
                     (char *)"import sys; sys.exit(2 if sys.version_info[0] == 2 else 3)", NULL };
    return process_ask(context, argv, ASK_MS) == 2;
}

/* path: as much as a program's takes. False: the run has its result. */
static bool find_interpreter(struct peal_run *r, char *path, size_t size)
{
    const struct script_kind *k = r->script;
    const struct limits *l = r->context->limits;
    const char *where = limits_env(l, "PATH");
    for (size_t i = 0; i < countof(k->interpreters) && k->interpreters[i]; i++)
        if (spawn_find(l, k->interpreters[i], path, size) &&
            (i == 0 || !k->is_python2 || is_python2(r->context, path)))
            return true;
    if (k->interpreters[1])
        run_result(r, WIRE_CODE_FAIL, "%s needs %s, or %s%s; neither is in PATH, which is %.300s",
                   k->glue_type, k->interpreters[0], k->interpreters[1],
                   k->is_python2 ? " of version 2" : "", where);
    else
        run_result(r, WIRE_CODE_FAIL, "%s needs %s, which is not in PATH, which is %.300s",
                   k->glue_type, k->interpreters[0], where);
    return false;
}

void script_run(struct peal_run *r)
{
    char path[RUNLOG_PATH], interpreter[4096], index[16], total[16];
    if (!find_interpreter(r, interpreter, sizeof(interpreter)))
        return;
    if (!script_file(r, path)) {
        run_result(r, WIRE_CODE_FAIL, "the script cannot be kept in %.400s: %s", path,
                   strerror(errno));
        return;
    }
    snprintf(index, sizeof(index), "%d", r->shard);
    snprintf(total, sizeof(total), "%d", r->shard_total);
    char *params = (char *)r->params.p; /* terminated, and without a NUL inside */
    char *argv[] = { interpreter, path, params, index, total, NULL };
    run_log(r, "script file: %s", path);
    process_run(r, r->context->limits, argv);
}
