/* SPDX-License-Identifier: Apache-2.0 */
/* All files lie gzipped in one block, in the order of a sorted table. Browsers take them as they
 * are; a client without gzip gets an inflated copy. The page itself is filled with the prefix under
 * which it was asked for, so it is kept inflated. A name under a/ has the hash of its content in
 * it: it never changes. */
#include "console/console.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* it reads from the block */
#include <zlib.h>

struct file {
    const char *path; /* without the first '/' */
    const char *type;
    const char *etag;
    uint32_t at, n; /* in the block */
    uint32_t raw_n; /* inflated */
    bool immutable;
};

#define PAGE "index.html"
#define BASE "<base href=\"/\">" /* in web/index.html */

#ifdef PEAL_CONSOLE
extern const unsigned char console_block[]; /* block.S */
static const struct file files[] = {
#include "console/files.def"
};
static const size_t nfiles = countof(files);
#else
static const unsigned char console_block[1];
static const struct file *const files;
static const size_t nfiles;
#endif

static const char no_console[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Peal</title></head>\n"
    "<body><h1>Peal</h1>\n<p>The server runs. This binary was built without the console.</p>\n"
    "<p>To have it, run <code>make console</code> in the source tree (it needs Node.js and npm), "
    "then <code>make</code>, and start the server again.</p>\n</body></html>\n";

/* No code and no style but the console's own files; nothing of other hosts (CSP level 3). */
#define HEADERS                                                                                    \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "           \
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'self'; "                 \
    "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; "             \
    "trusted-types vue peal-worker\r\n"                                                            \
    "X-Content-Type-Options: nosniff\r\nReferrer-Policy: same-origin\r\n"                          \
    "Permissions-Policy: camera=(), geolocation=(), microphone=()\r\n"
#define OPENER "Cross-Origin-Opener-Policy: same-origin\r\n"

/* The addresses of XXL-JOB's console, as bookmarks and mails have them. */
static const struct old {
    const char *path, *to;
    const char *param, *param_to; /* a number of the query, and where it goes */
} olds[] = {
    { "/toLogin", "/login", NULL, NULL },
    { "/auth/login", "/login", NULL, NULL },
    { "/jobinfo", "/jobs", "jobGroup", NULL },
    { "/joblog", "/runs", "jobId", "/runs?job=%lld" },
    { "/joblog/logDetailPage", "/runs", "id", "/runs/%lld" },
    { "/jobgroup", "/executors", NULL, NULL },
    { "/jobcode", "/jobs", "jobId", "/jobs/%lld?tab=script" },
    { "/user", "/users", NULL, NULL },
};

bool console_embedded(void)
{
    return nfiles > 0;
}

static int by_path(const void *key, const void *item)
{
    const struct slice *path = key;
    const struct file *f = item;
    size_t n = strlen(f->path);
    int order = memcmp(path->p, f->path, path->n < n ? path->n : n);
    return order ? order : (path->n > n) - (path->n < n);
}

static const struct file *file_find(struct slice path)
{
    if (!nfiles || path.n < 2)
        return NULL;
    struct slice name = slice_of(path.p + 1, path.n - 1);
    return bsearch(&name, files, nfiles, sizeof(files[0]), by_path);
}

/* The file's bytes as they were, owned by the caller; NULL if the block is damaged. */
static char *inflated(const struct file *f)
{
    char *raw = mem_new(f->raw_n + 1);
    z_stream z = { .next_in = console_block + f->at,
                   .avail_in = f->n,
                   .next_out = (unsigned char *)raw,
                   .avail_out = f->raw_n };
    bool ok = inflateInit2(&z, 15 + 16) == Z_OK; /* with a gzip header */
    if (ok) {
        ok = inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == f->raw_n;
        inflateEnd(&z);
    }
    if (ok)
        return raw;
    log_error("web", "the console's file %s is damaged in this binary", f->path);
    free(raw);
    return NULL;
}

/* Does a list in a header name this, whatever parameters stand behind? A quality of 0 refuses. */
static bool header_has(struct slice list, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i + n <= list.n; i++) {
        if (strncasecmp(list.p + i, name, n) != 0)
            continue;
        struct slice rest = slice_of(list.p + i + n, list.n - i - n);
        return !(rest.n >= 4 && memcmp(rest.p, ";q=0", 4) == 0 &&
                 (rest.n == 4 || rest.p[4] == ','));
    }
    return false;
}

