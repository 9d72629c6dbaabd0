/* SPDX-License-Identifier: Apache-2.0 */
/* peal doctor: what of a server's settings, data folder and database is insecure or risky, and how
 * to mend it. It reads only, also beside a running server.
 *
 * A finding is a stable name, what was found, and what to do. A place that cannot be looked at is
 * said, so that silence means health. */
#include "api/api.h"
#include "api/password.h"
#include "base/config.h"
#include "base/jsonw.h"
#include "base/map.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/server.h"
#include "store/store.h"
#include "store/url.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define OUTPUT_MAX (1u << 20)
#define PATH_SIZE 4096
#define USERS_MAX 1000 /* that are looked at */
#define HASHES_MAX 20  /* of these, whose argon2id hash is tried: 40 ms each and guess */
#define TOKENS_MAX 100 /* of a user */
#define IDLE_MAX_MS (INT64_C(30) * 86400 * 1000)
#define FREE_MIN (INT64_C(1) << 30)
#define BACKUP_MAX_S (2 * 86400)
#define CHANGE_MAX_MS (INT64_C(7) * 86400 * 1000) /* of a token */

struct doctor {
    const struct config *config;
    const char *backup; /* folder of backups; NULL: nobody said */
    bool json;
    struct buf out;
    struct jsonw w;
    int findings, blind;
    struct store *db;
    struct buf names; /* of what a look has gathered */
    int named;
};

/* ---- findings ----------------------------------------------------------------------------------
 */

