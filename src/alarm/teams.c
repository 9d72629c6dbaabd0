/* SPDX-License-Identifier: Apache-2.0 */
/* teams.c - a workflow of Microsoft Teams that takes an adaptive card. Runs of a rich text block
 * are shown as they are; a plain text block would read Markdown in them. */
#include "alarm/chat.h"
#include "base/jsonw.h"

#define TEXT_MAX 7000 /* bytes; the service takes 28 KB of the body */

static const struct channel_field fields[] = {
    { "url", CHANNEL_URL, true, true, 2000 },
};

static void line(struct jsonw *w, struct slice text, bool title)
{
    jsonw_object(w, NULL);
    jsonw_text(w, "type", "RichTextBlock");
    jsonw_array(w, "inlines");
    jsonw_object(w, NULL);
    jsonw_text(w, "type", "TextRun");
    jsonw_slice(w, "text", text);
    if (title)
        jsonw_text(w, "weight", "bolder");
    jsonw_object_end(w);
    jsonw_array_end(w);
    jsonw_object_end(w);
}

static void card(struct jsonw *w, struct slice text)
{
    struct slice one;
    jsonw_object(w, "content");
    jsonw_text(w, "$schema", "http://adaptivecards.io/schemas/adaptive-card.json");
    jsonw_text(w, "type", "AdaptiveCard");
    jsonw_text(w, "version", "1.2");
    jsonw_array(w, "body");
    for (bool title = true; slice_cut(&text, '\n', &one); title = false)
        line(w, one, title);
    jsonw_array_end(w);
    jsonw_object_end(w);
}

static void compose(const struct channel_values *v, const struct alarm_message *m, int64_t now_ms,
                    struct kind_request *r)
{
    (void)v, (void)now_ms;
    struct buf text = BUF_INIT(TEXT_MAX + 1);
    struct jsonw w = jsonw_on(&r->body);
    buf_text(&r->headers, CHAT_JSON);
    chat_text(&text, m, TEXT_MAX);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "type", "message");
    jsonw_array(&w, "attachments");
    jsonw_object(&w, NULL);
    jsonw_text(&w, "contentType", "application/vnd.microsoft.card.adaptive");
    card(&w, slice_of(buf_str(&text), text.len));
    jsonw_object_end(&w);
    jsonw_array_end(&w);
    jsonw_object_end(&w);
    buf_done(&text);
}

const struct channel_kind kind_teams = {
    .name = "teams",
    .fields = fields,
    .nfields = countof(fields),
    .compose = compose,
};
