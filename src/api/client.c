/* SPDX-License-Identifier: Apache-2.0 */
/* The list is one of the process, as the port is. It may be set anew while requests look at it. */
#include "api/client.h"
#include <pthread.h>
#include "net/addr.h"

static struct proxies proxies;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

void client_proxies(const struct proxies *p)
{
    pthread_rwlock_wrlock(&lock);
    proxies = *p;
    pthread_rwlock_unlock(&lock);
}

/* A proxy that adds a header instead of a list's item makes several: the last is the nearest's. */
static void look_behind(const struct httpd_request *q, struct sockaddr_storage *at)
{
    struct slice value;
    for (int i = 0; (value = httpd_header_back(q, "X-Forwarded-For", i)).p;)
        if (++i > FORWARDED_HOPS_MAX || !forwarded_for(&proxies, value, at))
            return;
}

void client_of(const struct httpd_request *q, struct client *ret)
{
    struct sockaddr_storage at = *httpd_peer_address(q);
    ret->tls = httpd_tls(q);
    ret->host = httpd_header(q, "Host");
    pthread_rwlock_rdlock(&lock);
    if (proxies_has(&proxies, &at)) {
        struct slice proto = httpd_header_back(q, "X-Forwarded-Proto", 0);
        struct slice host = forwarded_first(httpd_header_back(q, "X-Forwarded-Host", 0));
        ret->tls |= slice_eq_nocase(forwarded_first(proto), "https");
        if (host.n)
            ret->host = host;
        look_behind(q, &at);
    }
    pthread_rwlock_unlock(&lock);
    addr_text(&at, ret->address, sizeof(ret->address));
    ret->source = addr_key(&at);
}
