/* SPDX-License-Identifier: Apache-2.0 */
/* message.h - the texts of a log row that people read: how it was triggered, how it ended.
 *
 * Both are fragments of HTML in columns of a database that other admins show as they are: what
 * came from users and executors is escaped in the trigger message; the handle message keeps what
 * the executor said, because scripts read it. Both end at 15,000 UTF-16 code units. NUL becomes
 * U+FFFD, as not every database can hold it. Pure. */
#ifndef PEAL_WIRE_TRIGGER_TEXT_H
#define PEAL_WIRE_TRIGGER_TEXT_H

#include "base/buf.h"

#define WIRE_MESSAGE_UNITS 15000

enum wire_lang { WIRE_LANG_EN, WIRE_LANG_ZH_CN };
/* "en" and "zh_CN" (also "zh-CN", "zh"); false leaves *ret alone. */
bool wire_lang_of(struct slice name, enum wire_lang *ret);

struct wire_trigger_note {
    struct slice kind;   /* cron, misfire, manual, retry, parent, api; others are shown as given */
    struct slice center; /* address of the node */
    bool registered;     /* addresses come from the registry (else typed in by hand) */
    struct slice address_list; /* joined by commas, empty = none */
    struct slice route;        /* enum name */
    bool sharded;              /* show shard/total */
    int shard, shard_total;
    struct slice block; /* enum name */
    int64_t timeout_s;
    int retries;          /* that remain */
    struct slice report;  /* of routing: lines of text, may be empty */
    struct slice address; /* where it was sent; empty = nowhere */
    struct slice handler; /* may be empty */
    int code;             /* of the answer */
    struct slice msg;     /* of the answer, may be empty */
    int64_t scheduled_ms; /* the log row's trigger time; the last line, never cut off */
};

void wire_trigger_message(struct buf *out, enum wire_lang lang, const struct wire_trigger_note *n);

/* Old and new text of a run's result, either may be empty, with a <br> between, cut to the limit
 * (the end is cut). */
void wire_handle_message(struct buf *out, struct slice old, struct slice add);

/* Text with the five characters of HTML escaped and line breaks as <br>. */
void wire_html(struct buf *out, struct slice text);

#endif
