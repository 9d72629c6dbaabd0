/* SPDX-License-Identifier: Apache-2.0 */
/* Any command line becomes a bounded vector of words or is refused with a reason; the words, each
 * in quotes of their own, become the same words again. */
#include <string.h>
#include "base/buf.h"
#include "executor/process/argv.h"
#include "fuzz.h"

static void quote(struct buf *b, const char *word)
{
    buf_char(b, '\'');
    for (; *word; word++)
        if (*word == '\'')
            buf_text(b, "'\\''");
        else
            buf_char(b, *word);
    buf_text(b, "' ");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf line = BUF_INIT(64 << 20);
    struct why why = { "" };
    char **words = NULL, **again = NULL;
    enum err err = argv_split(slice_of((const char *)data, size), &words, &why);
    if (err) {
        CHECK(!words && (err == ERR_NOMEM || why.text[0]));
        return 0;
    }
    size_t n = 0, bytes = 0;
    for (; words[n]; n++) {
        bytes += strlen(words[n]);
        quote(&line, words[n]);
    }
    CHECK(n > 0 && n <= ARGV_MAX && bytes <= size);
    CHECK(argv_split(slice_of(line.data, line.len), &again, NULL) == OK);
    for (size_t i = 0; i < n; i++)
        CHECK(again[i] && strcmp(again[i], words[i]) == 0);
    CHECK(!again[n]);
    free(again);
    free(words);
    buf_done(&line);
    return 0;
}
