/* SPDX-License-Identifier: Apache-2.0 */
/* audit.h - a row of the audit: who changed what, when, from where, through what. Pure. */
#ifndef PEAL_MODEL_AUDIT_H
#define PEAL_MODEL_AUDIT_H

#include <stdint.h>

struct audit_record { /* texts owned */
    int64_t id, at_ms;
    int64_t user_id; /* 0: the center itself */
    char *user;      /* the name that it had then */
    char *via;       /* "console", "token", "form_api", "center" */
    char *address;
    char *action;        /* "job.update" */
    char *kind, *object; /* of the thing: "job", "42" */
    char *name;
    char *changes; /* JSON: [{"field","before","after"}], without secrets */
    char *reason;  /* that the user gave; NULL: none */
    int64_t items; /* things of the kind that a bulk action has changed (audit_item_add) */
};

void audit_record_done(struct audit_record *r);
void audit_record_copy(struct audit_record *to, const struct audit_record *from);

#endif
