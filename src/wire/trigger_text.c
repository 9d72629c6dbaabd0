/* SPDX-License-Identifier: Apache-2.0 */
/* One line of the trigger message a fact, "label：value<br>", the order of the original. The last
 * line carries the planned instant and survives every cut: recovery and the log page read it. */
#include "wire/trigger_text.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>

#define COLON "\xEF\xBC\x9A" /* the full-width colon */
#define BR "<br>"
#define REPLACEMENT "\xEF\xBF\xBD"
#define SCHEDULED_LABEL "moment" COLON /* in every language */

enum label {
    L_KIND,
    L_CENTER,
    L_ADDRESSES_FROM,
    L_REGISTRY,
    L_BY_HAND,
    L_ADDRESSES,
    L_ROUTE,
    L_BLOCK,
    L_TIMEOUT,
    L_RETRIES,
    L_TRIGGER,
    L_ADDRESS,
    L_HANDLER,
    L_CODE,
    L_MSG,
    L_COUNT
};

static const char *const labels[2][L_COUNT] = {
    { "Trigger kind", "Center", "Addresses from", "registry", "typed in", "Addresses", "Route",
      "When busy", "Timeout (s)", "Retries left", "Trigger", "address", "handler", "code", "msg" },
    { "触发类型", "调度中心", "地址来源", "自动注册", "手动录入", "地址列表", "路由策略",
      "阻塞处理", "超时（秒）", "剩余重试", "触发调度", "地址", "处理器", "code", "msg" },
};

struct title {
    const char *name, *text[2];
};

static const struct title kinds[] = {
    { "cron", { "schedule", "定时触发" } },       { "misfire", { "misfire", "错过补偿" } },
    { "manual", { "by hand", "手动触发" } },      { "retry", { "retry", "失败重试" } },
    { "parent", { "parent job", "父任务触发" } }, { "api", { "API call", "API 触发" } },
};

static const struct title routes[] = {
    { "FIRST", { "first", "第一个" } },
    { "LAST", { "last", "最后一个" } },
    { "ROUND", { "round", "轮询" } },
    { "RANDOM", { "random", "随机" } },
    { "CONSISTENT_HASH", { "consistent hash", "一致性哈希" } },
    { "LEAST_FREQUENTLY_USED", { "least frequently used", "最不经常使用" } },
    { "LEAST_RECENTLY_USED", { "least recently used", "最近最久未使用" } },
    { "FAILOVER", { "failover", "故障转移" } },
    { "BUSYOVER", { "busyover", "忙碌转移" } },
    { "SHARDING_BROADCAST", { "sharding broadcast", "分片广播" } },
};

static const struct title blocks[] = {
    { "SERIAL_EXECUTION", { "queue behind", "串行排队" } },
    { "DISCARD_LATER", { "discard the later", "丢弃后来" } },
    { "COVER_EARLY", { "replace the earlier", "覆盖先前" } },
};

bool wire_lang_of(struct slice name, enum wire_lang *ret)
{
    if (slice_eq_nocase(name, "en"))
        *ret = WIRE_LANG_EN;
    else if (slice_eq_nocase(name, "zh") || slice_eq_nocase(name, "zh_CN") ||
             slice_eq_nocase(name, "zh-CN"))
        *ret = WIRE_LANG_ZH_CN;
    else
        return false;
    return true;
}

/* ---- text of strangers ---- */

static const char *escaped(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\n':
        return BR;
    case '\r':
        return "";
    case '\0':
        return REPLACEMENT;
    default:
        return NULL;
    }
}

void wire_html(struct buf *out, struct slice text)
{
    size_t start = 0, i = 0;
    while (i < text.n) {
        const char *instead = escaped(text.p[i]);
        size_t n = instead ? 0 : utf8_char(text.p + i, text.n - i);
        if (n) {
            i += n;
            continue;
        }
        buf_add(out, text.p + start, i - start);
        buf_text(out, instead ? instead : REPLACEMENT);
        start = ++i;
    }
    if (text.n)
        buf_add(out, text.p + start, text.n - start);
}

/* Where to cut html so that at most max units stay and neither a tag nor an entity is torn. */
static size_t html_cut(struct slice html, size_t max)
{
    size_t n = utf8_cut_units(html.p, html.n, max);
    if (n == html.n)
        return n;
    /* our longest tag and entity are far shorter than this */
    size_t back = n > 40 ? n - 40 : 0;
    for (size_t i = n; i > back; i--) {
        char c = html.p[i - 1];
        if (c == '>' || c == ';')
            break;
        if (c == '<' || c == '&')
            return i - 1;
    }
    return n;
}

/* ---- the trigger message ---- */

/* What one part may take, so that a long list or report leaves room for the result. */
#define LINE_UNITS 1000
#define LIST_UNITS 4000
#define REPORT_UNITS 6000

static struct slice clip(struct slice s, size_t units)
{
    return slice_of(s.p, utf8_cut_units(s.p, s.n, units));
}

