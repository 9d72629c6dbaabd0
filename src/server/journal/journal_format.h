/* SPDX-License-Identifier: Apache-2.0 */
/* journal_format.h - what journal_file.c needs of the format beside journal_file.h. Pure. */
#ifndef PEAL_SERVER_JOURNAL_JOURNAL_FORMAT_H
#define PEAL_SERVER_JOURNAL_JOURNAL_FORMAT_H

#include "server/journal/journal_file.h"

/* The JOURNAL_HEADER bytes of a header. */
void journal_header(unsigned char *to, uint64_t generation, uint64_t salt,
                    const struct journal_owner *owner);
/* Number the records from number on and set their checksums. */
void journal_seal(char *records, size_t bytes, uint64_t salt, uint64_t number);

#endif
