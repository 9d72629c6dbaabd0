/* SPDX-License-Identifier: Apache-2.0 */
/* trace_parent.h - the header traceparent of W3C Trace Context, as it comes in. Pure. */
#ifndef PEAL_WIRE_TRACE_PARENT_H
#define PEAL_WIRE_TRACE_PARENT_H

#include <stdbool.h>
#include "base/str.h"

#define WIRE_TRACE_PARENT_SIZE 56 /* "00-TRACE-PARENT-FLAGS", with the NUL */

/* The value, checked, into to: four fields of lower-case digits, ids that are not all zeros. Of a
 * version after 00 the four fields that are known. False, and to is "": it is none, and what cannot
 * be read is to be ignored. */
bool wire_trace_parent(struct slice value, char to[WIRE_TRACE_PARENT_SIZE]);

#endif
