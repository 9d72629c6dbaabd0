/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a flight recorder with any bytes: it is refused with a reason, or every word of it is
 * a run that the database knows. A head that is right saves the fuzzer from guessing 128 bits. */
#include "fuzz.h"
#include "sched/flight.h"
#include <stdlib.h>
#include <string.h>

#define ID "00112233445566778899aabbccddeeff"
#define BOOT "2ed1de58-de96-422b-82db-0a756cbe3297"

static void check_said(const struct flight_said *said, const struct watermark *watermark)
{
    int left = 0, accepted = 0;
    CHECK((size_t)(said->leaving + said->accepted) == said->states.len);
    CHECK(flight_known(said, watermark->last_id + 1) == FLIGHT_KNOWS_UNSENT);
    for (int64_t id = 1; id <= watermark->last_id; id++) {
        enum flight_known dedup = flight_known(said, id);
        CHECK(dedup != FLIGHT_KNOWS_NOTHING);
        left += dedup == FLIGHT_KNOWS_LEFT;
        accepted += dedup == FLIGHT_KNOWS_ACCEPTED;
    }
    CHECK(left == (int)said->leaving && accepted == (int)said->accepted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 4096)
        return 0;
    bool whole =
        data[0] & 1; /* the bytes are the words behind a head that is right, or all of it */
    size_t words = whole ? (size - 1) / 8 + 1 : 1,
           bytes = whole ? flight_bytes((uint32_t)words) : size;
    struct flight_head *h = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    memset(h, 0, (bytes + 4095) / 4096 * 4096);
    if (whole) {
        flight_make(h, (uint32_t)words, BOOT, ID);
        memcpy(flight_words(h), data + 1, size - 1);
    } else {
        memcpy(h, data, size);
    }
    struct watermark watermark = { .renewals = 5, .last_id = 300, .recorder = ID };
    struct flight_said said;
    struct why why = { "" };
    bool believed = flight_read(h, bytes, &watermark, BOOT, &said, &why);
    CHECK(believed == !why.text[0] && believed == said.believed);
    if (believed)
        check_said(&said, &watermark);
    else
        CHECK(flight_known(&said, 1) == FLIGHT_KNOWS_NOTHING);
    flight_said_done(&said);
    free(h);
    return 0;
}
