/* SPDX-License-Identifier: Apache-2.0 */
/* Each table is written in its language, not converted from another one. */
#include "cron/phrases.h"
#include "base/mem.h"

static const char *const english[PHRASES] = {
    [P_COMMA] = ", ",
    [P_AND] = " and ",
    [P_AND_NUMBER] = " and ",
    [P_AND_DATE] = " and ",
    [P_TO] = "$1 to $2",
    [P_AT_TIMES] = "At $1",
    [P_EVERY_SECOND] = "Every second",
    [P_N_SECONDS] = "Every $1 seconds",
    [P_N_SECONDS_FROM] = "Every $1 seconds from second $2 of each minute",
    [P_AT_SECONDS] = "At second$s $1 of every minute",
    [P_AT_SECONDS_OF] = "At second$s $1",
    [P_EVERY_MINUTE] = "Every minute",
    [P_N_MINUTES] = "Every $1 minutes",
    [P_N_MINUTES_FROM] = "Every $1 minutes from minute $2 of each hour",
    [P_AT_MINUTES] = "At minute$s $1 of every hour",
    [P_AT_MINUTES_OF] = "At minute$s $1 of $2",
    [P_ON_THE_HOUR] = "Every hour, on the hour",
    [P_HOURLY_AT] = "Every hour at minute $1",
    [P_HOURLY_BETWEEN] = "Every hour from $2 to $3",
    [P_HOURLY_NIGHT] = "Every hour from $2 to $3 of the next day",
    [P_N_HOURS_BETWEEN] = "Every $1 hours from $2 to $3",
    [P_SECOND] = ", at second $1",
    [P_BETWEEN] = "from $1 to $2",
    [P_OVERNIGHT] = "from $1 to $2 of the next day",
    [P_DURING] = "$2 $1",
    [P_HOURS] = "hour$s $1",
    [P_IN_HOURS] = "$2 during $1",
    [P_IN_MINUTES] = "$2 during minute$s $1 of every hour",
    [P_IN_MINUTES_OF] = "$2 during minute$s $1 of $3",
    [P_EVERY_DAY] = "every day",
    [P_EXCEPT] = "every day except $1",
    [P_WEEKDAY_RANGE] = "$1 to $2",
    [P_WEEKDAYS] = "on $1",
    [P_LAST_WEEKDAY] = "the last $1",
    [P_NTH_WEEKDAY] = "the $2 $1",
    [P_DAYS] = "the $1",
    [P_DAY_RANGE] = "the $1 to $2",
    [P_DAY_STEP] = "every $1 days from the $2 to the $3",
    [P_LAST_DAY] = "the last day",
    [P_BEFORE_LAST] = "the day$s $1before the last one",
    [P_NEAR] = "the weekday$s nearest to the $1",
    [P_LAST_WORKDAY] = "the last weekday",
    [P_NEAR_BEFORE_LAST] = "the weekday$s nearest to the day$s $1before the last one",
    [P_EACH_MONTH] = " of the month",
    [P_OF] = " of ",
    [P_OF_RANGE] = " of each month from $1 to $2",
    [P_MONTHS] = "in $1",
    [P_MONTH_RANGE] = "from $1 to $2",
    [P_YEARS] = "in $1",
    [P_YEARS_MORE] = "in $1 and $2 more years",
    [P_YEAR_RANGE] = "from $1 to $2",
    [P_YEARS_ON] = "from $1 on",
    [P_YEAR_STEP] = "every $1 years from $2",
    [P_STOP] = ".",
    [P_PAUSE] = ", ",
    [P_ZONE] = ", in $1",
    [P_NONE] = "Never by itself: runs are started by hand, by another job or through the API",
    [P_RATE] = "Every $1",
    [P_DELAY] = "$1 after the end of each run",
    [P_ONCE] = "Once, on $1 at $2",
    [P_F_EVERY_SECOND] = "every second",
    [P_F_EVERY_MINUTE] = "every minute",
    [P_F_EVERY_HOUR] = "every hour",
    [P_F_EVERY_MONTH] = "every month",
    [P_F_EVERY_YEAR] = "every year",
    [P_F_SECONDS] = "at second$s $1",
    [P_F_MINUTES] = "at minute$s $1",
    [P_F_HOURS] = "at $1",
    [P_F_STEP] = "every $1 from $2 to $3",
    [P_F_DAY_FREE] = "any, the weekday decides",
    [P_F_WEEKDAY_FREE] = "any, the day of the month decides",
    [P_SPAN_DAYS] = "$1 day$s",
    [P_SPAN_HOURS] = "$1 hour$s",
    [P_SPAN_MINUTES] = "$1 minute$s",
    [P_SPAN_SECONDS] = "$1 second$s",
    [P_SPAN_MS] = "$1 millisecond$s",
};

