/* SPDX-License-Identifier: Apache-2.0 */
/* The settings that each request has, and what to say when no answer came. */
#include "cli/ctl/transfer.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t ctl_left_ms(const struct ctl *c, int64_t max_ms)
{
    if (!c->deadline_ms)
        return max_ms;
    int64_t left = c->deadline_ms - clock_boot_ms();
    return left < 0 ? 0 : left < max_ms ? left : max_ms;
}

enum ctl_exit ctl_pause(const struct ctl *c, int64_t ms)
{
    int64_t pause = ctl_left_ms(c, ms);
    struct timespec t = { pause / 1000, pause % 1000 * 1000000 };
    nanosleep(&t, NULL);
    return pause == ms ? CTL_DONE : ctl_say(c, CTL_TIMED_OUT, "--timeout has passed");
}

struct curl_slist *transfer_header(struct curl_slist *list, const char *name, const char *value)
{
    char line[512];
    snprintf(line, sizeof(line), "%s: %s", name, value);
    struct curl_slist *more = curl_slist_append(list, line);
    return more ? more : list;
}

struct curl_slist *transfer_bearer(struct curl_slist *list, const char *token)
{
    char *line = mem_join("Authorization: Bearer ", token);
    struct curl_slist *more = curl_slist_append(list, line);
    explicit_bzero(line, strlen(line));
    free(line);
    return more ? more : list;
}

void transfer_set(struct ctl *c, const char *path, struct curl_slist *headers)
{
    CURL *curl = c->http->curl;
    char *base = mem_join(c->url, "/api/v1"), *url = mem_join(base, path);
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "peal-ctl/" PEAL_VERSION);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                     (long)ctl_left_ms(c, CTL_CONNECT_S * 1000) + 1);
    if (c->ca)
        curl_easy_setopt(curl, CURLOPT_CAINFO, c->ca);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    free(base);
    free(url);
}

CURLcode transfer_perform(struct ctl *c, struct transfer *ret)
{
    CURL *curl = c->http->curl;
    memset(ret, 0, sizeof(*ret));
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, ret->error);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &ret->status);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
    return code;
}

/* The certificate could not be verified, or a file of certificates could not be read. */
static bool of_certificates(CURLcode code)
{
    return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
           code == CURLE_SSL_ISSUER_ERROR;
}

enum ctl_exit transfer_failed(const struct ctl *c, CURLcode code, const struct transfer *t)
{
    const char *text = t->error[0] ? t->error : curl_easy_strerror(code);
    if (code == CURLE_OPERATION_TIMEDOUT)
        return ctl_say(c, c->deadline_ms && !ctl_left_ms(c, 1) ? CTL_TIMED_OUT : CTL_UNREACHABLE,
                       "no answer from %.200s in time: %s", c->url, text);
    if (of_certificates(code))
        return ctl_say(c, CTL_UNREACHABLE,
                       "the certificate of %.200s is not trusted: %s\n"
                       "If it is signed by an authority of your own, name its file with --ca",
                       c->url, text);
    if (code == CURLE_WRITE_ERROR)
        return ctl_say(c, CTL_FAILED, "the answer of %.200s is larger than %d MiB", c->url,
                       CTL_ANSWER_MAX >> 20);
    return ctl_say(c, CTL_UNREACHABLE,
                   "cannot reach the center at %.200s: %s\n"
                   "Does it run, and is the address right? (--url, PEAL_URL, peal ctl login URL)",
                   c->url, text);
}