static void tell(struct doctor *d, const char *id, const char *mend, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void tell(struct doctor *d, const char *id, const char *mend, const char *format, ...)
{
    char what[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    d->findings++;
    if (!d->json) {
        buf_printf(&d->out, "%s\n    %s\n    mend: %s\n", id, what, mend);
        return;
    }
    jsonw_object(&d->w, NULL);
    jsonw_text(&d->w, "id", id);
    jsonw_text(&d->w, "what", what);
    jsonw_text(&d->w, "mend", mend);
    jsonw_object_end(&d->w);
}

static void cannot_look(struct doctor *d, const char *what, const char *reason)
{
    d->blind++;
    fprintf(stderr, "peal doctor: cannot look at %s: %s\n", what, reason);
}

/* Names for one finding: the first few, and how many there are. */
static void name(struct doctor *d, const char *text)
{
    if (d->named++ < 5)
        buf_printf(&d->names, "%s%.80s", d->named > 1 ? ", " : "", text);
    else if (d->named == 6)
        buf_text(&d->names, ", …");
}

static const char *names_taken(struct doctor *d, int *ret_n)
{
    *ret_n = d->named;
    d->named = 0;
    return buf_str(&d->names);
}

/* ---- settings ----------------------------------------------------------------------------------
 */

static bool is_loopback(const char *listen)
{
    return strncmp(listen, "127.", 4) == 0 || strncmp(listen, "localhost:", 10) == 0 ||
           strncmp(listen, "[::1]", 5) == 0;
}

static void look_at_port(struct doctor *d)
{
    const char *listen = config_text(d->config, "listen");
    if (!is_loopback(listen) && !config_text(d->config, "tls.cert"))
        tell(
            d, "listen.open",
            "give it a certificate (tls.cert, tls.key), or listen on 127.0.0.1 behind a proxy that "
            "speaks TLS, or in a network of the executors alone",
            "%s takes connections of other machines without TLS: passwords, tokens and logs can "
            "be read on the way",
            listen);
}

static void look_at_metrics(struct doctor *d)
{
    const char *allow = config_text(d->config, "metrics.allow");
    const char *token = config_text(d->config, "metrics.token");
    if (is_loopback(config_text(d->config, "listen")) || (allow && allow[0]) || (token && token[0]))
        return;
    tell(d, "metrics.open",
         "name who may read it: metrics.allow (networks), or metrics.token (a Bearer token)",
         "everybody who reaches %s can read /metrics, with the names of jobs, groups and owners",
         config_text(d->config, "listen"));
}

static void look_at_token(struct doctor *d)
{
    const char *token = config_text(d->config, "token");
    const char *mend = "leave token out, and a random one is made in the data folder; give it to "
                       "the executors as xxl.job.accessToken";
    if (token && !token[0])
        tell(d, "token.empty", mend,
             "the access token is empty: anybody who can connect can register as an executor, "
             "take runs and end them");
    else if (!token && config_flag(d->config, "insecure-no-token"))
        tell(d, "token.empty", "take insecure-no-token out",
             "insecure-no-token: anybody who can connect can register as an executor");
    else if (token && server_token_known(token))
        tell(d, "token.known", mend, "the access token is %s, which everybody knows", token);
    else if (token && strlen(token) < 16)
        tell(d, "token.short", mend, "the access token has %zu characters, and can be guessed",
             strlen(token));
    if (token && config_origin(d->config, "token") == CONFIG_ARGUMENT)
        tell(d, "token.visible", "put it into a file that only the server reads (-c FILE)",
             "the access token stands on the command line, where every user of this machine sees "
             "it");
    if (config_flag(d->config, "insecure-known-token"))
        tell(d, "token.known-allowed", "take insecure-known-token out",
             "insecure-known-token lets tokens in that everybody knows");
}

static void look_at_passwords_given(struct doctor *d)
{
    if (config_text(d->config, "admin.password"))
        tell(d, "admin.password", "take it out once the first start is over",
             "the first password of admin stands in the settings (%s)",
             config_place(d->config, "admin.password"));
    if (config_flag(d->config, "compat.write-passwords"))
        tell(d, "compat.write-passwords",
             "take it out when no center of XXL-JOB is on the database any more",
             "new passwords are kept as SHA-256 without salt as well, for centers of XXL-JOB");
}

static void look_at_web(struct doctor *d)
{
    static const char *const limits[] = { "limit.token", "limit.session", "limit.login" };
    if (config_flag(d->config, "compat.get-changes"))
        tell(d, "compat.get-changes", "take it out, and let scripts send POST",
             "GET requests change things: a link on any page acts for a user who is logged in");
    if (config_int(d->config, "session.idle") > IDLE_MAX_MS)
        tell(d, "session.idle", "set session.idle to 7d or less",
             "a login that nobody uses lasts longer than 30 days");
    for (size_t i = 0; i < countof(limits); i++)
        if (config_int(d->config, limits[i]) == 0)
            tell(d, limits[i], "take the setting out",
                 "%s is 0: one client can ask, or guess, as often as it likes", limits[i]);
}

static void look_at_growth(struct doctor *d)
{
    int64_t days = config_int(d->config, "log.retention-days");
    if (days < SERVER_RETENTION_DAYS_MIN)
        tell(d, "log.retention-days", "set log.retention-days to 3 or more",
             "rows of the log are never deleted (%lld days): the database grows until the disk is "
             "full",
             (long long)days);
}

/* ---- files -------------------------------------------------------------------------------------
 */

static void look_at_mode(struct doctor *d, const char *path, mode_t bad, const char *id,
                         const char *mend)
{
    struct stat st;
    if (stat(path, &st) < 0) {
        if (errno != ENOENT)
            cannot_look(d, path, strerror(errno));
    } else if (st.st_mode & bad) {
        tell(d, id, mend, "%s has mode %03o: other users of this machine can read it", path,
             (unsigned)(st.st_mode & 0777));
    }
}

static void look_at_token_file(struct doctor *d, const char *path)
{
    char text[300];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    else if (errno != ENOENT)
        cannot_look(d, path, strerror(errno));
    if (n <= 0)
        return;
    struct slice token = slice_trim(slice_of(text, (size_t)n));
    char copy[300];
    text_copy(copy, sizeof(copy), token);
    if (server_token_known(copy))
        tell(d, "token.known", "delete the file, and a random token is made at the next start",
             "%s holds %s, which everybody knows", path, copy);
}

static void look_at_room(struct doctor *d, const char *data)
{
    struct statvfs fs;
    if (statvfs(data, &fs) < 0)
        return; /* the folder has been told of */
    int64_t left = (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
    int64_t all = (int64_t)fs.f_blocks * (int64_t)fs.f_frsize;
    if (left < FREE_MIN || (all > 0 && left < all / 20))
        tell(d, "disk.full", "make room, shorten log.retention-days, or run peal db compact",
             "%lld MiB are free on the disk of %s (%lld %%)", (long long)(left >> 20), data,
             all > 0 ? (long long)(left * 100 / all) : 0);
}

static void look_at_folder(struct doctor *d)
{
    const char *data = config_text(d->config, "data");
    char path[PATH_SIZE];
    struct stat st;
    if (stat(data, &st) < 0) {
        cannot_look(d, data, strerror(errno));
        return;
    }
    look_at_mode(d, data, 0007, "data.readable", "chmod 750, and let the server's user own it");
    snprintf(path, sizeof(path), "%s/token", data);
    look_at_mode(d, path, 0077, "token.readable", "chmod 600, and take another token");
    look_at_token_file(d, path);
    if (config_text(d->config, "tls.key"))
        look_at_mode(d, config_text(d->config, "tls.key"), 0007, "tls.readable",
                     "chmod 600, and take another key and certificate");
    snprintf(path, sizeof(path), "%s/peal.db", data);
    if (!(st.st_mode & 0001)) /* nobody else gets to the file */
        path[0] = '\0';
    if (path[0])
        look_at_mode(d, path, 0007, "db.readable", "chmod 640");
    look_at_room(d, data);
}

/* The newest file of a folder, its age in seconds; -1: there is none. */
static int64_t newest_age(const char *folder)
{
    DIR *dir = opendir(folder);
    int64_t newest = -1;
    char path[PATH_SIZE];
    struct stat st;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        size_t n = strlen(e->d_name);
        if (n > 5 && strcmp(e->d_name + n - 5, ".part") == 0) /* was not finished */
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_mtime > newest)
            newest = st.st_mtime;
    }
    if (dir)
        closedir(dir);
    return newest < 0 ? -1 : (int64_t)time(NULL) - newest;
}

static void look_at_backup(struct doctor *d)
{
    const char *mend = "set backup.folder, or run peal backup each day and name the folder with "
                       "--backup";
    const char *db = config_text(d->config, "db");
    if (db && db_url_is(db))
        return; /* its tools make the backups, somewhere */
    if (!d->backup)
        d->backup = config_text(d->config, "backup.folder");
    if (!d->backup) {
        tell(d, "backup.unknown", mend, "nothing says that this database is backed up");
        return;
    }
    int64_t age_s = newest_age(d->backup);
    if (age_s < 0)
        tell(d, "backup.absent", mend, "there is no backup in %s", d->backup);
    else if (age_s > BACKUP_MAX_S)
        tell(d, "backup.old", mend, "the newest backup in %s is %lld days old", d->backup,
             (long long)(age_s / 86400));
}

/* ---- the database ------------------------------------------------------------------------------
 */

struct people {
    struct doctor *d;
    int users, hashes;
    struct buf known, legacy, writers, tokens; /* names */
    int nknown, nlegacy, nwriters, ntokens;
};

static void add_name(struct buf *b, int *n, const char *text)
{
    if ((*n)++ < 5)
        buf_printf(b, "%s%.80s", *n > 1 ? ", " : "", text);
}

/* Passwords that everybody tries first. */
static bool has_known_password(struct people *p, const struct user_record *u)
{
    const char *const guesses[] = { "123456", "admin", u->username };
    bool legacy;
    if (u->argon2 && p->hashes++ >= HASHES_MAX)
        return false;
    for (size_t i = 0; i < countof(guesses); i++)
        if (password_matches(u, slice_text(guesses[i]), &legacy))
            return true;
    return false;
}

static bool writes_all_scripts(const struct user_record *u)
{
    for (int i = 0; i < u->rights.n; i++)
        if (u->rights.grants[i].group_id == 0 && u->rights.grants[i].role == ROLE_DEVELOPER)
            return true;
    return false;
}

static bool look_at_user(void *ctx, const struct user_record *u)
{
    struct people *p = ctx;
    if (has_known_password(p, u))
        add_name(&p->known, &p->nknown, u->username);
    if (!u->argon2 && u->password && u->password[0])
        add_name(&p->legacy, &p->nlegacy, u->username);
    if (writes_all_scripts(u))
        add_name(&p->writers, &p->nwriters, u->username);
    return ++p->users < USERS_MAX;
}

static void tell_people(struct doctor *d, struct people *p)
{
    if (p->nknown)
        tell(d, "password.known", "log in as each and choose another password",
             "the password of %d users is the first that is guessed: %s", p->nknown,
             buf_str(&p->known));
    if (p->nlegacy)
        tell(d, "password.legacy",
             "let them log in once, which keeps an argon2id hash, or set new passwords",
             "the passwords of %d users are kept as hashes of XXL-JOB without salt: %s", p->nlegacy,
             buf_str(&p->legacy));
    if (p->nwriters)
        tell(d, "scripts.all-groups", "give them the role developer on the groups that they need",
             "%d users beside the administrators may write scripts, which executors run, for all "
             "groups: %s",
             p->nwriters, buf_str(&p->writers));
}

static bool look_at_personal_token(void *ctx, const struct token_record *t)
{
    struct people *p = ctx;
    if (t->expires_ms <= 0)
        add_name(&p->tokens, &p->ntokens, t->name);
    return true;
}

struct ids {
    int64_t id[USERS_MAX];
    int n;
};

static bool add_user_id(void *ctx, const struct user_record *u)
{
    struct ids *ids = ctx;
    ids->id[ids->n++] = u->id;
    return ids->n < USERS_MAX;
}

static enum err look_at_tokens(struct doctor *d, struct people *p, struct why *why)
{
    struct ids *ids = mem_new(sizeof(*ids));
    const struct store_users *users = d->db->ops->users;
    const struct users_filter all = { .role = -1, .limit = USERS_MAX };
    int64_t total;
    enum err err = users->users_page(d->db, &all, add_user_id, ids, &total, why);
    for (int i = 0; i < ids->n && !err; i++)
        err = users->tokens_of(d->db, ids->id[i], 0, TOKENS_MAX, look_at_personal_token, p, &total,
                               why);
    free(ids);
    if (!err && p->ntokens)
        tell(d, "token.endless", "make new ones with an expiry, and delete these",
             "%d personal access tokens never expire: %s", p->ntokens, buf_str(&p->tokens));
    return err;
}

static enum err look_at_people(struct doctor *d, struct why *why)
{
    struct people p = { .d = d };
    const struct users_filter all = { .role = -1, .limit = USERS_MAX };
    int64_t total;
    buf_init(&p.known, 1000);
    buf_init(&p.legacy, 1000);
    buf_init(&p.writers, 1000);
    buf_init(&p.tokens, 1000);
    enum err err = d->db->ops->users->users_page(d->db, &all, look_at_user, &p, &total, why);
    if (!err)
        tell_people(d, &p);
    if (!err)
        err = look_at_tokens(d, &p, why);
    buf_done(&p.known);
    buf_done(&p.legacy);
    buf_done(&p.writers);
    buf_done(&p.tokens);
    return err;
}

static bool look_at_group(void *ctx, const struct group_record *g)
{
    struct slice rest = slice_text(g->address_list), one;
    bool open = false;
    while (slice_item(&rest, &one)) {
        bool plain = one.n > 7 && strncasecmp(one.p, "http://", 7) == 0;
        struct slice host = plain ? slice_of(one.p + 7, one.n - 7) : one;
        char text[300];
        text_copy(text, sizeof(text), host);
        open = open || (plain && !is_loopback(text));
    }
    if (open)
        name(ctx, g->app);
    return true;
}

static enum err look_at_groups(struct doctor *d, struct why *why)
{
    int n;
    enum err err = d->db->ops->catalog->groups_each(d->db, look_at_group, d, why);
    const char *names = names_taken(d, &n);
    if (!err && n)
        tell(d, "executors.plain",
             "let executors listen behind TLS (https addresses), or in a network of their own",
             "executors of %d groups are called over http, so their token can be read on the way: "
             "%s",
             n, names);
    buf_reset(&d->names);
    return err;
}

/* ---- tokens of groups ---- */

struct group_tokens {
    struct doctor *d;
    struct textmap seen; /* token -> does it serve for one group, or for several? */
    bool changes; /* which names are taken: of groups in a long change, of those that share */
    int64_t now_ms;
};

static char once, twice; /* their addresses are values of seen */

static void count_token(struct textmap *seen, const char *token)
{
    if (token)
        textmap_set(seen, slice_text(token),
                    textmap_find(seen, slice_text(token)) ? &twice : &once);
}

static bool count_tokens(void *ctx, const struct group_token *t)
{
    struct group_tokens *g = ctx;
    count_token(&g->seen, t->token);
    count_token(&g->seen, t->next);
    return true;
}

static bool is_shared(const struct group_tokens *g, const char *token)
{
    return token && textmap_find(&g->seen, slice_text(token)) == &twice;
}

static bool name_group(void *ctx, const struct group_token *t)
{
    struct group_tokens *g = ctx;
    struct group_record group = { .id = 0 };
    struct why why = { "" };
    bool found = g->changes ? t->next && g->now_ms - t->since_ms > CHANGE_MAX_MS
                            : is_shared(g, t->token) || is_shared(g, t->next);
    if (found && !g->d->db->ops->catalog->group_get(g->d->db, t->group_id, &group, &why)) {
        name(g->d, group.app);
        group_record_done(&group);
    }
    return true;
}

static enum err look_at_group_tokens(struct doctor *d, struct why *why)
{
    struct group_tokens g = { .d = d, .now_ms = (int64_t)time(NULL) * 1000 };
    const struct store_catalog *catalog = d->db->ops->catalog;
    int n = 0;
    textmap_init(&g.seen);
    enum err err = catalog->group_tokens_each(d->db, count_tokens, &g, why);
    if (!err)
        err = catalog->group_tokens_each(d->db, name_group, &g, why);
    const char *names = names_taken(d, &n);
    if (!err && n)
        tell(d, "token.shared",
             "give each of them a token of its own, unless one process serves all",
             "%d groups share an access token, so one can act as the other: %s", n, names);
    buf_reset(&d->names);
    g.changes = true;
    if (!err)
        err = catalog->group_tokens_each(d->db, name_group, &g, why);
    names = names_taken(d, &n);
    if (!err && n)
        tell(d, "token.changing", "finish the change, or withdraw it",
             "two access tokens serve for %d groups for over a week: %s", n, names);
    buf_reset(&d->names);
    textmap_done(&g.seen);
    return err;
}

static void look_at_database(struct doctor *d)
{
    const char *data = config_text(d->config, "data"), *db = config_text(d->config, "db");
    char *made = mem_join("sqlite:", data), *url = mem_join(made, "/peal.db");
    const struct store_options options = { .read_only = true,
                                           .password = config_text(d->config, "db.password") };
    struct why why = { "" };
    enum err err = store_open(db ? db : url, &options, &d->db, &why);
    if (!err)
        err = look_at_people(d, &why);
    if (!err)
        err = look_at_groups(d, &why);
    if (!err)
        err = look_at_group_tokens(d, &why);
    if (err)
        cannot_look(d, "the database", why.text[0] ? why.text : err_text(err));
    store_close(d->db);
    free(made);
    free(url);
}

/* ---- the command --------------------------------------------------------------------------------
 */

static int complain(const char *text)
{
    fprintf(stderr, "peal doctor: %s; see peal doctor --help\n", text);
    return EXIT_USAGE;
}

static int help(const struct config_table *table)
{
    fputs("usage: peal doctor [-o text|json] [--backup DIR] [OPTIONS OF peal server]\n\n"
          "Looks at a server's settings, data folder and database, and prints what is insecure or\n"
          "risky and how to mend it. Give it what the server gets (-c FILE, the environment); it\n"
          "changes nothing, and may run beside the server, as its user.\n\n"
          "Exit status: 0 nothing was found, 1 findings, 2 something could not be looked at.\n\n"
          "  -o text|json      how the findings are printed (text)\n"
          "  --backup DIR      where backups of the database are kept (backup.folder)\n\n",
          stdout);
    config_help(table, stdout);
    return EXIT_DONE;
}

static int examine(struct doctor *d)
{
    buf_init(&d->out, OUTPUT_MAX);
    buf_init(&d->names, 1000);
    d->w = jsonw_on(&d->out);
    if (d->json) {
        jsonw_object(&d->w, NULL);
        jsonw_array(&d->w, "findings");
    }
    look_at_metrics(d);
    look_at_port(d);
    look_at_token(d);
    look_at_passwords_given(d);
    look_at_web(d);
    look_at_growth(d);
    look_at_folder(d);
    look_at_backup(d);
    look_at_database(d);
    if (d->json) {
        jsonw_array_end(&d->w);
        jsonw_bool(&d->w, "complete", d->blind == 0);
        jsonw_object_end(&d->w);
        buf_char(&d->out, '\n');
    } else {
        buf_printf(&d->out, "%s%d %s\n", d->findings ? "\n" : "", d->findings,
                   d->findings == 1 ? "finding" : "findings");
    }
    fputs(buf_str(&d->out), stdout);
    buf_done(&d->out);
    buf_done(&d->names);
    return d->blind ? 2 : d->findings ? EXIT_NO : EXIT_DONE;
}

int cmd_doctor(int argc, char **argv)
{
    struct config config;
    struct why why = { "" };
    struct config_table table;
    const char *form = "text";
    struct doctor d = { .config = &config };
    int status;
    if (!option_take(&argc, argv, "-o", &form) || !option_take(&argc, argv, "--backup", &d.backup))
        return complain("an option has no value");
    d.json = strcmp(form, "json") == 0;
    if (!d.json && strcmp(form, "text") != 0)
        return complain("-o must be text or json");
    struct config_row *rows = server_options(&table);
    if (server_config_read(&table, argc, argv, &config, &why))
        status = complain(why.text);
    else if (config.help)
        status = help(&table);
    else
        status = examine(&d);
    config_done(&config);
    free(rows);
    return status;
}