static const char *const simplified[PHRASES] = {
    [P_COMMA] = "、",
    [P_AND] = "和",
    [P_AND_NUMBER] = " 和 ",
    [P_AND_DATE] = "和 ",
    [P_TO] = "$1 至 $2",
    [P_AT_TIMES] = "$1 触发",
    [P_EVERY_SECOND] = "每秒触发一次",
    [P_N_SECONDS] = "每 $1 秒触发一次",
    [P_N_SECONDS_FROM] = "每分钟从第 $2 秒起每 $1 秒触发一次",
    [P_AT_SECONDS] = "每分钟的第 $1 秒触发",
    [P_AT_SECONDS_OF] = "第 $1 秒触发",
    [P_EVERY_MINUTE] = "每分钟触发一次",
    [P_N_MINUTES] = "每 $1 分钟触发一次",
    [P_N_MINUTES_FROM] = "每小时从第 $2 分起每 $1 分钟触发一次",
    [P_AT_MINUTES] = "每小时的第 $1 分触发",
    [P_AT_MINUTES_OF] = "$2的第 $1 分触发",
    [P_ON_THE_HOUR] = "每小时整点触发",
    [P_HOURLY_AT] = "每小时的第 $1 分触发",
    [P_HOURLY_BETWEEN] = "$2 至 $3，每小时触发一次",
    [P_HOURLY_NIGHT] = "$2 至次日 $3，每小时触发一次",
    [P_N_HOURS_BETWEEN] = "$2 至 $3，每 $1 小时触发一次",
    [P_SECOND] = "（第 $1 秒）",
    [P_BETWEEN] = "$1 至 $2",
    [P_OVERNIGHT] = "$1 至次日 $2",
    [P_DURING] = "$1，$2",
    [P_HOURS] = "$1 点",
    [P_IN_HOURS] = "$1的时段内，$2",
    [P_IN_MINUTES] = "每小时的第 $1 分内，$2",
    [P_IN_MINUTES_OF] = "$3的第 $1 分内，$2",
    [P_EVERY_DAY] = "每天",
    [P_EXCEPT] = "每天（$1除外）",
    [P_WEEKDAY_RANGE] = "每$1至$2",
    [P_WEEKDAYS] = "每$1",
    [P_LAST_WEEKDAY] = "最后一个$1",
    [P_NTH_WEEKDAY] = "第$2个$1",
    [P_DAYS] = "$1",
    [P_DAY_RANGE] = "$1至 $2",
    [P_DAY_STEP] = "$2至 $3每 $1 天",
    [P_LAST_DAY] = "最后一天",
    [P_BEFORE_LAST] = "倒数第 $1 天",
    [P_NEAR] = "最接近 $1的工作日",
    [P_LAST_WORKDAY] = "最后一个工作日",
    [P_NEAR_BEFORE_LAST] = "最接近倒数第 $1 天的工作日",
    [P_EACH_MONTH] = "每月",
    [P_EACH_YEAR] = "每年",
    [P_OF] = "的",
    [P_MONTHS] = "$1",
    [P_MONTH_RANGE] = "$1至 $2",
    [P_YEARS] = "$1 年",
    [P_YEARS_MORE] = "$1 年等共 $3 个年份",
    [P_YEAR_RANGE] = "$1 年至 $2 年",
    [P_YEARS_ON] = "自 $1 年起",
    [P_YEAR_STEP] = "自 $2 年起每 $1 年一次",
    [P_STOP] = "。",
    [P_PAUSE] = "，",
    [P_ZONE] = "（$1 时间）",
    [P_NONE] = "不会自动触发：由人工、其他任务或 API 启动",
    [P_RATE] = "每 $1触发一次",
    [P_DELAY] = "每次运行结束 $1后触发",
    [P_ONCE] = "只在 $1 $2 触发一次",
    [P_F_EVERY_SECOND] = "每秒",
    [P_F_EVERY_MINUTE] = "每分钟",
    [P_F_EVERY_HOUR] = "每小时",
    [P_F_EVERY_MONTH] = "每月",
    [P_F_EVERY_YEAR] = "每年",
    [P_F_SECONDS] = "第 $1 秒",
    [P_F_MINUTES] = "第 $1 分",
    [P_F_HOURS] = "$1 点",
    [P_F_STEP] = "从 $2 到 $3，每 $1",
    [P_F_DAY_FREE] = "不限，由星期决定",
    [P_F_WEEKDAY_FREE] = "不限，由日期决定",
    [P_SPAN_DAYS] = "$1 天",
    [P_SPAN_HOURS] = "$1 小时",
    [P_SPAN_MINUTES] = "$1 分钟",
    [P_SPAN_SECONDS] = "$1 秒",
    [P_SPAN_MS] = "$1 毫秒",
};

