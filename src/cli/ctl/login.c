/* SPDX-License-Identifier: Apache-2.0 */
/* A login makes a session, with it a token, and ends the session: what is kept can be seen and
 * revoked in the console, and the password is nowhere. */
#include "base/mem.h"
#include "base/str.h"
#include "cli/ctl/account.h"
#include "cli/ctl/http.h"
#include "cli/ctl/print.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 200, DAYS_DEFAULT = 30, DAYS_MAX = 3650 };

/* ---- ask the terminal ------------------------------------------------------------------------ */

/* A line of the terminal, owned; NULL: there is none. */
static char *ask_line(const char *prompt, bool hidden)
{
    struct termios old, quiet;
    char text[1024], *ret = NULL;
    if (!isatty(STDIN_FILENO))
        return NULL;
    fputs(prompt, stderr);
    bool changed = hidden && tcgetattr(STDIN_FILENO, &old) == 0;
    if (changed) {
        quiet = old;
        quiet.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
    }
    if (fgets(text, sizeof(text), stdin) && text[strcspn(text, "\r\n")]) {
        text[strcspn(text, "\r\n")] = '\0';
        ret = mem_dup(text);
    }
    if (changed) {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &old);
        fputc('\n', stderr);
    }
    explicit_bzero(text, sizeof(text));
    return ret;
}

static char *user_name(const struct ctl *c)
{
    const char *given = ctl_option(c, "--user");
    char *name = given ? mem_dup(given) : ask_line("User: ", false);
    if (!name)
        ctl_say(c, CTL_USAGE, "--user NAME is missing");
    return name;
}

static char *password(const struct ctl *c)
{
    const char *path = ctl_option(c, "--password-file");
    if (path)
        return ctl_read_secret(c, "--password-file", path);
    char *text = ask_line("Password: ", true);
    if (!text)
        ctl_say(c, CTL_USAGE,
                "there is no terminal to ask for the password: --password-file FILE, "
                "or - for standard input");
    return text;
}

/* ---- session and token ----------------------------------------------------------------------- */

static void wipe(char *secret)
{
    if (secret)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}

static enum ctl_exit open_session(struct ctl *c, const char *name, const char *secret,
                                  struct ctl_answer *ret)
{
    json_t *body = json_pack("{ss ss sb}", "name", name, "password", secret, "remember", 0);
    struct ctl_ask ask = { .method = "POST", .path = "/session", .body = body };
    memset(ret, 0, sizeof(*ret));
    if (!body)
        return ctl_say(c, CTL_USAGE, "name and password must be UTF-8");
    enum ctl_exit status = ctl_ask(c, &ask, ret);
    json_decref(body);
    if (status == CTL_DONE && json_is_true(json_object_get(ret->body, "mustChangePassword")))
        return ctl_say(c, CTL_NOT_PERMITTED,
                       "the password must be changed first: log in to the console at %.200s",
                       c->url);
    if (status == CTL_DONE && !ret->cookie[0])
        return ctl_say(c, CTL_FAILED, "the answer has no session: is %.200s a center of Peal?",
                       c->url);
    return status;
}

static void close_session(struct ctl *c, const char *cookie)
{
    struct ctl_answer a;
    struct ctl_ask ask = {
        .method = "DELETE", .path = "/session", .cookie = cookie, .quiet = true
    };
    (void)ctl_ask(c, &ask, &a);
    ctl_answer_done(&a);
}

static bool has(const json_t *list, const char *text)
{
    size_t i;
    const json_t *v;
    json_array_foreach(list, i, v) if (json_is_string(v) &&
                                       strcmp(json_string_value(v), text) == 0) return true;
    return false;
}

/* All that the user may anywhere. */
static json_t *all_permissions(const json_t *session)
{
    json_t *list = json_array();
    size_t i, k;
    const json_t *row;
    json_t *v;
    json_array_foreach(json_object_get(session, "rights"), i, row)
    {
        json_array_foreach(json_object_get(row, "permissions"), k,
                           v) if (json_is_string(v) && !has(list, json_string_value(v)))
            json_array_append(list, v);
    }
    return list;
}

