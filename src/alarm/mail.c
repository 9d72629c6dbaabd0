/* SPDX-License-Identifier: Apache-2.0 */
/* mail.c - the channel "mail": one mail for each address of a job's alarm_email, by SMTP.
 *
 * A connection a mail, by libcurl, which does TLS and AUTH; a try is bounded as a whole. The server
 * answers 4xx for what may be better later and 5xx for what will not; of the latter only what it
 * says about this recipient or this mail is final. A wrong password or certificate may be mended
 * within the hour, so they are tried again. */
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include "alarm/mime.h"
#include "alarm/setting.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

#define CONNECT_MS 10000
#define MAIL_MAX (4u << 20)

static const struct config_row options[] = {
    { "mail.host", "spring.mail.host", CONFIG_TEXT, NULL, "HOST",
      "SMTP server for alarms by mail; without it none are sent", 0, 0 },
    { "mail.port", "spring.mail.port", CONFIG_INT, "0", "N",
      "its port; 0: 465 with mail.tls=tls, 587 with starttls, 25 with none.\n"
      "465 means mail.tls=tls where that is not set",
      0, 65535 },
    { "mail.tls", NULL, CONFIG_TEXT, "starttls", "starttls|tls|none",
      "starttls: nothing is said before the connection is encrypted; tls: encrypted from the "
      "start;\n"
      "none: in clear, passwords too",
      0, 0 },
    { "mail.ca", NULL, CONFIG_TEXT, NULL, "FILE",
      "certificates (PEM) that the server's is checked with (default: the system's)", 0, 0 },
    { "mail.user", "spring.mail.username", CONFIG_TEXT, NULL, "NAME",
      "user for AUTH; without it there is none", 0, 0 },
    { "mail.password", "spring.mail.password", CONFIG_SECRET, NULL, "TEXT",
      "its password. On a command line others can read it", 0, 0 },
    { "mail.password-file", NULL, CONFIG_TEXT, NULL, "FILE",
      "file whose first line is the password, instead of mail.password", 0, 0 },
    { "mail.from", "spring.mail.from", CONFIG_TEXT, NULL, "ADDRESS",
      "sender of the mails (default: mail.user)", 0, 0 },
};

extern const struct channel_ops channel_mail;

struct mail {
    struct channel channel;
    char *url;
    char *user, *password, *from, *ca; /* NULL: none */
    long tls;                          /* CURLUSESSL_… */
};

/* ---- settings -------------------------------------------------------------------------------- */

static enum err refuse(struct why *why, const char *text)
{
    why_set(why, "%s", text);
    return ERR_INVALID;
}

/* A name or a numeric address; nothing that would be another part of a URL. */
static bool host_ok(const char *host)
{
    for (const char *p = host; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:", *p))
            return false;
    return *host && strlen(host) <= 253;
}

static enum err server_read(const struct config *config, struct mail *m, struct why *why)
{
    static const struct {
        const char *word, *scheme;
        long tls;
        int port;
    } ways[] = { { "starttls", "smtp", CURLUSESSL_ALL, 587 },
                 { "tls", "smtps", CURLUSESSL_ALL, 465 },
                 { "none", "smtp", CURLUSESSL_NONE, 25 } };
    const char *host = config_text(config, "mail.host"), *tls = config_text(config, "mail.tls");
    int port = (int)config_int(config, "mail.port");
    /* Nobody speaks STARTTLS there, and files of XXL-JOB have the port alone. */
    if (port == 465 && config_origin(config, "mail.tls") == CONFIG_DEFAULT)
        tls = "tls";
    if (!host_ok(host))
        return refuse(why, "mail.host must be a host's name or numeric address, without a port");
    for (size_t i = 0; i < countof(ways); i++) {
        if (strcmp(tls, ways[i].word) != 0)
            continue;
        bool six = strchr(host, ':');
        struct buf url = BUF_INIT(1024);
        buf_printf(&url, "%s://%s%s%s:%d", ways[i].scheme, six ? "[" : "", host, six ? "]" : "",
                   port ? port : ways[i].port);
        m->url = buf_take(&url);
        m->tls = ways[i].tls;
        return OK;
    }
    return refuse(why, "mail.tls must be starttls, tls or none");
}

static enum err login_read(const struct config *config, struct mail *m, struct why *why)
{
    const char *user = config_text(config, "mail.user");
    const char *password = config_text(config, "mail.password");
    const char *file = config_text(config, "mail.password-file");
    if (password && file)
        return refuse(why, "give mail.password or mail.password-file, not both");
    if ((password || file) && !(user && *user))
        return refuse(why, "mail.user is missing: there is a password");
    if (!user || !*user)
        return OK;
    if (!password && !file)
        return refuse(why, "mail.password-file (or mail.password) is missing: there is mail.user");
    m->user = mem_dup(user);
    if (file)
        return setting_secret("mail.password-file", file, &m->password, why);
    m->password = mem_dup(password);
    return OK;
}

static enum err from_read(const struct config *config, struct mail *m, struct why *why)
{
    const char *from = config_text(config, "mail.from");
    struct slice address = slice_trim(slice_text(from && *from ? from : m->user));
    struct why rule = { "" };
    if (!address.n)
        return refuse(why, "mail.from is missing: the sender of the mails");
    if (mime_address(address, &rule)) {
        why_set(why, "mail.from: %s", rule.text);
        return ERR_INVALID;
    }
    m->from = mem_dupn(address.p, address.n);
    return OK;
}

static void mail_close(struct channel *c)
{
    struct mail *m = (struct mail *)c;
    if (m->password)
        explicit_bzero(m->password, strlen(m->password));
    free(m->url);
    free(m->user);
    free(m->password);
    free(m->from);
    free(m->ca);
    free(m);
    curl_global_cleanup();
}

static enum err mail_open(const struct config *config, struct channel **ret, struct why *why)
{
    const char *host = config_text(config, "mail.host"), *ca = config_text(config, "mail.ca");
    if (!host || !*host)
        return OK;
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return ERR_NOMEM;
    struct mail *m = mem_new(sizeof(*m));
    m->channel.ops = &channel_mail;
    enum err err = server_read(config, m, why);
    if (!err)
        err = login_read(config, m, why);
    if (!err)
        err = from_read(config, m, why);
    if (!err)
        err = setting_readable("mail.ca", ca, why);
    if (err) {
        mail_close(&m->channel);
        return err;
    }
    m->ca = mem_dup(ca);
    if (m->user && m->tls == CURLUSESSL_NONE)
        log_warn("alarm", "mail.tls=none: the password of mail.user goes to %s in clear", host);
    *ret = &m->channel;
    return OK;
}

/* ---- sending --------------------------------------------------------------------------------- */

struct upload {
    const struct buf *mail;
    size_t at;
};

static size_t give(char *to, size_t size, size_t n, void *arg)
{
    struct upload *u = arg;
    size_t left = u->mail->len - u->at, k = size * n < left ? size * n : left;
    if (k)
        memcpy(to, u->mail->data + u->at, k);
    u->at += k;
    return k;
}

static int look(void *stop, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a, (void)b, (void)c, (void)d;
    return *(const _Atomic bool *)stop;
}

static void connection(CURL *curl, const struct mail *m, const _Atomic bool *stop)
{
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_URL, m->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* none of the environment's either */
    curl_easy_setopt(curl, CURLOPT_USE_SSL, m->tls);
    if (m->ca)
        curl_easy_setopt(curl, CURLOPT_CAINFO, m->ca);
    if (m->user) {
        curl_easy_setopt(curl, CURLOPT_USERNAME, m->user);
        curl_easy_setopt(curl, CURLOPT_PASSWORD, m->password);
    }
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)CHANNEL_TRY_MS);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    /* else the end of a try waits for the end of its look-up, which nothing can cut short */
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, (void *)stop);
}