static const char *const traditional[PHRASES] = {
    [P_COMMA] = "、",
    [P_AND] = "和",
    [P_AND_NUMBER] = " 和 ",
    [P_AND_DATE] = "和 ",
    [P_TO] = "$1 到 $2",
    [P_AT_TIMES] = "$1 觸發",
    [P_EVERY_SECOND] = "每秒觸發一次",
    [P_N_SECONDS] = "每 $1 秒觸發一次",
    [P_N_SECONDS_FROM] = "每分鐘從第 $2 秒起，每 $1 秒觸發一次",
    [P_AT_SECONDS] = "在每分鐘的第 $1 秒觸發",
    [P_AT_SECONDS_OF] = "在第 $1 秒觸發",
    [P_EVERY_MINUTE] = "每分鐘觸發一次",
    [P_N_MINUTES] = "每 $1 分鐘觸發一次",
    [P_N_MINUTES_FROM] = "每小時從第 $2 分起，每 $1 分鐘觸發一次",
    [P_AT_MINUTES] = "在每小時的第 $1 分觸發",
    [P_AT_MINUTES_OF] = "$2的第 $1 分觸發",
    [P_ON_THE_HOUR] = "每小時整點觸發",
    [P_HOURLY_AT] = "在每小時的第 $1 分觸發",
    [P_HOURLY_BETWEEN] = "$2 到 $3，每小時觸發一次",
    [P_HOURLY_NIGHT] = "$2 到隔天 $3，每小時觸發一次",
    [P_N_HOURS_BETWEEN] = "$2 到 $3，每 $1 小時觸發一次",
    [P_SECOND] = "（第 $1 秒）",
    [P_BETWEEN] = "$1 到 $2",
    [P_OVERNIGHT] = "$1 到隔天 $2",
    [P_DURING] = "$1，$2",
    [P_HOURS] = "$1 點",
    [P_IN_HOURS] = "$1的時段內，$2",
    [P_IN_MINUTES] = "在每小時的第 $1 分內，$2",
    [P_IN_MINUTES_OF] = "$3的第 $1 分內，$2",
    [P_EVERY_DAY] = "每天",
    [P_EXCEPT] = "每天（$1除外）",
    [P_WEEKDAY_RANGE] = "每$1到$2",
    [P_WEEKDAYS] = "每$1",
    [P_LAST_WEEKDAY] = "最後一個$1",
    [P_NTH_WEEKDAY] = "第$2個$1",
    [P_DAYS] = "$1",
    [P_DAY_RANGE] = "$1到 $2",
    [P_DAY_STEP] = "$2到 $3每 $1 天",
    [P_LAST_DAY] = "最後一天",
    [P_BEFORE_LAST] = "倒數第 $1 天",
    [P_NEAR] = "最接近 $1的平日",
    [P_LAST_WORKDAY] = "最後一個平日",
    [P_NEAR_BEFORE_LAST] = "最接近倒數第 $1 天的平日",
    [P_EACH_MONTH] = "每月",
    [P_EACH_YEAR] = "每年",
    [P_OF] = "的",
    [P_MONTHS] = "$1",
    [P_MONTH_RANGE] = "$1到 $2",
    [P_YEARS] = "$1 年",
    [P_YEARS_MORE] = "$1 年等共 $3 個年份",
    [P_YEAR_RANGE] = "$1 年到 $2 年",
    [P_YEARS_ON] = "從 $1 年起",
    [P_YEAR_STEP] = "從 $2 年起每 $1 年一次",
    [P_STOP] = "。",
    [P_PAUSE] = "，",
    [P_ZONE] = "（$1 時間）",
    [P_NONE] = "不會自動觸發：由人工、其他工作或 API 啟動",
    [P_RATE] = "每 $1觸發一次",
    [P_DELAY] = "每次執行結束 $1後觸發",
    [P_ONCE] = "只在 $1 $2 觸發一次",
    [P_F_EVERY_SECOND] = "每秒",
    [P_F_EVERY_MINUTE] = "每分鐘",
    [P_F_EVERY_HOUR] = "每小時",
    [P_F_EVERY_MONTH] = "每月",
    [P_F_EVERY_YEAR] = "每年",
    [P_F_SECONDS] = "第 $1 秒",
    [P_F_MINUTES] = "第 $1 分",
    [P_F_HOURS] = "$1 點",
    [P_F_STEP] = "從 $2 到 $3，每 $1",
    [P_F_DAY_FREE] = "不限，由星期決定",
    [P_F_WEEKDAY_FREE] = "不限，由日期決定",
    [P_SPAN_DAYS] = "$1 天",
    [P_SPAN_HOURS] = "$1 小時",
    [P_SPAN_MINUTES] = "$1 分鐘",
    [P_SPAN_SECONDS] = "$1 秒",
    [P_SPAN_MS] = "$1 毫秒",
};

