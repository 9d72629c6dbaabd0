/* SPDX-License-Identifier: Apache-2.0 */
/* peal demo: a center, two executors and four jobs as a newcomer would set them up by hand.
 *
 * Everything is done through the front door: the center and the executors are processes of this
 * very binary, the jobs are made through the web API, what is shown comes from its lists and
 * /metrics. The children have a process group of their own, so that Ctrl-C reaches only us and we
 * stop them in order: executors first, so that they deliver their results, then the center. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "api/api.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/secret.h"
#include "cli/command.h"
#include "cli/demo_view.h"
#include "cli/demo_web.h"

#define APP "peal-demo"
#define EXECUTORS 2
#define CHILDREN (1 + EXECUTORS)
#define POLL_MS 200
#define START_MS 30000 /* for the center and the executors to be there */
#define STOP_MS 10000  /* for a child to end by itself */
#define DEATH_MS 2000  /* for a death to be seen behind the call that it broke */
#define USUAL_PORT 8080

static const char help[] =
    "usage: peal demo [--port N] [--data DIR]\n"
    "\n"
    "Starts a center on 127.0.0.1 with an embedded database, two executors, and four jobs: one a\n"
    "second, one that goes to both executors, one that fails and is tried again, and a script. "
    "Then\n"
    "it prints where its console is, and a line for each run that ends, until Ctrl-C, which\n"
    "stops everything.\n"
    "\n"
    "  --port N    port of the center (8080, or a free one if that is taken)\n"
    "  --data DIR  a new folder for database and logs, kept (a temporary one, removed at the end)\n"
    "\n"
    "The executors run shell scripts here (--peal.executor.glue=shell), which is off otherwise.\n";

struct child {
    const char *name;
    pid_t pid; /* 0: not started, or gone */
    char log[512];
};

struct demo {
    struct demo_web web;
    struct child children[CHILDREN]; /* the center first */
    char folder[256];
    bool own_folder;
    char password[24], token[48];
    int64_t group;
};

/* What a newcomer looks at first: each kind of outcome within a quarter of a minute. */
static const struct sample {
    const char *name, *handler, *param, *cron, *route, *glue, *source;
    int retries;
} samples[] = {
    { "every second", "sleepJobHandler", "50", "* * * * * ?", "ROUND", "BEAN", "", 0 },
    { "broadcast to both", "shardingJobHandler", "", "0/5 * * * * ?", "SHARDING_BROADCAST", "BEAN",
      "", 0 },
    { "fails, two retries", "failJobHandler", "as it was told to", "0/15 * * * * ?", "FIRST",
      "BEAN", "", 2 },
    { "shell script", "", "", "0/10 * * * * ?", "RANDOM", "GLUE_SHELL",
      "#!/bin/bash\necho \"run on $(uname -n) at $(date +%T.%3N)\"\n", 0 },
};

static struct view_job jobs[countof(samples)];

/* A signal handler has no other way to say it: the first asks for the end, the second for its
 * haste. */
static volatile sig_atomic_t stopping, hurry;

static void on_signal(int number)
{
    (void)number;
    if (stopping)
        hurry = 1;
    stopping = 1;
}

