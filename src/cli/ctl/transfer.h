/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.h - what a request and a stream have in common on libcurl. Private to http.c and
 * stream.c. */
#ifndef PEAL_CLI_CTL_TRANSFER_H
#define PEAL_CLI_CTL_TRANSFER_H

#include <curl/curl.h>
#include "cli/ctl/http.h"

struct ctl_http {
    CURL *curl;
};

struct transfer {
    long status;
    char error[CURL_ERROR_SIZE];
};

struct curl_slist *transfer_header(struct curl_slist *list, const char *name, const char *value);
struct curl_slist *transfer_bearer(struct curl_slist *list, const char *token);
/* Forget the request before, and set address, certificates and headers. path: behind /api/v1. */
void transfer_set(struct ctl *c, const char *path, struct curl_slist *headers);
CURLcode transfer_perform(struct ctl *c, struct transfer *ret);
/* Say why there is no answer. */
enum ctl_exit transfer_failed(const struct ctl *c, CURLcode code, const struct transfer *t);

#endif
