/* SPDX-License-Identifier: Apache-2.0 */
/* chat.h - what services for groups of people have in common. Any thread. */
#ifndef PEAL_ALARM_CHAT_H
#define PEAL_ALARM_CHAT_H

#include "alarm/kind.h"

#define CHAT_JSON "Content-Type: application/json\n"

/* The message as lines for people, at most max bytes, cut between characters. */
void chat_text(struct buf *out, const struct alarm_message *m, size_t max);
/* base64 of HMAC-SHA256, terminated. */
void chat_sign(struct slice key, struct slice text, char ret[45]);

#endif