static const char *const *const tables[LANGUAGES] = { english, simplified, traditional };
static const char *const names[LANGUAGES] = { "en", "zh-CN", "zh-TW" };

static const char *const weekdays[LANGUAGES][7] = {
    { "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday" },
    { "周日", "周一", "周二", "周三", "周四", "周五", "周六" },
    { "週日", "週一", "週二", "週三", "週四", "週五", "週六" },
};
static const char *const each_weekday[7] = { "Sundays",   "Mondays", "Tuesdays", "Wednesdays",
                                             "Thursdays", "Fridays", "Saturdays" };
static const char *const chinese_weekdays[7] = { "星期日", "星期一", "星期二", "星期三",
                                                 "星期四", "星期五", "星期六" };
static const char *const months[13] = { "",        "January",  "February", "March",  "April",
                                        "May",     "June",     "July",     "August", "September",
                                        "October", "November", "December" };
static const char *const chinese_months[13] = { "",      "1 月",  "2 月", "3 月", "4 月",
                                                "5 月",  "6 月",  "7 月", "8 月", "9 月",
                                                "10 月", "11 月", "12 月" };
static const char *const nths[6] = { "", "first", "second", "third", "fourth", "fifth" };
static const char *const chinese_nths[6] = { "", "一", "二", "三", "四", "五" };

const char *language_name(enum language lang)
{
    return names[lang];
}

bool language_find(struct slice name, enum language *ret)
{
    for (size_t i = 0; i < countof(names); i++) {
        if (slice_eq_nocase(name, names[i])) {
            *ret = (enum language)i;
            return true;
        }
    }
    return false;
}

const char *weekday_word(enum language lang, int weekday)
{
    return weekdays[lang][weekday];
}

const char *weekdays_word(enum language lang, int weekday)
{
    return lang == LANGUAGE_EN ? each_weekday[weekday] : weekdays[lang][weekday];
}

const char *weekday_of_month(enum language lang, int weekday)
{
    return lang == LANGUAGE_EN ? weekdays[lang][weekday] : chinese_weekdays[weekday];
}

const char *month_word(enum language lang, int month)
{
    return lang == LANGUAGE_EN ? months[month] : chinese_months[month];
}

const char *nth_word(enum language lang, int nth)
{
    return lang == LANGUAGE_EN ? nths[nth] : chinese_nths[nth];
}

static void put_part(struct buf *out, char mark, struct parts parts)
{
    if (mark == 's')
        buf_text(out, parts.one ? "" : "s");
    else
        buf_text(out, mark == '1' ? parts.a : mark == '2' ? parts.b : parts.c);
}

void phrase_put(struct buf *out, enum language lang, enum phrase p, struct parts parts)
{
    for (const char *s = tables[lang][p]; *s; s++) {
        if (*s == '$')
            put_part(out, *++s, parts);
        else
            buf_char(out, *s);
    }
}

void phrase_limit(struct buf *out, size_t start, size_t units)
{
    if (out->failed || utf8_units(out->data + start, out->len - start) <= units)
        return;
    out->len = start + utf8_cut_units(out->data + start, out->len - start, units - 1);
    buf_text(out, "…");
}
