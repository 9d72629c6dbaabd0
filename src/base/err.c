/* SPDX-License-Identifier: Apache-2.0 */
/* Names and texts come from ERR_LIST, so that a code cannot lack either. */
#include "base/err.h"

const char *err_text(enum err e)
{
    static const char *const texts[] = { "ok",
#define ERR_TEXT(name, text) text,
                                         ERR_LIST(ERR_TEXT)
#undef ERR_TEXT
    };
    return (unsigned)e < sizeof(texts) / sizeof(*texts) ? texts[e] : "unknown error";
}

const char *err_name(enum err e)
{
    static const char *const names[] = { "OK",
#define ERR_NAME(name, text) #name,
                                         ERR_LIST(ERR_NAME)
#undef ERR_NAME
    };
    return (unsigned)e < sizeof(names) / sizeof(*names) ? names[e] : "UNKNOWN";
}
