/* SPDX-License-Identifier: Apache-2.0 */
/* peal health: does the server that these settings start answer, and what? A probe for places that
 * have no HTTP client, such as the container's image.
 *
 * It is asked over the address that it listens on, on this machine; its certificate is its own, so
 * it is not checked: nothing secret is said. */
#include "base/config.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/server.h"
#include "net/addr.h"
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { URL_SIZE = 512, ANSWER_SIZE = 4096, PATIENCE_S = 5 };

struct answer {
    char text[ANSWER_SIZE];
    size_t n;
};

static int complain(const char *text, int status)
{
    fprintf(stderr, "peal health: %s\n", text);
    return status;
}

static size_t keep(char *p, size_t size, size_t n, void *to)
{
    struct answer *a = to;
    size_t most = sizeof(a->text) - 1 - a->n;
    size_t taken = size * n < most ? size * n : most;
    memcpy(a->text + a->n, p, taken);
    a->n += taken;
    a->text[a->n] = '\0';
    return size * n;
}

static int ask(const char *url)
{
    struct answer answer = { .n = 0 };
    long status = 0;
    CURL *curl = curl_easy_init();
    if (!curl)
        return complain("no memory", EXIT_FAILED);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)PATIENCE_S);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(curl);
    if (code != CURLE_OK) {
        fprintf(stderr, "peal health: %s: %s\n", url, curl_easy_strerror(code));
        return EXIT_NO;
    }
    printf("%s\n", answer.text);
    return status == 200 ? EXIT_DONE : EXIT_NO;
}

/* An address that is every interface is asked on this machine's own. */
static int ask_at(const struct config *c, const char *path)
{
    struct addr_listen at;
    struct why why = { "" };
    char url[URL_SIZE];
    if (addr_listen_parse(slice_text(config_text(c, "listen")), &at, &why))
        return complain(why.text, EXIT_USAGE);
    if (!at.port)
        return complain("listen: port 0 says nothing; name the port that the server has",
                        EXIT_USAGE);
    bool six = strchr(at.host, ':') != NULL;
    bool every = !at.host[0] || strcmp(at.host, "0.0.0.0") == 0;
    const char *host = every ? "127.0.0.1" : strcmp(at.host, "::") == 0 ? "::1" : at.host;
    snprintf(url, sizeof(url), "%s://%s%s%s:%u%s", config_text(c, "tls.cert") ? "https" : "http",
             six ? "[" : "", host, six ? "]" : "", at.port, path);
    return ask(url);
}

static int help(const struct config_table *table)
{
    printf("usage: peal health [--live] [SETTINGS OF peal server]\n\n"
           "Asks the server on this machine whether it is ready (/readyz), with --live whether it\n"
           "answers at all (/livez), and prints what it says. Exit status: 0 green; 1 red, or no\n"
           "answer; 2 wrong arguments. Give it the settings that the server gets.\n\n");
    config_help(table, stdout);
    return EXIT_DONE;
}

/* "--live" is no setting: it goes before they are read. */
static bool take_live(int *argc, char **argv)
{
    for (int i = 1; i < *argc; i++)
        if (strcmp(argv[i], "--live") == 0) {
            memmove(&argv[i], &argv[i + 1], (size_t)(*argc - i) * sizeof(*argv));
            --*argc;
            return true;
        }
    return false;
}

int cmd_health(int argc, char **argv)
{
    struct config config;
    struct config_table table;
    struct why why = { "" };
    struct config_row *rows = server_options(&table);
    const char *path = take_live(&argc, argv) ? "/livez" : "/readyz?verbose";
    int status;
    if (server_config_read(&table, argc, argv, &config, &why))
        status = complain(why.text, EXIT_USAGE);
    else if (config.help)
        status = help(&table);
    else
        status = ask_at(&config, path);
    config_done(&config);
    free(rows);
    return status;
}