static void watch_signals(void)
{
    struct sigaction action = { .sa_handler = on_signal };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

static void pause_ms(int ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
    nanosleep(&t, NULL); /* a signal ends it early */
}

/* ---- children ---------------------------------------------------------------------------------
 */

static _Noreturn void become(const struct child *c, pid_t parent, char *const argv[])
{
    int log = open(c->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* whatever happens to us, they do not stay behind */
    if (getppid() != parent || log < 0 || none < 0 || dup2(none, STDIN_FILENO) < 0 ||
        dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
        _exit(EXIT_FAILED);
    execv("/proc/self/exe", argv);
    _exit(EXIT_FAILED);
}

static enum err child_start(struct demo *d, struct child *c, const char *name, char *const argv[],
                            struct why *why)
{
    pid_t parent = getpid();
    c->name = name;
    snprintf(c->log, sizeof(c->log), "%s/%s.log", d->folder, name);
    pid_t pid = fork();
    if (pid == 0)
        become(c, parent, argv);
    if (pid < 0) {
        why_set(why, "cannot start the %s: %s", name, strerror(errno));
        return ERR_IO;
    }
    c->pid = pid;
    return OK;
}

/* ERR_STOPPING if a signal came, ERR_IO if a child has ended by itself. */
static enum err still_well(struct demo *d, struct why *why)
{
    if (stopping)
        return ERR_STOPPING;
    for (int i = 0; i < CHILDREN; i++) {
        struct child *c = &d->children[i];
        if (!c->pid || waitpid(c->pid, NULL, WNOHANG) == 0)
            continue;
        c->pid = 0;
        why_set(why, "the %s has ended by itself; what it said is in %s", c->name, c->log);
        d->own_folder = false; /* keep it */
        return ERR_IO;
    }
    return OK;
}

static void child_stop(struct child *c)
{
    if (!c->pid)
        return;
    kill(c->pid, hurry ? SIGKILL : SIGTERM);
    int64_t until = clock_boot_ms() + STOP_MS;
    bool killed = hurry;
    while (waitpid(c->pid, NULL, WNOHANG) == 0) {
        if (!killed && (hurry || clock_boot_ms() > until)) {
            kill(c->pid, SIGKILL);
            killed = true;
        }
        pause_ms(10);
    }
    c->pid = 0;
}

static void children_stop(struct demo *d)
{
    for (int i = 1; i < CHILDREN; i++) /* all of them at once, then each */
        if (d->children[i].pid)
            kill(d->children[i].pid, SIGTERM);
    for (int i = CHILDREN; i-- > 0;)
        child_stop(&d->children[i]);
}

/* ---- before the start -------------------------------------------------------------------------
 */

/* port 0: any. *ret is the port if it is free, else 0. */
static uint16_t port_free(uint16_t port)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    bool is = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
              bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(fd, 1) == 0 &&
              getsockname(fd, (struct sockaddr *)&at, &size) == 0;
    if (fd >= 0)
        close(fd);
    return is ? ntohs(at.sin_port) : 0;
}

static enum err choose_port(struct demo *d, const char *wanted, struct why *why)
{
    int port = 0;
    if (wanted && (!parse_int(slice_text(wanted), &port) || port < 1 || port > 65535)) {
        why_set(why, "--port: must be 1-65535");
        return ERR_INVALID;
    }
    d->web.port = port_free(wanted ? (uint16_t)port : USUAL_PORT);
    if (!d->web.port && wanted) {
        why_set(why, "port %d of 127.0.0.1 is taken", port);
        return ERR_BUSY;
    }
    if (!d->web.port) {
        d->web.port = port_free(0);
        printf("Port %d is taken by another program; the center gets %u.\n", USUAL_PORT,
               d->web.port);
    }
    return OK;
}

static enum err choose_folder(struct demo *d, const char *wanted, struct why *why)
{
    const char *tmp = getenv("TMPDIR");
    int n = wanted ? snprintf(d->folder, sizeof(d->folder), "%s", wanted)
                   : snprintf(d->folder, sizeof(d->folder), "%s/peal-demo-XXXXXX",
                              tmp && *tmp ? tmp : "/tmp");
    if (n >= (int)sizeof(d->folder)) {
        why_set(why, "the folder's name is too long");
        return ERR_TOOBIG;
    }
    if (wanted)
        (void)rmdir(d->folder); /* an empty one may be there; users of an earlier demo may not */
    if (wanted ? mkdir(d->folder, 0750) != 0 : !mkdtemp(d->folder)) {
        why_set(why, "cannot make the folder %s: %s", d->folder, strerror(errno));
        d->folder[0] = '\0';
        return ERR_IO;
    }
    d->own_folder = !wanted;
    return OK;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

/* ---- center and executors ---------------------------------------------------------------------
 */

static enum err center_start(struct demo *d, struct why *why)
{
    char listen[32], data[300];
    snprintf(listen, sizeof(listen), "127.0.0.1:%u", d->web.port);
    snprintf(data, sizeof(data), "%s/center", d->folder);
    secret_token(d->password, sizeof(d->password), 12);
    secret_token(d->token, sizeof(d->token), 24);
    setenv("PEAL_ADMIN_PASSWORD", d->password, 1);
    setenv("PEAL_ACCESS_TOKEN", d->token, 1); /* not on command lines, where ps shows it */
    char *argv[] = { "peal", "server", "--listen", listen, "--data", data, NULL };
    return child_start(d, &d->children[0], "center", argv, why);
}

static enum err executors_start(struct demo *d, struct why *why)
{
    static const char *const names[EXECUTORS] = { "executor-1", "executor-2" };
    char center[64], logs[300];
    enum err err = OK;
    snprintf(center, sizeof(center), "http://127.0.0.1:%u", d->web.port);
    for (int i = 0; i < EXECUTORS && !err; i++) {
        snprintf(logs, sizeof(logs), "%s/%s", d->folder, names[i]);
        char *argv[] = { "peal",   "executor",  "--centers", center,      "--app",  APP,
                         "--ip",   "127.0.0.1", "--listen",  "127.0.0.1", "--port", "0",
                         "--logs", logs,        "--glue",    "shell",     NULL };
        err = child_start(d, &d->children[1 + i], names[i], argv, why);
    }
    return err;
}

static enum err center_ready(struct demo *d, struct why *why)
{
    int64_t until = clock_boot_ms() + START_MS;
    enum err err, answer;
    struct buf text = BUF_INIT(65536);
    do {
        buf_reset(&text);
        why_clear(why); /* of the try before */
        err = still_well(d, why);
        answer = err ? err : demo_web_get(&d->web, "/readyz", &text, why);
        if (answer && !err)
            pause_ms(20);
    } while (answer && !err && clock_boot_ms() < until);
    buf_done(&text);
    return err ? err : answer;
}

/* ---- jobs -------------------------------------------------------------------------------------
 */

/* The demo's group as the list shows it, or NULL. Free by demo_web_free. */
static enum err group_find(struct demo *d, struct json_t **ret, struct why *why)
{
    struct buf form = BUF_INIT(4096);
    json_t *page = NULL;
    demo_web_field(&form, "appname", APP);
    demo_web_field(&form, "title", "");
    demo_web_field(&form, "offset", "0");
    demo_web_field(&form, "pagesize", "10");
    enum err err = demo_web_post(&d->web, "/jobgroup/pageList", &form, &page, why);
    *ret = err ? NULL : json_incref(json_array_get(json_object_get(page, "data"), 0));
    demo_web_free(page);
    buf_done(&form);
    return err;
}

static enum err group_make(struct demo *d, struct why *why)
{
    struct buf form = BUF_INIT(4096);
    json_t *group = NULL, *reply = NULL;
    demo_web_field(&form, "appname", APP);
    demo_web_field(&form, "title", "Executors of the demo");
    demo_web_field(&form, "addressType", "0");
    demo_web_field(&form, "addressList", "");
    enum err err = demo_web_post(&d->web, "/jobgroup/insert", &form, &reply, why);
    demo_web_free(reply);
    if (!err)
        err = group_find(d, &group, why);
    d->group = json_integer_value(json_object_get(group, "id"));
    if (!err && !d->group) {
        why_set(why, "the group that was made is not in the list");
        err = ERR_NOTFOUND;
    }
    demo_web_free(group);
    buf_done(&form);
    return err;
}

static enum err executors_there(struct demo *d, struct why *why)
{
    int64_t until = clock_boot_ms() + START_MS;
    for (;;) {
        json_t *group = NULL;
        enum err err = still_well(d, why);
        if (!err)
            err = group_find(d, &group, why);
        size_t n = json_array_size(json_object_get(group, "registryList"));
        demo_web_free(group);
        if (err || n >= EXECUTORS)
            return err;
        if (clock_boot_ms() > until) {
            why_set(why, "the executors do not register; see %s", d->children[1].log);
            d->own_folder = false;
            return ERR_TIMEOUT;
        }
        pause_ms(20);
    }
}

static void job_form(struct buf *form, const struct sample *s, int64_t group)
{
    demo_web_field_i64(form, "jobGroup", group);
    demo_web_field(form, "jobDesc", s->name);
    demo_web_field(form, "author", "demo");
    demo_web_field(form, "alarmEmail", "");
    demo_web_field(form, "scheduleType", "CRON");
    demo_web_field(form, "scheduleConf", s->cron);
    demo_web_field(form, "misfireStrategy", "DO_NOTHING");
    demo_web_field(form, "executorRouteStrategy", s->route);
    demo_web_field(form, "executorHandler", s->handler);
    demo_web_field(form, "executorParam", s->param);
    demo_web_field(form, "executorBlockStrategy", "SERIAL_EXECUTION");
    demo_web_field(form, "executorTimeout", "10");
    demo_web_field_i64(form, "executorFailRetryCount", s->retries);
    demo_web_field(form, "retryDelayMs", "2000");
    demo_web_field(form, "glueType", s->glue);
    demo_web_field(form, "glueSource", s->source);
    demo_web_field(form, "glueRemark", "made by peal demo");
    demo_web_field(form, "childJobId", "");
}

static enum err job_make(struct demo *d, const struct sample *s, struct view_job *job,
                         struct why *why)
{
    struct buf form = BUF_INIT(65536);
    json_t *id = NULL, *reply = NULL;
    job_form(&form, s, d->group);
    enum err err = demo_web_post(&d->web, "/jobinfo/insert", &form, &id, why);
    const char *text = json_string_value(id); /* a number as text, as XXL-JOB answers */
    *job = (struct view_job){ .name = s->name, .retries = s->retries };
    if (!err && !(text && parse_i64(slice_text(text), &job->id))) {
        why_set(why, "/jobinfo/insert: the answer names no id");
        err = ERR_INVALID;
    }
    buf_reset(&form);
    demo_web_field_i64(&form, "ids[]", job->id);
    if (!err)
        err = demo_web_post(&d->web, "/jobinfo/start", &form, &reply, why);
    demo_web_free(reply);
    demo_web_free(id);
    buf_done(&form);
    return err;
}

static enum err jobs_make(struct demo *d, struct why *why)
{
    enum err err = OK;
    for (size_t i = 0; i < countof(samples) && !err; i++)
        err = job_make(d, &samples[i], &jobs[i], why);
    return err;
}

/* ---- what is to be seen -----------------------------------------------------------------------
 */

static void introduce(const struct demo *d)
{
    printf("\n  %s    http://127.0.0.1:%u/     %suser admin, password %s\n",
           api_has_console() ? "console" : "center ", d->web.port,
           api_has_console() ? "open it in a browser: " : "no console is in this build: ",
           d->password);
    if (!api_has_console())
        puts("             `make console`, then `make`, in Peal's sources puts it in");
    printf("  executors  two, of app " APP ", with shell scripts switched on for this demo\n");
    printf("  data       %s%s\n", d->folder, d->own_folder ? " (removed at the end)" : "");
    printf("\n  XXL-JOB executors may join: xxl.job.admin.addresses=http://127.0.0.1:%u\n"
           "                              xxl.job.accessToken=%s\n",
           d->web.port, d->token);
    printf("\n\"late\" is how long after its scheduled time a run left (mean of that second). "
           "Ctrl-C stops "
           "everything.\n\n");
    fflush(stdout);
}

static enum err look(struct demo *d, struct view *v, struct why *why)
{
    struct buf form = BUF_INIT(4096), text = BUF_INIT(1 << 20);
    json_t *page = NULL;
    demo_web_field_i64(&form, "jobGroup", d->group);
    demo_web_field(&form, "jobId", "0");
    demo_web_field(&form, "logStatus", "-1");
    demo_web_field(&form, "filterTime", "");
    demo_web_field(&form, "offset", "0");
    demo_web_field(&form, "pagesize", "100");
    enum err err = demo_web_get(&d->web, "/metrics", &text, why);
    if (!err)
        view_metrics(v, slice_of(buf_str(&text), text.len), clock_wall_ms());
    if (!err)
        err = demo_web_post(&d->web, "/joblog/pageList", &form, &page, why);
    if (!err)
        view_page(v, page, clock_wall_ms(), clock_boot_ms());
    demo_web_free(page);
    buf_done(&form);
    buf_done(&text);
    return err;
}

/* A call fails in the moment in which the center dies, before the kernel says that it is dead; that
 * it has died says more than the call's failure. */
static enum err or_its_end(struct demo *d, enum err failed, struct why *why)
{
    struct why end = { "" };
    for (int64_t until = clock_boot_ms() + DEATH_MS; !stopping && clock_boot_ms() < until;) {
        if (still_well(d, &end) == ERR_IO) {
            *why = end;
            return ERR_IO;
        }
        pause_ms(10);
    }
    return failed;
}

static enum err follow(struct demo *d, struct view *v, struct why *why)
{
    enum err err = OK;
    while (!err) {
        err = still_well(d, why);
        if (!err && (err = look(d, v, why)))
            err = or_its_end(d, err, why);
        fflush(stdout);
        if (!err)
            pause_ms(POLL_MS);
    }
    return err;
}

static enum err prepare(struct demo *d, struct why *why)
{
    enum err err = center_start(d, why);
    if (!err)
        err = center_ready(d, why);
    if (!err)
        err = demo_web_login(&d->web, "admin", d->password, why);
    if (!err)
        err = group_make(d, why);
    if (!err)
        err = executors_start(d, why);
    if (!err)
        err = executors_there(d, why);
    return err;
}

static enum err play(struct demo *d, struct why *why)
{
    struct view view;
    printf("Starting a center and %d executors ...\n", EXECUTORS);
    fflush(stdout);
    enum err err = prepare(d, why);
    if (!err)
        introduce(d);
    if (!err)
        err = jobs_make(d, why);
    if (err)
        return err;
    view_init(&view, jobs, countof(jobs));
    err = follow(d, &view, why);
    if (stopping) { /* that was asked for; a call may have been cut by it */
        printf("\n");
        view_sum(&view);
        err = OK;
    }
    view_done(&view);
    return err;
}

static void clean_up(struct demo *d)
{
    printf("Stopping the executors and the center ...\n");
    fflush(stdout);
    children_stop(d);
    if (!d->folder[0])
        return;
    if (d->own_folder && nftw(d->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0)
        printf("Everything is stopped; the data is removed.\n");
    else
        printf("Everything is stopped; the data is in %s\n", d->folder);
}

int cmd_demo(int argc, char **argv)
{
    const char *port = NULL, *data = NULL;
    bool wants_help = false;
    const struct option_row rows[] = {
        { "--port", &port, NULL },
        { "--data", &data, NULL },
        { "--help", NULL, &wants_help },
        { "-h", NULL, &wants_help },
    };
    int n = options_read("peal demo", rows, countof(rows), argc, argv);
    if (n < 0)
        return EXIT_USAGE;
    if (wants_help) {
        printf("%s", help);
        return EXIT_DONE;
    }
    if (n > 0) {
        fprintf(stderr, "peal demo: it takes no argument %.64s (peal demo --help explains)\n",
                argv[1]);
        return EXIT_USAGE;
    }
    struct demo d = { .web = { .stop = &stopping } };
    struct why why = { "" };
    enum err err = choose_port(&d, port, &why);
    if (err == ERR_INVALID) {
        fprintf(stderr, "peal demo: %s\n", why.text);
        return EXIT_USAGE;
    }
    if (!err)
        err = choose_folder(&d, data, &why);
    watch_signals();
    if (!err) {
        err = play(&d, &why);
        if (stopping)
            err = OK;
        if (err)
            fprintf(stderr, "peal demo: %s\n", why.text[0] ? why.text : err_text(err));
        clean_up(&d);
    } else {
        fprintf(stderr, "peal demo: %s\n", why.text[0] ? why.text : err_text(err));
    }
    return err ? EXIT_FAILED : EXIT_DONE;
}
