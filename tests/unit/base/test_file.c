/* SPDX-License-Identifier: Apache-2.0 */
/* Whole reads and writes, durable names, locks: what each says when it cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/mem.h"

#define MANY (1 << 20) /* more than a pipe holds */

static char folder[] = "/tmp/peal-file-XXXXXX";
static char path[64];

static int setup(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/file", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static int opened(int flags)
{
    int fd = open(path, flags | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    return fd;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    char text[16] = "";
    int fd = opened(O_RDWR | O_TRUNC);
    assert_true(file_write(fd, slice_text("one ")));
    assert_true(file_write(fd, slice_text("two")));
    assert_true(file_write(fd, slice_of(NULL, 0)));
    errno = EIO;
    assert_int_equal(file_read(fd, 0, text, sizeof(text)), 7);
    assert_int_equal(errno, 0); /* the end of the file */
    assert_string_equal(text, "one two");
    assert_int_equal(file_read(fd, 4, text, 3), 3);
    assert_memory_equal(text, "two", 3);
    assert_int_equal(file_read(fd, 7, text, 3), 0);
    close(fd);
}

struct drain {
    int fd;
    size_t n;
};

static void *drain(void *arg)
{
    struct drain *d = arg;
    char piece[1000];
    for (ssize_t n; (n = read(d->fd, piece, sizeof(piece))) > 0;)
        d->n += (size_t)n;
    return NULL;
}

/* A pipe takes what it has room for, and its writer sleeps: the loop goes on until all is gone. */
static void a_write_is_whole(void **state)
{
    (void)state;
    int ends[2];
    char *bytes = mem_new(MANY);
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    struct drain d = { .fd = ends[0] };
    assert_int_equal(pthread_create(&thread, NULL, drain, &d), 0);
    assert_true(file_write(ends[1], slice_of(bytes, MANY)));
    close(ends[1]);
    pthread_join(thread, NULL);
    assert_int_equal(d.n, MANY);
    close(ends[0]);
    free(bytes);
}

static void errors_are_told(void **state)
{
    (void)state;
    char text[4];
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC), dir = open(folder, O_RDONLY | O_CLOEXEC);
    assert_false(file_write(full, slice_text("x")));
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(file_read(dir, 0, text, sizeof(text)), 0);
    assert_int_equal(errno, EISDIR);
    close(full);
    close(dir);
    assert_true(file_sync_folder(path));
    assert_false(file_sync_folder("/nowhere/at/all"));
    assert_int_equal(errno, ENOENT);
}

static void a_lock_has_one_holder(void **state)
{
    (void)state;
    int one = opened(O_RDWR), other = opened(O_RDWR);
    assert_int_equal(file_lock(one), OK);
    assert_int_equal(file_lock(other), ERR_BUSY);
    assert_int_equal(file_lock(one), OK);
    close(one);
    assert_int_equal(file_lock(other), OK);
    close(other);
    assert_int_equal(file_lock(-1), ERR_IO);
    assert_int_equal(errno, EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_write_is_whole),
        cmocka_unit_test(errors_are_told),
        cmocka_unit_test(a_lock_has_one_holder),
    };
    return cmocka_run_group_tests_name("base.file", tests, setup, teardown);
}
