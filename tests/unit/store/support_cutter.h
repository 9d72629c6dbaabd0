/* SPDX-License-Identifier: Apache-2.0 */
/* support_cutter.h - a TCP proxy before a database server that breaks the connection at a packet
 * of the client's, in one of several ways. A thread of the test's. */
#ifndef PEAL_TESTS_SUPPORT_CUTTER_H
#define PEAL_TESTS_SUPPORT_CUTTER_H

#include <stdbool.h>
#include <stdint.h>

enum cut {
    CUT_BEFORE, /* the packet does not arrive */
    CUT_AFTER,  /* it arrives, and the connection breaks at once */
    CUT_ANSWER, /* it arrives and is answered, and the answer does not */
    CUT_LATE,   /* the client hears that the connection is broken; the server hears the packet a
                 * moment later, and only then that it is */
    CUT_COUNT
};

struct cutter;

/* To that port of 127.0.0.1. */
struct cutter *cutter_new(uint16_t port);
void cutter_free(struct cutter *c);
uint16_t cutter_port(const struct cutter *c);
/* At the nth packet from now on, once. */
void cutter_arm(struct cutter *c, enum cut how, int n);
/* Has it cut since it was armed? It does not any more. */
bool cutter_fired(struct cutter *c);

#endif
