/* SPDX-License-Identifier: Apache-2.0 */
/* mime.h - an alarm as a mail: headers, text and HTML (RFC 5322, 2045-2047). Pure text work: no
 * character of a message can end a header, a part or the mail. Any thread. */
#ifndef PEAL_ALARM_MIME_H
#define PEAL_ALARM_MIME_H

#include "alarm/channel.h"
#include "base/buf.h"

#define MIME_ADDRESS_MAX 254 /* RFC 5321, with its path's brackets */

/* Is it local@domain in printable ASCII, without quotes, blanks and comments? ERR_INVALID names the
 * rule. What is let through may stand in a header and in an SMTP command. */
MUST_CHECK enum err mime_address(struct slice text, struct why *why);

/* The whole mail, with CRLF. from and m->target have passed mime_address; now_ms: for Date. */
void mime_mail(struct buf *out, const struct alarm_message *m, const char *from, int64_t now_ms);

/* A header's value as encoded words where it has to be, folded (RFC 2047). */
void mime_words(struct buf *out, struct slice text);

void mime_base64(struct buf *out, const char *p, size_t n);

#endif
