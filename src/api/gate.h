/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - what stands between a request and its handler, the same for every table. Private to
 * src/api; a worker's thread. */
#ifndef PEAL_API_GATE_H
#define PEAL_API_GATE_H

#include "api/front.h"

/* Look at the request as its row demands, and run the handler or refuse. */
void gate_serve(struct web_call *call);
/* The headers of every answer of the table. Any thread that has the call. */
void gate_headers(struct web_call *call);

/* The call is over: the next one may bring a packed file. Any thread. */
void gate_large_done(struct web_call *call);

/* Is the permission held for some group, or for the server? False: answered, with 403. For handlers
 * of a row of PERM_ACTION; all others have what their row demands. */
MUST_CHECK bool gate_has(struct web_call *call, enum permission wanted);
/* For handlers of a row whose permission is one of groups: is it held for the group of the thing
 * that the request names? False: the call is answered, with 404 if the thing is out of the asker's
 * sight, as if it did not exist, else with 403. what: "job", with the id for the text. */
MUST_CHECK bool gate_group(struct web_call *call, int64_t group_id, const char *what, int64_t id);
/* The same for another permission than the row's. */
MUST_CHECK bool gate_group_for(struct web_call *call, enum permission wanted, int64_t group_id,
                               const char *what, int64_t id);

/* Is the URL's host and port (of an Origin or Referer) that of the Host header? */
bool gate_same_host(struct slice url, struct slice host);
/* Does an Accept header (p NULL: there is none) take that type ("application/json")? */
bool gate_accepts(struct slice accept, const char *type);

#endif
