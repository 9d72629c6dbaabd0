/* SPDX-License-Identifier: Apache-2.0 */
/* A database's URL: what is understood is within its bounds and shown without the password; what is
 * refused says why, and not what stands there. */
#include "fuzz.h"
#include "base/mem.h"
#include "store/url.h"
#include <string.h>

static void refused(const char *text, const struct why *why)
{
    char word[9] = "";
    CHECK(why->text[0]);
    /* 8 bytes of the text that our own words cannot have */
    const char *marked = strstr(text, "QXQX");
    if (marked && strlen(marked) >= 8) {
        memcpy(word, marked, 8);
        CHECK(!strstr(why->text, word));
    }
}

static void understood(const struct db_url *u)
{
    char shown[64], whole[DB_URL_MAX];
    CHECK(u->nhosts >= 1 && u->nhosts <= DB_HOSTS_MAX && u->database[0]);
    for (int i = 0; i < u->nhosts; i++)
        CHECK(u->hosts[i].name[0] && u->hosts[i].port);
    CHECK(u->connect_timeout_s >= 1 && u->connect_timeout_s <= 60);
    CHECK(u->has_password || !u->password[0]);
    CHECK(!(u->has_password && u->password_file[0]));
    db_url_text(u, shown, sizeof(shown));
    db_url_text(u, whole, sizeof(whole));
    CHECK(strlen(shown) < sizeof(shown) && strncmp(shown, whole, strlen(shown)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_dupn((const char *)data, size);
    struct db_url u = { .nhosts = 0 };
    struct why why = { "" };
    if (db_url_parse(text, &u, &why))
        refused(text, &why);
    else
        understood(&u);
    free(text);
    return 0;
}
