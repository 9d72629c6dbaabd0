/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSSL's own socket BIO writes with write(), which raises SIGPIPE on a dead connection, and a
 * library may not change its host's signals: hence a BIO of our own over send(MSG_NOSIGNAL). */
#include "net/tls.h"
#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "base/mem.h"

struct tls_client {       /* each connection holds the ctx that it began with */
    pthread_mutex_t lock; /* for all below */
    SSL_CTX *ctx;
    bool any;    /* certificates are not looked at */
    bool system; /* those that this machine trusts are to be loaded, which takes milliseconds */
    unsigned reloads;
};

struct tls_server {
    pthread_mutex_t lock;
    _Atomic bool asks;
    SSL_CTX *ctx; /* under the lock; each connection holds the one that it began with */
};

struct tls {
    SSL *ssl;
    int fd;
    bool broken;             /* nothing more may be said over it */
    bool offers;             /* its handshake began with a session */
    unsigned reloads;        /* of its client, when it began */
    struct tls_ticket *keep; /* the caller's; NULL: sessions are not kept */
};

static BIO_METHOD *method; /* for all connections, for good */
static pthread_once_t method_once = PTHREAD_ONCE_INIT;

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

static void method_make(void)
{
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "peal socket");
    if (!method)
        return;
    BIO_meth_set_write(method, bio_write);
    BIO_meth_set_read(method, bio_read);
    BIO_meth_set_ctrl(method, bio_ctrl);
}

static SSL_CTX *ctx_new(const SSL_METHOD *kind)
{
    pthread_once(&method_once, method_make);
    SSL_CTX *ctx = method ? SSL_CTX_new(kind) : NULL;
    if (!ctx)
        return NULL;
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    /* many peers end without close_notify; lengths tell us whether a message is whole */
    SSL_CTX_set_options(ctx, SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION);
    return ctx;
}

/* The reason at the bottom of OpenSSL's queue, which is what went wrong first. */
static const char *first_reason(void)
{
    const char *text = ERR_reason_error_string(ERR_peek_error());
    return text ? text : "it cannot be read";
}

/* A key with a pass phrase: there is no terminal to ask at. */
static int no_pass_phrase(char *to, int size, int writing, void *arg)
{
    (void)writing;
    (void)arg;
    if (size > 0)
        to[0] = '\0';
    return -1;
}

/* Both files of a certificate; prefix: "tls." of tls.cert and tls.key. */
static bool load_pair(SSL_CTX *ctx, const char *prefix, const char *cert_file, const char *key_file,
                      struct why *why)
{
    ERR_clear_error();
    SSL_CTX_set_default_passwd_cb(ctx, no_pass_phrase);
    bool cert = SSL_CTX_use_certificate_chain_file(ctx, cert_file) == 1;
    bool key = cert && SSL_CTX_use_PrivateKey_file(ctx, key_file, SSL_FILETYPE_PEM) == 1;
    bool mismatch = ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH;
    bool fit = key && SSL_CTX_check_private_key(ctx) == 1;
    if (!cert)
        why_set(why, "%scert: %s: %s", prefix, cert_file, first_reason());
    else if (!key && !mismatch)
        why_set(why, "%skey: %s: %s", prefix, key_file, first_reason());
    else if (!fit)
        why_set(why, "%skey: %s is not the key of the certificate in %s", prefix, key_file,
                cert_file);
    ERR_clear_error();
    return fit;
}

static bool any_certificate(const struct tls_trust *trust)
{
    return !trust || !trust->ca || strcmp(trust->ca, TLS_ANY) == 0;
}

static bool system_certificates(const struct tls_trust *trust)
{
    return !any_certificate(trust) && strcmp(trust->ca, TLS_SYSTEM) == 0;
}

static bool load_trust(SSL_CTX *ctx, const struct tls_trust *trust, struct why *why)
{
    char prefix[64];
    size_t n = trust->setting ? strlen(trust->setting) : 0;
    snprintf(prefix, sizeof(prefix), "%.*s", n > 2 ? (int)n - 2 : 0,
             trust->setting); /* of "x.ca" */
    bool file = !any_certificate(trust) && !system_certificates(trust);
    bool ok = !file || SSL_CTX_load_verify_file(ctx, trust->ca) == 1;
    if (!ok)
        why_set(why, "%s: %s: %s", trust->setting, trust->ca, first_reason());
    ERR_clear_error();
    return ok && (!trust->cert || load_pair(ctx, prefix, trust->cert, trust->key, why));
}

