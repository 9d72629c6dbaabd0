/* SPDX-License-Identifier: Apache-2.0 */
/* Templates of webhooks, and the headers beside them. What passes the check is written within its
 * bounds; no field's text is read as a template. */
#include "fuzz.h"
#include <stdlib.h>
#include <string.h>
#include "alarm/hook.h"
#include "alarm/template.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct alarm_message m = {
        .id = "a-1",
        .target = "",
        .event = "test",
        .level = "info",
        .state = "",
        .key = "k",
        .title = "{{json title}}\"\n",
        .job = "",
        .handler = "",
        .group = "",
        .app = "",
        .outcome = "",
        .when = "",
        .address = "",
        .cause = "",
        .trigger_msg = "",
        .handle_msg = "",
        .rule = "",
    };
    struct why why = { "" };
    char *text = mem_dupn((const char *)data, size);
    struct buf out = BUF_INIT(4u << 20);
    if (!template_check(slice_of(text, size), &why))
        template_write(&out, slice_of(text, size), &m);
    else if (!why.text[0])
        abort();
    if (!memchr(text, '\0', size) && hook_headers_check(text, &why) && !why.text[0])
        abort();
    buf_done(&out);
    free(text);
    return 0;
}
