/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSSL's own socket BIO writes with write(), which raises SIGPIPE on a dead connection, and a
 * library may not change its host's signals: hence a BIO of our own over send(MSG_NOSIGNAL). */
#include "net/tls.h"
#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include "base/mem.h"

struct tls_client {
    SSL_CTX *ctx;
    BIO_METHOD *method;
};

struct tls {
    SSL *ssl;
    int fd;
};

static int bio_write(BIO *bio, const char *from, int n)
{
    struct tls *t = BIO_get_data(bio);
    ssize_t sent = send(t->fd, from, (size_t)n, MSG_NOSIGNAL);
    BIO_clear_retry_flags(bio);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_write(bio);
    return (int)sent;
}

static int bio_read(BIO *bio, char *to, int n)
{
    struct tls *t = BIO_get_data(bio);
    ssize_t got = recv(t->fd, to, (size_t)n, 0);
    BIO_clear_retry_flags(bio);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_read(bio);
    if (got == 0)
        BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return (int)got;
}

static long bio_ctrl(BIO *bio, int command, long number, void *p)
{
    (void)number;
    (void)p;
    if (command == BIO_CTRL_EOF)
        return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
    return command == BIO_CTRL_FLUSH;
}

struct tls_client *tls_client_new(void)
{
    struct tls_client *t = mem_new(sizeof(*t));
    t->ctx = SSL_CTX_new(TLS_client_method());
    t->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "peal socket");
    if (!t->ctx || !t->method) {
        tls_client_free(t);
        return NULL;
    }
    BIO_meth_set_write(t->method, bio_write);
    BIO_meth_set_read(t->method, bio_read);
    BIO_meth_set_ctrl(t->method, bio_ctrl);
    SSL_CTX_set_verify(t->ctx, SSL_VERIFY_NONE, NULL);
    SSL_CTX_set_session_cache_mode(t->ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(t->ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                 SSL_MODE_RELEASE_BUFFERS);
    /* many servers end without close_notify; lengths tell us whether an answer is whole */
    SSL_CTX_set_options(t->ctx, SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION);
    return t;
}

void tls_client_free(struct tls_client *t)
{
    if (!t)
        return;
    SSL_CTX_free(t->ctx);
    BIO_meth_free(t->method);
    free(t);
}

struct tls *tls_new(struct tls_client *client, int fd, const char *name)
{
    struct tls *t = mem_new(sizeof(*t));
    t->fd = fd;
    t->ssl = SSL_new(client->ctx);
    BIO *bio = t->ssl ? BIO_new(client->method) : NULL;
    if (!bio) {
        tls_free(t, false);
        return NULL;
    }
    BIO_set_data(bio, t);
    BIO_set_init(bio, 1);
    SSL_set_bio(t->ssl, bio, bio);
    SSL_set_connect_state(t->ssl);
    if (name)
        SSL_set_tlsext_host_name(t->ssl, name);
    return t;
}

void tls_free(struct tls *t, bool polite)
{
    if (!t)
        return;
    if (polite)
        SSL_shutdown(t->ssl);
    ERR_clear_error();
    SSL_free(t->ssl);
    free(t);
}

static enum tls_result result(struct tls *t, int rc)
{
    if (rc > 0)
        return TLS_OK;
    switch (SSL_get_error(t->ssl, rc)) {
    case SSL_ERROR_WANT_READ:
        return TLS_WANT_READ;
    case SSL_ERROR_WANT_WRITE:
        return TLS_WANT_WRITE;
    case SSL_ERROR_ZERO_RETURN:
        return TLS_EOF;
    default:
        return TLS_FAILED;
    }
}

enum tls_result tls_handshake(struct tls *t)
{
    ERR_clear_error();
    return result(t, SSL_do_handshake(t->ssl));
}

enum tls_result tls_read(struct tls *t, void *to, size_t size, size_t *ret_n)
{
    ERR_clear_error();
    return result(t, SSL_read_ex(t->ssl, to, size, ret_n));
}

enum tls_result tls_write(struct tls *t, const void *from, size_t n, size_t *ret_n)
{
    ERR_clear_error();
    return result(t, SSL_write_ex(t->ssl, from, n, ret_n));
}

const char *tls_why(void)
{
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    return text ? text : "the connection broke";
}