static void reply_file(struct httpd_request *q, const struct file *f)
{
    bool gzip = header_has(httpd_header(q, "Accept-Encoding"), "gzip");
    char headers[1024];
    snprintf(headers, sizeof(headers), HEADERS "Vary: Accept-Encoding\r\nETag: \"%s%s\"\r\n%s%s",
             f->etag, gzip ? "-gz" : "",
             f->immutable ? "Cache-Control: public, max-age=31536000, immutable\r\n"
                          : "Cache-Control: no-cache\r\n",
             gzip ? "Content-Encoding: gzip\r\n" : "");
    struct slice have = httpd_header(q, "If-None-Match");
    if (have.p && memmem(have.p, have.n, f->etag, strlen(f->etag))) {
        httpd_reply(q, 304, NULL, slice_text(headers), slice_of("", 0));
        return;
    }
    if (gzip) {
        httpd_reply(q, 200, f->type, slice_text(headers),
                    slice_of((const char *)console_block + f->at, f->n));
        return;
    }
    char *raw = inflated(f);
    if (raw)
        httpd_reply(q, 200, f->type, slice_text(headers), slice_of(raw, f->raw_n));
    else
        httpd_reply_error(q, 500, "this file of the console is damaged");
    free(raw);
}

/* Browsers heed the opener's policy of pages that came by TLS only, and complain of it elsewhere.
 */
static void reply_page(struct httpd_request *q, const char *context, bool tls)
{
    static const char type[] = "text/html;charset=UTF-8";
    const struct slice headers = slice_text(tls ? HEADERS OPENER "Cache-Control: no-cache\r\n"
                                                : HEADERS "Cache-Control: no-cache\r\n");
    const struct file *f = file_find(slice_text("/" PAGE));
    char *raw = f ? inflated(f) : NULL;
    char *base = raw ? strstr(raw, BASE) : NULL;
    if (!base) {
        httpd_reply(q, 200, type, headers, slice_text(no_console));
        free(raw);
        return;
    }
    struct buf page;
    buf_init(&page, f->raw_n + 256);
    buf_add(&page, raw, (size_t)(base - raw));
    buf_printf(&page, "<base href=\"%s/\">", context);
    buf_text(&page, base + sizeof(BASE) - 1);
    httpd_reply(q, 200, type, headers, slice_of(page.data, page.len));
    buf_done(&page);
    free(raw);
}

/* The number of the query's parameter, or -1. */
static int64_t query_number(struct slice query, const char *name)
{
    size_t n = strlen(name);
    while (query.n) {
        const char *end = memchr(query.p, '&', query.n);
        struct slice one = slice_of(query.p, end ? (size_t)(end - query.p) : query.n);
        int64_t value;
        if (one.n > n + 1 && memcmp(one.p, name, n) == 0 && one.p[n] == '=' &&
            parse_i64(slice_of(one.p + n + 1, one.n - n - 1), &value) && value > 0)
            return value;
        query = slice_of(query.p + one.n, query.n - one.n);
        if (query.n)
            query = slice_of(query.p + 1, query.n - 1);
    }
    return -1;
}

static bool reply_old(struct httpd_request *q, struct slice path, const char *context)
{
    for (size_t i = 0; i < countof(olds); i++) {
        const struct old *o = &olds[i];
        if (!slice_eq(path, o->path))
            continue;
        char to[128], headers[256];
        int64_t number = o->param_to ? query_number(q->query, o->param) : -1;
        if (number > 0)
            snprintf(to, sizeof(to), o->param_to, (long long)number);
        else
            text_copy(to, sizeof(to), slice_text(o->to));
        snprintf(headers, sizeof(headers), "Location: %s%s\r\nCache-Control: no-store\r\n", context,
                 to);
        httpd_reply(q, 302, NULL, slice_text(headers), slice_of("", 0));
        return true;
    }
    return false;
}

static bool begins(struct slice s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && memcmp(s.p, with, n) == 0;
}

bool console_serve(struct httpd_request *q, const struct console_ask *ask)
{
    if (!slice_eq(q->method, "GET") && !slice_eq(q->method, "HEAD"))
        return false;
    struct slice path = ask->path;
    const struct file *f = ask->taken ? NULL : file_find(path);
    if (f && strcmp(f->path, PAGE) != 0) {
        reply_file(q, f);
        return true;
    }
    if (!header_has(httpd_header(q, "Accept"), "text/html"))
        return false;
    if (reply_old(q, path, ask->context))
        return true;
    /* the API's own page at "/" is for clients that are no browsers */
    if ((ask->taken && !slice_eq(path, "/")) || begins(path, "/a/") || begins(path, "/api/"))
        return false;
    reply_page(q, ask->context, ask->tls);
    return true;
}
