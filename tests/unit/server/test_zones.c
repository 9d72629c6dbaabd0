/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "server/zones.h"
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[64]; /* a folder of zones of our own */

static int setup(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "/tmp/peal-zones-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    static const char *const names[] = { "Mine", "Broken", "Pipe", "new", "Folder" };
    for (size_t i = 0; i < countof(names); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        remove(path);
    }
    return rmdir(dir);
}

/* Copy a file of the system into our folder, by renaming as packages do. */
static void install(const char *from, const char *name)
{
    static char bytes[65536];
    char path[128], temporary[128], to[128];
    snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", from);
    snprintf(temporary, sizeof(temporary), "%s/new", dir);
    snprintf(to, sizeof(to), "%s/%s", dir, name);
    FILE *in = fopen(path, "re"), *out = fopen(temporary, "we");
    assert_non_null(in);
    assert_non_null(out);
    size_t n = fread(bytes, 1, sizeof(bytes), in);
    assert_int_equal(fwrite(bytes, 1, n, out), n);
    fclose(in);
    fclose(out);
    assert_int_equal(rename(temporary, to), 0);
}

static void zones_are_read_once_and_shared(void **state)
{
    (void)state;
    struct zones *z = zones_new(NULL);
    struct zone *a, *b;
    assert_int_equal(zones_get(z, "Asia/Shanghai", &a, NULL), OK);
    assert_int_equal(zones_get(z, "Asia/Shanghai", &b, NULL), OK);
    assert_ptr_equal(a, b);
    assert_string_equal(zone_name(a), "Asia/Shanghai");
    assert_int_equal(zone_offset_at(a, 1700000000), 28800);
    zones_free(z);
    assert_int_equal(zone_offset_at(a, 1700000000), 28800); /* still ours */
    zone_unref(a);
    zone_unref(b);
    zones_free(NULL);
}

static void tricks_with_names_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "/etc/passwd",
        "../zoneinfo/UTC",
        "Asia/../Asia/Shanghai",
        "Asia//Shanghai",
        "Asia/",
        ".",
        "Asia/Shang hai",
        "Asia/Shanghai\n",
        "zone.tab",
        "\xe4\xb8\xad",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    };
    struct zones *z = zones_new(NULL);
    for (size_t i = 0; i < countof(bad); i++) {
        struct zone *zone = NULL;
        struct why why = { { 0 } };
        assert_int_equal(zones_get(z, bad[i], &zone, &why), ERR_INVALID);
        assert_non_null(strstr(why.text, "tz database"));
        assert_null(zone);
    }
    zones_free(z);
}

static void what_is_no_zone_is_told_apart(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof(path), "%s/Broken", dir);
    FILE *f = fopen(path, "we");
    fputs("TZif2 and no more", f);
    fclose(f);
    snprintf(path, sizeof(path), "%s/Pipe", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof(path), "%s/Folder", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    struct zones *z = zones_new(dir);
    struct zone *zone;
    struct why why = { { 0 } };
    assert_int_equal(zones_get(z, "Nowhere/Land", &zone, &why), ERR_NOTFOUND);
    assert_non_null(strstr(why.text, "Nowhere/Land: unknown"));
    why_clear(&why);
    assert_int_equal(zones_get(z, "Broken", &zone, &why), ERR_CORRUPT);
    assert_non_null(strstr(why.text, "cut short"));
    assert_int_equal(zones_get(z, "Pipe", &zone, NULL), ERR_NOTFOUND);
    assert_int_equal(zones_get(z, "Folder", &zone, NULL), ERR_NOTFOUND);
    assert_int_equal(zones_get(z, "UTC", &zone, NULL), OK); /* needs no file */
    assert_ptr_equal(zone, zone_utc());
    zones_free(z);
}

static void a_changed_file_gives_a_new_zone(void **state)
{
    (void)state;
    struct zones *z = zones_new(dir);
    struct zone *before, *after;
    install("Asia/Shanghai", "Mine");
    assert_int_equal(zones_get(z, "Mine", &before, NULL), OK);
    assert_int_equal(zones_refresh(z), 0);
    install("Asia/Tokyo", "Mine");
    assert_int_equal(zones_refresh(z), 1);
    assert_int_equal(zones_refresh(z), 0);
    assert_int_equal(zones_get(z, "Mine", &after, NULL), OK);
    assert_int_equal(zone_offset_at(before, 1700000000), 28800);
    assert_int_equal(zone_offset_at(after, 1700000000), 32400);
    zone_unref(before);
    zone_unref(after);
    /* a file that breaks, or goes away, leaves the zone that works */
    char path[128];
    snprintf(path, sizeof(path), "%s/Mine", dir);
    assert_int_equal(truncate(path, 100), 0);
    assert_int_equal(zones_refresh(z), 0);
    assert_int_equal(remove(path), 0);
    assert_int_equal(zones_refresh(z), 0);
    assert_int_equal(zones_get(z, "Mine", &after, NULL), OK);
    assert_int_equal(zone_offset_at(after, 1700000000), 32400);
    zone_unref(after);
    zones_free(z);
}

static void the_machines_zone_comes_from_tz_first(void **state)
{
    (void)state;
    struct zones *z = zones_new(NULL);
    struct zone *zone;
    char name[ZONES_NAME_MAX + 1];
    static const char *const forms[] = { "Asia/Tokyo", ":Asia/Tokyo",
                                         "/usr/share/zoneinfo/Asia/Tokyo" };
    for (size_t i = 0; i < countof(forms); i++) {
        setenv("TZ", forms[i], 1);
        zones_local_name(name);
        assert_string_equal(name, "Asia/Tokyo");
        assert_int_equal(zones_get(z, "", &zone, NULL), OK);
        assert_int_equal(zone_offset_at(zone, 1700000000), 32400);
        zone_unref(zone);
    }
    struct why why = { { 0 } };
    setenv("TZ", "CST-8", 1); /* a rule, not a name: asked for, so not silently UTC */
    assert_int_equal(zones_get(z, "", &zone, &why), ERR_NOTFOUND);
    assert_non_null(strstr(why.text, "CST-8"));
    setenv("TZ", "<+08>-8", 1);
    assert_int_equal(zones_get(z, "", &zone, NULL), ERR_INVALID);
    unsetenv("TZ");
    assert_int_equal(zones_get(z, "", &zone, NULL), OK);
    zone_unref(zone);
    zones_free(z);
}

static void *get_many(void *arg)
{
    static const char *const names[] = { "Asia/Shanghai", "Europe/London", "America/New_York" };
    struct zones *z = arg;
    for (int i = 0; i < 3000; i++) {
        struct zone *zone;
        if (zones_get(z, names[i % 3], &zone, NULL))
            abort();
        if (i % 100 == 0)
            zones_refresh(z);
        zone_unref(zone_ref(zone));
        zone_unref(zone);
    }
    return NULL;
}

static void threads_may_share_it(void **state)
{
    (void)state;
    struct zones *z = zones_new(NULL);
    pthread_t threads[4];
    for (size_t i = 0; i < countof(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, get_many, z), 0);
    for (size_t i = 0; i < countof(threads); i++)
        pthread_join(threads[i], NULL);
    zones_free(z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zones_are_read_once_and_shared),
        cmocka_unit_test(tricks_with_names_are_refused),
        cmocka_unit_test_setup_teardown(what_is_no_zone_is_told_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(a_changed_file_gives_a_new_zone, setup, teardown),
        cmocka_unit_test(the_machines_zone_comes_from_tz_first),
        cmocka_unit_test(threads_may_share_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
