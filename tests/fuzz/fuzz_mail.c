/* SPDX-License-Identifier: Apache-2.0 */
/* Any address that passes may stand in a header; any texts make a mail with the headers, parts and
 * lines that it shall have and no others. Input: texts, each ended by a byte 0. */
#include "fuzz.h"
#include "alarm/mime.h"
#include "base/mem.h"
#include <string.h>

static void check_address(struct slice text)
{
    struct why why = { "" };
    if (mime_address(text, &why)) {
        CHECK(why.text[0]);
        return;
    }
    int at = 0;
    for (size_t i = 0; i < text.n; i++) {
        CHECK(text.p[i] > ' ' && text.p[i] <= '~' && !strchr("<>,;:\"()[]\\", text.p[i]));
        at += text.p[i] == '@';
    }
    CHECK(at == 1 && text.n <= MIME_ADDRESS_MAX);
}

static int count(const char *in, const char *what)
{
    int n = 0;
    for (const char *p = in; (p = strstr(p, what)); p++)
        n++;
    return n;
}

static void check_mail(const struct buf *mail)
{
    const char *text = buf_str(mail);
    CHECK(!mail->failed && strlen(text) == mail->len);
    CHECK(count(text, "\r\n--=_peal_alarm") == 3 && count(text, "\r\n.\r\n") == 0);
    const char *end = strstr(text, "\r\n\r\n");
    CHECK(end);
    int headers = 0;
    for (const char *p = text; p < end + 2; p = strchr(p, '\n') + 1)
        headers += *p != ' ';
    CHECK(headers == 8);
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        CHECK(p > text && p[-1] == '\r');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = mem_dupn((const char *)data, size);
    const char *texts[8];
    const char *p = copy, *end = copy + size;
    for (int i = 0; i < 8; i++) {
        texts[i] = p < end ? p : "";
        p += p < end ? strlen(p) + 1 : 0;
    }
    check_address(slice_of(copy, size));
    const struct alarm_item item = {
        .job = texts[0], .cause = texts[5], .since = "", .failures = 1
    };
    const struct alarm_message m = {
        .id = "alarm-1.2.3",
        .target = "a@b",
        .event = size % 3 ? ALARM_RUN_FAILED : "job.streak",
        .title = texts[0],
        .items = &item,
        .nitems = 1,
        .jobs = size % 5,
        .job_id = size ? data[0] : 0,
        .job = texts[0],
        .handler = texts[1],
        .group = texts[2],
        .app = texts[3],
        .outcome = "failed",
        .when = "",
        .address = texts[4],
        .cause = texts[5],
        .trigger_msg = texts[6],
        .handle_msg = texts[7],
        .lang = size % 2 ? WIRE_LANG_EN : WIRE_LANG_ZH_CN,
    };
    struct buf mail = BUF_INIT(8 << 20);
    mime_mail(&mail, &m, "peal@example.org", 1700000000000);
    check_mail(&mail);
    buf_done(&mail);
    free(copy);
    return 0;
}
