/* SPDX-License-Identifier: Apache-2.0 */
/* support_net.h - raw sockets against a loop in the same thread, and scripted peers in threads of
 * their own. Nothing sleeps: everything waits for an event, and fails with the reason after
 * WAIT_MS.
 *
 * Servers of tests listen outside the ports that the kernel gives away: what other programs know of
 * is their own ports, and the kernel's, so none connects here by mistake. */
#ifndef PEAL_TESTS_SUPPORT_NET_H
#define PEAL_TESTS_SUPPORT_NET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include "base/buf.h"
#include "net/httpd.h"
#include "net/loop.h"

#define WAIT_MS 40000     /* long enough for a machine under load, short of the test's limit */
#define PATIENCE_MS 30000 /* for calls that shall end by themselves: less, so that they say why */

/* Turn the loop until done(arg). */
void iterate_until(struct loop *l, bool (*done)(void *arg), void *arg);
void iterate_while_false(struct loop *l, const bool *flag);

/* --- a client made of a socket --- */
struct raw {
    int fd;
    struct buf got;
    bool eof, reset;
};

void raw_open(struct raw *r, uint16_t port);
/* From another address of this machine, such as "127.0.0.2". */
void raw_open_from(struct raw *r, const char *from, uint16_t port);
void raw_close(struct raw *r);
/* Sends all, turning the loop where the socket is full. */
void raw_send(struct raw *r, struct loop *l, const char *text);
/* Until the text has come. */
void raw_until(struct raw *r, struct loop *l, const char *text);
/* Take what has come; has the server ended the connection? */
bool raw_has_ended(struct raw *r);
/* Until it has. */
void raw_until_end(struct raw *r, struct loop *l);

/* --- a peer that does as its script says --- */
struct script {
    uint16_t port;
    int listener;
    pthread_t thread;
    atomic_int closed;                                /* connections that the script has closed */
    int connections;                                  /* that it serves, one after the other */
    void (*serve)(struct script *s, int fd, int nth); /* fd blocks; closed afterwards */
    void *arg;
    struct buf got; /* by script_read_request; look at it after script_join */
    int end;        /* what script_wait_end saw: 0 or an errno */
    bool missed;    /* a connection has not come */
};

/* A listening socket on 127.0.0.1; its port. An accept() on it waits for WAIT_MS. */
int listen_somewhere(int backlog, uint16_t *ret_port);
/* A port of 127.0.0.1 that refuses connections and is kept until the socket is closed. */
int refuse_somewhere(uint16_t *ret_port);
/* A port at which one can listen, in the range of listen_somewhere. */
uint16_t quiet_port(void);
bool can_listen(uint16_t port);
/* The server listens on 127.0.0.1 at such a port. */
void listen_quietly(struct httpd *h);
void script_start(struct script *s);
/* Waits for the script's end; fails if one of its connections has not come. */
void script_join(struct script *s);
/* Until the script has closed n connections; the loop stands still meanwhile. */
void script_wait_closed(struct script *s, int n);
/* Reads into got until a head and its Content-Length are complete. Number of reads. */
int script_read_request(struct script *s, int fd);
void script_write(int fd, const char *text);
void script_wait_end(struct script *s, int fd);

#endif
