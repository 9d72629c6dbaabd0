/* SPDX-License-Identifier: Apache-2.0 */
/* release.h - what this build is among others that use the same database. */
#ifndef PEAL_STORE_RELEASE_H
#define PEAL_STORE_RELEASE_H

/* A protocol is the rules by which servers share a database: what its rows mean, and the calls
 * between servers. Its number grows with a release whose servers an older one has to know of. Two
 * releases can run beside each other when each one's protocol is at least the other one's oldest.
 * tests/later builds releases with other numbers. */
struct store_release {
    int protocol; /* of this build */
    int oldest;   /* the oldest one that it can run beside */
    const char *version;
};

extern const struct store_release store_release;

#endif