/* What the server said about the recipient or the mail itself, for good. */
static bool final(CURLcode code, long status)
{
    bool theirs = code == CURLE_SEND_ERROR || code == CURLE_WEIRD_SERVER_REPLY;
    return theirs && (status == 550 || status == 551 || status == 552 || status == 553 ||
                      status == 554 || status == 556);
}

static enum delivery_outcome perform(CURL *curl, struct why *said)
{
    char error[CURL_ERROR_SIZE] = "";
    long status = 0;
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
    if (code == CURLE_OK) {
        why_set(said, "the mail server took it (%ld)", status);
        return DELIVERY_SENT;
    }
    why_set(said, "%s", error[0] ? error : curl_easy_strerror(code));
    return final(code, status) ? DELIVERY_NEVER : DELIVERY_AGAIN;
}

static enum delivery_outcome transfer(const struct mail *m, const char *to, const struct buf *mail,
                                      const _Atomic bool *stop, struct why *said)
{
    struct upload u = { mail, 0 };
    CURL *curl = curl_easy_init();
    struct curl_slist *rcpt = curl ? curl_slist_append(NULL, to) : NULL;
    enum delivery_outcome outcome = DELIVERY_AGAIN;
    if (rcpt) {
        connection(curl, m, stop);
        curl_easy_setopt(curl, CURLOPT_MAIL_FROM, m->from);
        curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, rcpt);
        curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(curl, CURLOPT_READFUNCTION, give);
        curl_easy_setopt(curl, CURLOPT_READDATA, &u);
        outcome = perform(curl, said);
    } else {
        why_set(said, "%s", err_text(ERR_NOMEM));
    }
    curl_slist_free_all(rcpt);
    curl_easy_cleanup(curl);
    return outcome;
}

static enum delivery_outcome mail_send(struct channel *c, const struct alarm_message *message,
                                       const _Atomic bool *stop, struct why *said)
{
    const struct mail *m = (struct mail *)c;
    if (mime_address(slice_text(message->target), said))
        return DELIVERY_NEVER;
    struct buf mail = BUF_INIT(MAIL_MAX);
    mime_mail(&mail, message, m->from, clock_wall_ms());
    enum delivery_outcome outcome = DELIVERY_AGAIN;
    if (mail.failed)
        why_set(said, "%s", err_text(ERR_NOMEM));
    else
        outcome = transfer(m, message->target, &mail, stop, said);
    buf_done(&mail);
    return outcome;
}

const struct channel_ops channel_mail = {
    .name = ALARM_BY_JOB,
    .options = options,
    .noptions = countof(options),
    .by_job = true,
    .open = mail_open,
    .send = mail_send,
    .close = mail_close,
};
