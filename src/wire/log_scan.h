/* SPDX-License-Identifier: Apache-2.0 */
/* log_scan.h - did a run reach its executor, and did it end? The log says, read as a stream.
 *
 * Fed with the reply of /log (asked from line 1) in pieces as they come, whatever its length: a
 * JSON reader by the byte that keeps a few words of state and never the text. How the reply was
 * split does not matter. The verdict is the one of "asking an executor" in docs/architecture.md.
 * Pure; embed the struct, nothing to release. */
#ifndef PEAL_WIRE_LOG_SCAN_H
#define PEAL_WIRE_LOG_SCAN_H

#include "base/str.h"

enum wire_log_verdict {
    WIRE_LOG_CANNOT_TELL, /* no usable log, not understood, torn, or too long */
    WIRE_LOG_NONE,        /* the executor never began a log for the id */
    WIRE_LOG_STARTED,     /* its start line is there */
    WIRE_LOG_ENDED,       /* its end line is there */
};

#define WIRE_LOG_SCAN_MAX (64u << 20) /* bytes; beyond them nothing is looked at */
#define WIRE_LOG_SCAN_MARKS 2
#define WIRE_LOG_SCAN_NONES 2
#define WIRE_LOG_SCAN_WORD 24

struct wire_log_page_seen { /* private: what one candidate (content or data) showed */
    bool object, is_end, started, ended, has_to_line;
    uint8_t none; /* 1 + which of the known texts of "none" the log is, 0: none of them */
    int64_t to_line;
};

struct wire_log_scan { /* private, all of it */
    uint64_t fed;
    uint64_t arrays;                    /* bit d: the container at depth d is an array */
    uint8_t state;                      /* enum in log_scan.c */
    uint8_t depth;                      /* of open containers */
    uint8_t text;                       /* what the text being read is for */
    uint8_t member[3];                  /* the member whose value comes, at depth 1 and 2 */
    uint8_t hex;                        /* digits of \uXXXX already read */
    uint16_t unit;                      /* their value */
    uint8_t match[WIRE_LOG_SCAN_MARKS]; /* characters of each mark already matched */
    uint8_t none[WIRE_LOG_SCAN_NONES];  /* the same of each text that means "none" */
    uint8_t word_len;                   /* WORD + 1: longer than any word of interest */
    char word[WIRE_LOG_SCAN_WORD];
    bool has_code;
    int code;
    struct wire_log_page_seen page[2]; /* content, data */
};

void wire_log_scan_init(struct wire_log_scan *s);
void wire_log_scan_feed(struct wire_log_scan *s, struct slice piece);
/* After the last piece. complete: the transfer ended as it should. */
enum wire_log_verdict wire_log_scan_end(const struct wire_log_scan *s, int http_status,
                                        bool complete);

#endif
