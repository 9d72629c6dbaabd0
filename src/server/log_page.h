/* SPDX-License-Identifier: Apache-2.0 */
/* log_page.h - what an executor's answer to /log comes to. Private to src/server. */
#ifndef PEAL_SERVER_LOG_PAGE_H
#define PEAL_SERVER_LOG_PAGE_H

#include "server/center.h"
#include "transport/transport.h"

/* The call is done with r. On OK *ret is the page, its content owned by the caller; else why says
 * what the executor, or the way to it, said. */
MUST_CHECK enum err log_page_of(const struct transport_call *call,
                                const struct transport_page *page, const struct call_result *r,
                                const char *address, int from_line, struct center_log *ret,
                                struct why *why);

#endif