void tls_ticket_drop(struct tls_ticket *ticket)
{
    SSL_SESSION_free(ticket->session);
    ticket->session = NULL;
}

/* A copy: OpenSSL calls a session spoilt when its connection breaks, and executors are killed. */
static int ticket_came(SSL *ssl, SSL_SESSION *session)
{
    struct tls *t = SSL_get_app_data(ssl);
    SSL_SESSION *copy = t && t->keep ? SSL_SESSION_dup(session) : NULL;
    if (copy) {
        tls_ticket_drop(t->keep);
        t->keep->session = copy;
        t->keep->reloads = t->reloads;
    }
    return 0; /* no reference was taken */
}

static SSL_CTX *client_ctx(const struct tls_trust *trust, struct why *why)
{
    SSL_CTX *ctx = ctx_new(TLS_client_method());
    if (!ctx)
        why_set(why, "TLS: OpenSSL refuses");
    if (!ctx || (trust && !load_trust(ctx, trust, why))) {
        SSL_CTX_free(ctx);
        return NULL;
    }
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ctx, ticket_came);
    SSL_CTX_set_verify(ctx, any_certificate(trust) ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    return ctx;
}

static void trust_set(struct tls_client *t, SSL_CTX *ctx, const struct tls_trust *trust)
{
    t->ctx = ctx;
    t->any = any_certificate(trust);
    t->system = system_certificates(trust);
}

enum err tls_client_new(const struct tls_trust *trust, struct tls_client **ret, struct why *why)
{
    SSL_CTX *ctx = client_ctx(trust, why);
    if (!ctx)
        return ERR_INVALID;
    struct tls_client *t = *ret = mem_new(sizeof(*t));
    pthread_mutex_init(&t->lock, NULL);
    trust_set(t, ctx, trust);
    return OK;
}

enum err tls_client_reload(struct tls_client *t, const struct tls_trust *trust, struct why *why)
{
    SSL_CTX *ctx = client_ctx(trust, why);
    if (!ctx)
        return ERR_INVALID;
    pthread_mutex_lock(&t->lock);
    SSL_CTX *old = t->ctx;
    trust_set(t, ctx, trust);
    t->reloads++;
    pthread_mutex_unlock(&t->lock);
    SSL_CTX_free(old);
    return OK;
}

void tls_client_free(struct tls_client *t)
{
    if (!t)
        return;
    SSL_CTX_free(t->ctx);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static struct tls *conn_new(SSL_CTX *ctx, int fd)
{
    struct tls *t = mem_new(sizeof(*t));
    t->fd = fd;
    t->ssl = SSL_new(ctx);
    BIO *bio = t->ssl ? BIO_new(method) : NULL;
    if (!bio) {
        tls_free(t, false);
        return NULL;
    }
    BIO_set_data(bio, t);
    BIO_set_init(bio, 1);
    SSL_set_bio(t->ssl, bio, bio);
    return t;
}

static bool expect(struct tls *t, const char *host, bool literal)
{
    if (!literal)
        return SSL_set1_host(t->ssl, host) == 1;
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(t->ssl), host) == 1;
}

struct tls *tls_new(struct tls_client *client, int fd, const char *host, bool literal,
                    struct tls_ticket *ticket)
{
    pthread_mutex_lock(&client->lock);
    if (client->system)
        SSL_CTX_set_default_verify_paths(client->ctx); /* without any file none is trusted */
    client->system = false;
    bool any = client->any;
    unsigned reloads = client->reloads;
    struct tls *t = conn_new(client->ctx, fd);
    pthread_mutex_unlock(&client->lock);
    if (!t)
        return NULL;
    t->reloads = reloads;
    t->keep = ticket;
    SSL_set_app_data(t->ssl, t);
    SSL_set_connect_state(t->ssl);
    if (ticket && ticket->reloads != reloads) /* a session stands for a check of the certificate */
        tls_ticket_drop(ticket);
    if (ticket && ticket->session)
        t->offers = SSL_set_session(t->ssl, ticket->session) == 1;
    if (!literal)
        SSL_set_tlsext_host_name(t->ssl, host);
    if (!any && !expect(t, host, literal)) {
        tls_free(t, false);
        return NULL;
    }
    return t;
}

/* --- a listener's certificate --- */

