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

const char *const desired_lists[DESIRED_LISTS] = { "groups", "jobs", "channels", "rules", "users" };

/* What tells the items of a list apart. */
static char *key_of(int list, const json_t *want)
{
    struct buf key = BUF_INIT(1 << 20);
    buf_printf(&key, "%s\n", desired_lists[list]);
    if (list == DESIRED_GROUPS)
        buf_text(&key, ctl_text(want, "app"));
    else
        buf_printf(&key, "%s\n%s", list == DESIRED_JOBS ? ctl_text(want, "group") : "",
                   ctl_text(want, "name"));
    return buf_take(&key);
}

static enum ctl_exit add_name(const struct ctl *c, struct desired *d, int list, const json_t *want,
                              const char *where)
{
    char *key = key_of(list, want);
    const char *other = json_string_value(json_object_get(d->names, key));
    if (!other)
        json_object_set_new(d->names, key, json_string(where));
    free(key);
    return other ? ctl_say(c, CTL_USAGE, "%s: it stands in %s, too", where, other) : CTL_DONE;
}

static char *where_of(const char *path, const char *list, size_t i)
{
    struct buf b = BUF_INIT(PATH_MAX + 100);
    buf_printf(&b, "%s: /%s/%zu", path, list, i);
    return buf_take(&b);
}

static enum ctl_exit add_list(const struct ctl *c, struct desired *d, const char *path,
                              const json_t *doc, int list)
{
    const json_t *all = json_object_get(doc, desired_lists[list]), *want;
    struct desired_item **items = &d->items[list];
    size_t *n = &d->n[list], i;
    *items = mem_resize(*items, (*n + json_array_size(all) + 1) * sizeof(**items));
    json_array_foreach(all, i, want)
    {
        char *where = where_of(path, desired_lists[list], i);
        (*items)[(*n)++] = (struct desired_item){ want, where };
        enum ctl_exit status = add_name(c, d, list, want, where);
        if (status != CTL_DONE)
            return status;
    }
    return CTL_DONE;
}

/* What else export writes. */
static void tell_left(const struct ctl *c, const char *path, const json_t *doc)
{
    size_t n = json_array_size(json_object_get(doc, "silences"));
    if (n)
        ctl_say(c, CTL_DONE,
                "%s: /silences: these %zu are left as they are: apply does not take silences", path,
                n);
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
    enum ctl_exit status = CTL_DONE;
    for (int list = 0; list < DESIRED_LISTS && status == CTL_DONE; list++)
        status = add_list(c, d, path, doc, list);
    return status;
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
    for (int list = 0; list < DESIRED_LISTS; list++) {
        for (size_t i = 0; i < d->n[list]; i++)
            free(d->items[list][i].where);
        free(d->items[list]);
    }
    json_decref(d->documents);
    json_decref(d->names);
}
