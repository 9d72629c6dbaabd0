/* SPDX-License-Identifier: Apache-2.0 */
/* idem.h - a request that was sent with an Idempotency-Key, and its answer. Pure. */
#ifndef PEAL_MODEL_IDEM_H
#define PEAL_MODEL_IDEM_H

#include <stdint.h>

#define IDEM_KEPT_MS ((int64_t)86400 * 1000)

struct idem_record { /* texts owned */
    int64_t id, user_id;
    char *key;
    char *digest; /* SHA-256 of method, path and body, in hex */
    int64_t at_ms;
    int64_t group_id; /* of what it made; 0: of several, or of none */
    int status;       /* of the answer */
    char *headers;    /* the answer's own: complete lines */
    char *answer;     /* NULL: not known yet */
};

void idem_record_done(struct idem_record *r);
void idem_record_copy(struct idem_record *to, const struct idem_record *from);

#endif
