/* SPDX-License-Identifier: Apache-2.0 */
#include "support_logs.h"
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>
#include "base/mem.h"
#include "executor/log/runlog.h"
#include "executor/log/runlog_file.h"
#include "executor/log/runlog_read.h"

int logs_folder(void **state)
{
    char name[] = "/tmp/peal-logs-XXXXXX";
    *state = mem_dup(mkdtemp(name));
    return *state ? 0 : -1;
}

int logs_remove(void **state)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -r %s", (char *)*state);
    free(*state);
    return system(command);
}

void logs_run(const char *folder, int64_t id, const char *p, size_t n)
{
    struct runlog l;
    runlog_init(&l, folder, DATE, id, false);
    runlog_start(&l, "worker-1", slice_text("start"));
    runlog_raw(&l, p, n);
    runlog_end(&l, "worker-1", slice_text("end"));
    free(runlog_take(&l));
    runlog_done(&l);
}

static void path_of(const char *folder, const char *name, char *to)
{
    char day[RUNLOG_DAY];
    runlog_day(DATE, day);
    assert_true(runlog_day_path(folder, day, NULL, to));
    mkdir(to, 0755);
    assert_true(runlog_day_path(folder, day, name, to));
}

void logs_plant(const char *folder, const char *name, const void *p, size_t n)
{
    char path[RUNLOG_PATH];
    path_of(folder, name, path);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    fclose(f);
}

char *logs_file(const char *folder, const char *name, size_t *ret_n)
{
    char path[RUNLOG_PATH];
    path_of(folder, name, path);
    FILE *f = fopen(path, "re");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    size_t n = (size_t)ftell(f);
    rewind(f);
    char *p = mem_new(n + 1);
    assert_int_equal(fread(p, 1, n, f), n);
    fclose(f);
    if (ret_n)
        *ret_n = n;
    return p;
}

void logs_check(const char *folder, int64_t id, int from, bool whole, int to_line,
                const char *content)
{
    struct runlog_page p;
    runlog_read(folder, DATE, id, from, whole, NULL, &p);
    assert_true(p.found);
    assert_string_equal(buf_str(&p.content), content);
    assert_int_equal(p.to_line, to_line);
    buf_done(&p.content);
}

bool logs_found(const char *folder, int64_t id)
{
    struct runlog_page p;
    runlog_read(folder, DATE, id, 1, false, NULL, &p);
    buf_done(&p.content);
    return p.found;
}
