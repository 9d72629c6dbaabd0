/* SPDX-License-Identifier: Apache-2.0 */
/* Files are read whole and looked at before any of them counts; a name that two of them have is an
 * error, because nothing says which is meant. */
#include "base/mem.h"
#include "cli/ctl/desired.h"
#include "cli/ctl/value.h"
#include "wire/catalog.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A group's key is its app name and an empty name, which no job has. */
static enum ctl_exit add_name(const struct ctl *c, struct desired *d, const char *app,
                              const char *name, const char *where)
{
    struct buf key = BUF_INIT(1 << 20);
    buf_printf(&key, "%s\n%s", app, name);
    const char *other = json_string_value(json_object_get(d->names, buf_str(&key)));
    if (!other)
        json_object_set_new(d->names, buf_str(&key), json_string(where));
    buf_done(&key);
    return other ? ctl_say(c, CTL_USAGE, "%s: it stands in %s, too", where, other) : CTL_DONE;
}

static char *where_of(const char *path, const char *list, size_t i)
{
    struct buf b = BUF_INIT(PATH_MAX + 100);
    buf_printf(&b, "%s: /%s/%zu", path, list, i);
    return buf_take(&b);
}

static enum ctl_exit add_list(const struct ctl *c, struct desired *d, const char *path,
                              const json_t *doc, bool jobs)
{
    const json_t *list = json_object_get(doc, jobs ? "jobs" : "groups"), *want;
    struct desired_item **items = jobs ? &d->jobs : &d->groups;
    size_t *n = jobs ? &d->njobs : &d->ngroups, i;
    *items = mem_resize(*items, (*n + json_array_size(list) + 1) * sizeof(**items));
    json_array_foreach(list, i, want)
    {
        char *where = where_of(path, jobs ? "jobs" : "groups", i);
        (*items)[(*n)++] = (struct desired_item){ want, where };
        enum ctl_exit status = add_name(c, d, ctl_text(want, jobs ? "group" : "app"),
                                        jobs ? ctl_text(want, "name") : "", where);
        if (status != CTL_DONE)
            return status;
    }
    return CTL_DONE;
}

/* What else export writes. */
static void tell_left(const struct ctl *c, const char *path, const json_t *doc)
{
    static const char *const lists[] = { "users", "channels", "rules", "silences" };
    for (size_t i = 0; i < countof(lists); i++) {
        size_t n = json_array_size(json_object_get(doc, lists[i]));
        if (n)
            ctl_say(c, CTL_DONE,
                    "%s: /%s: these %zu are left as they are: apply takes groups and "
                    "jobs",
                    path, lists[i], n);
    }
}

static enum ctl_exit read_file(const struct ctl *c, const char *path, struct desired *d)
{
    struct buf text;
    struct why why = { "" };
    json_t *doc = NULL;
    if (!ctl_read(c, "--file", path, CATALOG_BYTES_MAX, &text))
        return CTL_USAGE;
    enum err err = catalog_read(slice_of(buf_str(&text), text.len), &doc, &why);
    buf_done(&text);
    if (err)
        return ctl_say(c, CTL_USAGE, "%s: %s", path, why.text[0] ? why.text : err_text(err));
    json_array_append_new(d->documents, doc);
    tell_left(c, path, doc);
    enum ctl_exit status = add_list(c, d, path, doc, false);
    return status == CTL_DONE ? add_list(c, d, path, doc, true) : status;
}

static int is_json(const struct dirent *e)
{
    size_t n = strlen(e->d_name);
    return e->d_name[0] != '.' && n > 5 && strcmp(e->d_name + n - 5, ".json") == 0;
}

static enum ctl_exit read_folder(const struct ctl *c, const char *path, struct desired *d)
{
    struct dirent **names = NULL;
    int n = scandir(path, &names, is_json, alphasort);
    enum ctl_exit status = CTL_DONE;
    if (n < 0)
        return ctl_say(c, CTL_USAGE, "--file: %s: %s", path, strerror(errno));
    if (n == 0 || n > DESIRED_FILES_MAX)
        status = ctl_say(c, CTL_USAGE, "--file: %s has %s .json", path,
                         n ? "over 1000 files that end in" : "no file that ends in");
    for (int i = 0; i < n; i++) {
        char *folder = mem_join(path, "/"), *file = mem_join(folder, names[i]->d_name);
        if (status == CTL_DONE)
            status = read_file(c, file, d);
        free(file);
        free(folder);
        free(names[i]);
    }
    free(names);
    return status;
}

enum ctl_exit desired_read(const struct ctl *c, const char *path, struct desired *ret)
{
    struct stat st;
    memset(ret, 0, sizeof(*ret));
    ret->documents = json_array();
    ret->names = json_object();
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return read_folder(c, path, ret);
    return read_file(c, path, ret);
}

void desired_done(struct desired *d)
{
    for (size_t i = 0; i < d->ngroups; i++)
        free(d->groups[i].where);
    for (size_t i = 0; i < d->njobs; i++)
        free(d->jobs[i].where);
    free(d->groups);
    free(d->jobs);
    json_decref(d->documents);
    json_decref(d->names);
}
