/* SPDX-License-Identifier: Apache-2.0 */
/* What stands before every action of the executor, for any method and target (parted by the first
 * blank): an action only for POST, the right token and one of five targets; any refusal is a reply
 * that a center reads as a clear no. The first byte says whether the token is right. */
#include <string.h>
#include "fuzz.h"
#include "wire/executor_api.h"
#include "wire/executor_side.h"

static const char *const targets[] = {
    [WIRE_BEAT] = "/beat", [WIRE_IDLE_BEAT] = "/idleBeat",
    [WIRE_RUN] = "/run",   [WIRE_KILL] = "/kill",
    [WIRE_LOG] = "/log",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct slice target = slice_of((const char *)data + 1, size - 1), method;
    struct buf reply = BUF_INIT(65536);
    struct wire_reply read;
    bool token_ok = data[0] & 1;
    if (!slice_cut(&target, ' ', &method))
        method = slice_of("", 0);
    enum wire_action action = wire_action_of(method, target, token_ok, &reply);
    if (action != WIRE_REFUSED) {
        CHECK(token_ok && slice_eq(method, "POST") && slice_eq(target, targets[action]));
        CHECK(reply.len == 0);
        return 0;
    }
    wire_reply_parse(200, slice_of(reply.data, reply.len), &read);
    CHECK(!reply.failed && read.clear && read.code == 500 && read.msg.n && !read.repeat);
    wire_reply_done(&read);
    buf_done(&reply);
    return 0;
}
