/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are refused, or are a story that is written as bytes which say the same. */
#include "fuzz.h"
#include "model/story.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct story s, back;
    struct buf b = BUF_INIT(STORY_BYTES_MAX);
    if (story_get(slice_of((const char *)data, size), &s)) {
        story_put(&b, &s);
        CHECK(!b.failed && story_get(slice_of(b.data, b.len), &back));
        CHECK(back.due_ms == s.due_ms && back.cause == s.cause && back.attempt == s.attempt);
        CHECK(memcmp(back.at_us, s.at_us, sizeof(s.at_us)) == 0 && back.resent == s.resent);
        for (int i = 0; i < STORY_TIMES; i++)
            (void)story_at(&s, (enum story_time)i);
        (void)story_late(&s);
    }
    buf_done(&b);
    return 0;
}