/* Forward secrecy and authenticated encryption only; TLS 1.3 has nothing else. */
#define CIPHERS "ECDHE+AESGCM:ECDHE+CHACHA20"

static bool load_files(SSL_CTX *ctx, const struct tls_files *f, struct why *why)
{
    if (!load_pair(ctx, "tls.", f->cert, f->key, why))
        return false;
    bool ok = !f->client_ca || SSL_CTX_load_verify_file(ctx, f->client_ca) == 1;
    if (!ok)
        why_set(why, "tls.client-ca: %s: %s", f->client_ca, first_reason());
    ERR_clear_error();
    return ok;
}

static SSL_CTX *server_ctx(const struct tls_files *f, struct why *why)
{
    SSL_CTX *ctx = ctx_new(TLS_server_method());
    if (!ctx || SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_cipher_list(ctx, CIPHERS) != 1) {
        why_set(why, "TLS: OpenSSL refuses");
        SSL_CTX_free(ctx);
        return NULL;
    }
    if (!load_files(ctx, f, why)) {
        SSL_CTX_free(ctx);
        return NULL;
    }
    SSL_CTX_set_session_id_context(ctx, (const unsigned char *)"peal", 4);
    if (f->client_ca) {
        SSL_CTX_set_client_CA_list(ctx, SSL_load_client_CA_file(f->client_ca));
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    }
    return ctx;
}

enum err tls_server_new(const struct tls_files *files, struct tls_server **ret, struct why *why)
{
    SSL_CTX *ctx = server_ctx(files, why);
    if (!ctx)
        return ERR_INVALID;
    struct tls_server *s = *ret = mem_new(sizeof(*s));
    pthread_mutex_init(&s->lock, NULL);
    s->ctx = ctx;
    s->asks = files->client_ca;
    return OK;
}

enum err tls_server_reload(struct tls_server *s, const struct tls_files *files, struct why *why)
{
    SSL_CTX *ctx = server_ctx(files, why);
    if (!ctx)
        return ERR_INVALID;
    pthread_mutex_lock(&s->lock);
    SSL_CTX *old = s->ctx;
    s->ctx = ctx;
    atomic_store(&s->asks, files->client_ca != NULL);
    pthread_mutex_unlock(&s->lock);
    SSL_CTX_free(old); /* connections hold it as long as they live */
    return OK;
}

bool tls_server_asks(struct tls_server *s)
{
    return atomic_load(&s->asks);
}

void tls_server_free(struct tls_server *s)
{
    if (!s)
        return;
    SSL_CTX_free(s->ctx);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

struct tls *tls_accept(struct tls_server *s, int fd)
{
    pthread_mutex_lock(&s->lock);
    struct tls *t = conn_new(s->ctx, fd);
    pthread_mutex_unlock(&s->lock);
    if (t)
        SSL_set_accept_state(t->ssl);
    return t;
}

bool tls_client_proved(const struct tls *t)
{
    return SSL_get0_peer_certificate(t->ssl) && SSL_get_verify_result(t->ssl) == X509_V_OK;
}

/* --- a connection --- */

void tls_end(struct tls *t)
{
    if (t->broken || !SSL_is_init_finished(t->ssl) ||
        (SSL_get_shutdown(t->ssl) & SSL_SENT_SHUTDOWN))
        return;
    ERR_clear_error();
    SSL_shutdown(t->ssl);
    ERR_clear_error();
}

void tls_free(struct tls *t, bool polite)
{
    if (!t)
        return;
    if (polite)
        tls_end(t);
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
        t->broken = true;
        return TLS_FAILED;
    }
}

enum tls_result tls_handshake(struct tls *t)
{
    ERR_clear_error();
    enum tls_result r = result(t, SSL_do_handshake(t->ssl));
    if ((r == TLS_FAILED || r == TLS_EOF) && t->keep)
        tls_ticket_drop(t->keep); /* should the session be the reason */
    return r;
}

bool tls_offers_session(const struct tls *t)
{
    return t->offers;
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

size_t tls_pending(const struct tls *t)
{
    return (size_t)SSL_pending(t->ssl);
}

const char *tls_why(void)
{
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    return text ? text : "the connection broke";
}

const char *tls_untrusted(const struct tls *t)
{
    long result = SSL_get_verify_result(t->ssl);
    return result == X509_V_OK ? NULL : X509_verify_cert_error_string(result);
}
