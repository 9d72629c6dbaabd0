/* SPDX-License-Identifier: Apache-2.0 */
/* Entries are chained: the check of each covers the one before it, its number, its offset and the
 * bytes of the log in front of the offset. So a reader verifies any entry with two small reads,
 * without the beginning of the index. */
#include "executor/log/runlog_index.h"
#include <sys/stat.h>
#include "base/file.h"
#include "base/map.h"
#include "executor/log/runlog_file.h"

#define SALT 0x7065616c2e696478ull /* "peal.idx" */
enum { SAMPLE = 32 };              /* bytes of the log that an entry vouches for */

static void put_u64(unsigned char *to, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        to[i] = (unsigned char)(v >> (8 * i));
}

static uint64_t get_u64(const unsigned char *p)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

/* Each entry takes in its log, its number and the entry before it: it fits in no other place. */
static bool advance(struct runlog_index *x, int log_fd, int64_t offset)
{
    char sample[SAMPLE];
    size_t n = offset < SAMPLE ? (size_t)offset : SAMPLE;
    if (offset <= 0 || file_read(log_fd, offset - (int64_t)n, sample, n) != n ||
        sample[n - 1] != '\n')
        return false;
    uint64_t place = hash_u64((uint64_t)x->log_id ^ SALT) + (uint64_t)++x->k;
    x->check = hash_u64(hash_u64(place + x->check) + (uint64_t)offset);
    x->check = hash_u64(x->check ^ hash_text(slice_of(sample, n)));
    return true;
}

bool runlog_index_next(struct runlog_index *x, int log_fd, int64_t offset,
                       unsigned char to[RUNLOG_INDEX_ENTRY])
{
    if (!advance(x, log_fd, offset))
        return false;
    put_u64(to, (uint64_t)offset);
    put_u64(to + 8, x->check);
    return true;
}

/* Entry k, if the index has it and the log agrees. */
static bool verified(int index_fd, int log_fd, int64_t log_id, int64_t k, int64_t *ret_offset)
{
    unsigned char two[2 * RUNLOG_INDEX_ENTRY] = { 0 };
    size_t skip = k == 1 ? RUNLOG_INDEX_ENTRY : 0; /* there is none before the first */
    size_t n = sizeof(two) - skip;
    if (file_read(index_fd, (k - 2) * RUNLOG_INDEX_ENTRY + (int64_t)skip, two + skip, n) != n)
        return false;
    struct runlog_index x = { log_id, k - 1, get_u64(two + 8) };
    uint64_t offset = get_u64(two + 16);
    if (offset > INT64_MAX || offset < (uint64_t)k * RUNLOG_INDEX_EVERY ||
        !advance(&x, log_fd, (int64_t)offset) || x.check != get_u64(two + 24))
        return false;
    *ret_offset = (int64_t)offset;
    return true;
}

struct runlog_place runlog_index_find(int index_fd, int log_fd, int64_t log_id, int64_t line)
{
    struct runlog_place first = { 0, 1 };
    struct stat st;
    if (index_fd < 0 || fstat(index_fd, &st) < 0)
        return first;
    int64_t k = (line - 1) / RUNLOG_INDEX_EVERY, have = st.st_size / RUNLOG_INDEX_ENTRY, offset;
    k = k < have ? k : have;
    if (k < 1 || !verified(index_fd, log_fd, log_id, k, &offset))
        return first;
    return (struct runlog_place){ offset, k * RUNLOG_INDEX_EVERY + 1 };
}
