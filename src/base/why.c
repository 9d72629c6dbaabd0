/* SPDX-License-Identifier: Apache-2.0 */
/* The first reason stays: the layer that found the fault knows more than those above it. */
#include "base/why.h"
#include "base/str.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void why_set(struct why *w, const char *format, ...)
{
    if (!w || w->text[0])
        return;
    va_list ap;
    va_start(ap, format);
    vsnprintf(w->text, sizeof(w->text), format, ap);
    va_end(ap);
    w->text[utf8_cut(w->text, strlen(w->text), sizeof(w->text) - 1)] = '\0';
}

void why_clear(struct why *w)
{
    if (w)
        w->text[0] = '\0';
}