static void html_clipped(struct buf *out, struct slice text, size_t units)
{
    struct slice shown = clip(text, units);
    wire_html(out, shown);
    if (shown.n < text.n)
        buf_text(out, "...");
}

struct composer {
    struct buf *out;
    enum wire_lang lang;
};

static void label(struct composer *c, enum label l)
{
    buf_text(c->out, labels[c->lang][l]);
    buf_text(c->out, COLON);
}

static void line(struct composer *c, enum label l, struct slice value)
{
    label(c, l);
    html_clipped(c->out, value, LINE_UNITS);
    buf_text(c->out, BR);
}

static void line_number(struct composer *c, enum label l, int64_t value)
{
    label(c, l);
    buf_i64(c->out, value);
    buf_text(c->out, BR);
}

/* The title of an enum's name; an unknown name is shown as it is. */
static struct slice title(const struct composer *c, const struct title *list, size_t n,
                          struct slice name)
{
    for (size_t i = 0; i < n; i++)
        if (slice_eq(name, list[i].name))
            return slice_text(list[i].text[c->lang]);
    return name;
}

/* "[a, b]", as people know it from the original; "null" for none. */
static void address_list(struct composer *c, struct slice list)
{
    label(c, L_ADDRESSES);
    if (list.n == 0) {
        buf_text(c->out, "null" BR);
        return;
    }
    bool whole = clip(list, LIST_UNITS).n == list.n;
    list = clip(list, LIST_UNITS);
    buf_char(c->out, '[');
    for (struct slice one; slice_cut(&list, ',', &one);) {
        wire_html(c->out, one);
        if (one.p + one.n < list.p)
            buf_text(c->out, ", ");
    }
    buf_text(c->out, whole ? "]" BR : "...]" BR);
}

static void how(struct composer *c, const struct wire_trigger_note *n)
{
    line(c, L_KIND, title(c, kinds, countof(kinds), n->kind));
    line(c, L_CENTER, n->center);
    line(c, L_ADDRESSES_FROM, slice_text(labels[c->lang][n->registered ? L_REGISTRY : L_BY_HAND]));
    address_list(c, n->address_list);
    label(c, L_ROUTE);
    html_clipped(c->out, title(c, routes, countof(routes), n->route), LINE_UNITS);
    if (n->sharded)
        buf_printf(c->out, "(%d/%d)", n->shard, n->shard_total);
    buf_text(c->out, BR);
    line(c, L_BLOCK, title(c, blocks, countof(blocks), n->block));
    line_number(c, L_TIMEOUT, n->timeout_s);
    line_number(c, L_RETRIES, n->retries);
}

static void outcome(struct composer *c, const struct wire_trigger_note *n)
{
    buf_printf(c->out, BR "<span style=\"color:#00c0ef;\"> &gt;&gt;&gt; %s &lt;&lt;&lt; </span>" BR,
               labels[c->lang][L_TRIGGER]);
    if (n->report.n) {
        html_clipped(c->out, n->report, REPORT_UNITS);
        buf_text(c->out, BR BR);
    }
    if (n->address.n)
        line(c, L_ADDRESS, n->address);
    if (n->handler.n)
        line(c, L_HANDLER, n->handler);
    line_number(c, L_CODE, n->code);
    label(c, L_MSG);
    html_clipped(c->out, n->msg, WIRE_MESSAGE_UNITS);
}

void wire_trigger_message(struct buf *out, enum wire_lang lang, const struct wire_trigger_note *n)
{
    char last[64];
    int tail = snprintf(last, sizeof(last), BR SCHEDULED_LABEL "%lld", (long long)n->scheduled_ms);
    size_t start = out->len;
    struct composer c = { out, lang };
    how(&c, n);
    outcome(&c, n);
    if (out->len > start) {
        struct slice html = slice_of(out->data + start, out->len - start);
        out->len = start + html_cut(html, WIRE_MESSAGE_UNITS - utf8_units(last, (size_t)tail));
        out->data[out->len] = '\0';
    }
    buf_text(out, last);
}

/* ---- the handle message ---- */

static void plain(struct buf *out, struct slice text)
{
    for (const char *nul; text.n && (nul = memchr(text.p, '\0', text.n)) != NULL;) {
        size_t n = (size_t)(nul - text.p);
        buf_add(out, text.p, n);
        buf_text(out, REPLACEMENT);
        text = slice_of(nul + 1, text.n - n - 1);
    }
    buf_slice(out, text);
}

void wire_handle_message(struct buf *out, struct slice old, struct slice add)
{
    size_t start = out->len;
    old.n = utf8_cut_units(old.p, old.n, WIRE_MESSAGE_UNITS);
    add.n = utf8_cut_units(add.p, add.n, WIRE_MESSAGE_UNITS);
    plain(out, old);
    if (old.n && add.n)
        buf_text(out, BR);
    plain(out, add);
    if (out->len == start)
        return;
    out->len = start + utf8_cut_units(out->data + start, out->len - start, WIRE_MESSAGE_UNITS);
    out->data[out->len] = '\0';
}
