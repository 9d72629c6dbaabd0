/* SPDX-License-Identifier: Apache-2.0 */
/* peal db check --selftest: what the test of a database server has found, as lines or as JSON. */
#include "base/jsonw.h"
#include "cli/command.h"
#include "cli/db_source.h"
#include "store/selftest.h"
#include <stdio.h>

enum { DOCUMENT_MAX = 64 * 1024 };

static void on_line(void *ctx, const char *name, bool good, const char *said)
{
    (void)ctx;
    printf("%-7s %s%s%s\n", good ? "ok" : "failed", name, said[0] ? ": " : "", said);
    fflush(stdout);
}

static void on_member(void *ctx, const char *name, bool good, const char *said)
{
    struct jsonw *w = ctx;
    jsonw_object(w, NULL);
    jsonw_text(w, "name", name);
    jsonw_bool(w, "ok", good);
    jsonw_text(w, "text", said[0] ? said : NULL);
    jsonw_object_end(w);
}

static enum err as_document(const char *url, struct selftest_result *ret, struct why *why)
{
    struct buf out = BUF_INIT(DOCUMENT_MAX);
    struct jsonw w = jsonw_on(&out);
    jsonw_object(&w, NULL);
    jsonw_array(&w, "checks");
    enum err err = store_selftest(url, on_member, &w, ret, why);
    jsonw_array_end(&w);
    jsonw_text(&w, "server", ret->server[0] ? ret->server : NULL);
    jsonw_i64(&w, "failed", ret->failed);
    jsonw_object_end(&w);
    if (!err)
        printf("%s\n", buf_str(&out));
    buf_done(&out);
    return err;
}

int db_selftest(const struct db_args *a)
{
    struct why why = { "" };
    struct selftest_result got;
    enum err err = a->json ? as_document(a->from, &got, &why)
                           : store_selftest(a->from, on_line, NULL, &got, &why);
    if (err)
        return xxl_complain(&why, err);
    if (!a->json && got.server[0])
        printf("%s: %d checks, %d failed\n", got.server, got.checks, got.failed);
    return got.failed ? EXIT_NO : EXIT_DONE;
}