static json_t *permissions(const struct ctl *c, const json_t *session)
{
    const char *given = ctl_option(c, "--permissions");
    struct slice rest = slice_text(given), item;
    if (!given)
        return all_permissions(session);
    json_t *list = json_array();
    while (slice_item(&rest, &item))
        json_array_append_new(list, json_stringn(item.p, item.n));
    return list;
}

static enum ctl_exit make_token(struct ctl *c, const struct ctl_answer *session)
{
    char host[64] = "", name[80];
    int64_t days = DAYS_DEFAULT;
    if (!ctl_number(c, "--days", 1, DAYS_MAX, &days))
        return CTL_USAGE;
    gethostname(host, sizeof(host) - 1);
    snprintf(name, sizeof(name), "peal ctl%s%.50s", *host ? " on " : "", host);
    json_t *body = json_pack("{ss so sI sn}", "name", name, "permissions",
                             permissions(c, session->body), "days", (json_int_t)days, "groups");
    struct ctl_ask ask = {
        .method = "POST", .path = "/tokens", .body = body, .cookie = session->cookie
    };
    struct ctl_answer a;
    enum ctl_exit status = ctl_ask(c, &ask, &a);
    if (status == CTL_DONE && *ctl_text(a.body, "secret"))
        c->token = mem_dup(ctl_text(a.body, "secret"));
    else if (status == CTL_DONE)
        status = ctl_say(c, CTL_FAILED, "the answer has no token");
    ctl_answer_done(&a);
    json_decref(body);
    return status;
}

static enum ctl_exit by_password(struct ctl *c)
{
    struct ctl_answer session = { 0 };
    char *name = user_name(c), *secret = name ? password(c) : NULL;
    enum ctl_exit status = secret ? open_session(c, name, secret, &session) : CTL_USAGE;
    wipe(secret);
    free(name);
    if (status == CTL_DONE)
        status = make_token(c, &session);
    if (session.cookie[0])
        close_session(c, session.cookie);
    ctl_answer_done(&session);
    return status;
}

/* ---- the verbs ------------------------------------------------------------------------------- */

/* http:// over a network shows the token to each who listens. */
static void warn_of_plain(const struct ctl *c)
{
    static const char *const local[] = { "http://127.", "http://localhost", "http://[::1]" };
    if (strncmp(c->url, "http://", 7) != 0)
        return;
    for (size_t i = 0; i < countof(local); i++)
        if (strncmp(c->url, local[i], strlen(local[i])) == 0)
            return;
    ctl_say(c, CTL_DONE, "note: http:// sends the token unencrypted");
}

static enum ctl_exit keep(struct ctl *c)
{
    json_t *session = NULL;
    char *path = NULL;
    enum ctl_exit status = ctl_get(c, "/session", &session);
    if (status == CTL_DONE && !ctl_account_keep(c, &path))
        status = CTL_FAILED;
    if (status == CTL_DONE) {
        char text[256];
        snprintf(text, sizeof(text), "logged in as %.200s", ctl_text(session, "user.name"));
        ctl_put(stdout, text);
        printf("the token is in %s\n", path);
    }
    free(path);
    json_decref(session);
    return status;
}

enum ctl_exit ctl_login(struct ctl *c)
{
    if (c->nargs)
        c->url = ctl_account_url(c->args[0]);
    enum ctl_exit status = ctl_account(c, false);
    if (status != CTL_DONE)
        return status;
    warn_of_plain(c);
    if (!c->token)
        status = by_password(c);
    return status == CTL_DONE ? keep(c) : status;
}

enum ctl_exit ctl_logout(struct ctl *c)
{
    bool was;
    if (!ctl_account_forget(c, &was))
        return CTL_FAILED;
    puts(was ? "the token is forgotten" : "there was no token");
    return CTL_DONE;
}
