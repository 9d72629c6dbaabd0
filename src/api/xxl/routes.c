/* SPDX-License-Identifier: Apache-2.0 */
/* The form API as one table of rows: paths of both generations stand beside each other and lead to
 * the same handler. What the gate refuses is answered as the Java admin of that generation answers
 * it. */
#include "api/xxl/routes.h"
#include "api/front.h"
#include "api/health.h"
#include "api/xxl/chart.h"
#include "api/xxl/groups.h"
#include "api/xxl/jobcode.h"
#include "api/xxl/jobs.h"
#include "api/xxl/login.h"
#include "api/xxl/logs.h"
#include "api/xxl/reply.h"
#include "api/xxl/users.h"
#include "base/mem.h"

static void page_login(struct web_call *call)
{
    call->content_type = "text/html;charset=UTF-8";
    buf_text(&call->output,
             "<!DOCTYPE html><html lang=\"en\"><title>Peal</title>"
             "<p>This is the scheduling center Peal. Scripts log in with a POST of userName and "
             "password to /login or /auth/doLogin.</p></html>\n");
}

/* The beginning of a row: what only reads takes a POST as well, as scripts are known to send. */
#define READS METHOD_GET | METHOD_POST
#define CHANGES METHOD_POST

/* The rest of it. */
#define PAGE PERM_PUBLIC, BODY_FORM, ANSWER_TEXT, WEB_PAGE, 0
#define SESSION(class, flags) PERM_PUBLIC, BODY_FORM, ANSWER_ENVELOPE, class, flags
#define READ(permission, class) PERM_##permission, BODY_FORM, ANSWER_ENVELOPE, class, 0
#define CHANGE(permission, class, flags)                                                           \
    PERM_##permission, BODY_FORM, ANSWER_ENVELOPE, class, WEB_COMPAT_GET | (flags)

/* clang-format off */
static const struct web_route rows[] = {
    { READS, "/", PAGE, page_login, NULL },
    { READS, "/toLogin", PAGE, page_login, NULL },
    { READS, "/auth/login", PAGE, page_login, NULL },
    { READS, "/metrics", PAGE, health_metrics, NULL },
    { READS, "/actuator/prometheus", PAGE, health_metrics, NULL },

    { CHANGES, "/login", SESSION(WEB_PASSWORD, 0), login_old, NULL },
    { CHANGES, "/auth/doLogin", SESSION(WEB_PASSWORD, WEB_NEW), login_new, NULL },
    { CHANGES, "/logout", SESSION(WEB_PAGE, 0), logout_old, NULL },
    { CHANGES, "/auth/logout", SESSION(WEB_PAGE, WEB_NEW), logout_new, NULL },

    { READS, "/chartInfo", READ(LOGIN, WEB_PAGE), chart_info, NULL },

    { READS, "/jobgroup/pageList", READ(EXECUTORS_WRITE, WEB_PAGE), groups_list, NULL },
    { READS, "/jobgroup/loadById", READ(LOGIN, WEB_PAGE), groups_load, NULL },
    { CHANGES, "/jobgroup/save", CHANGE(EXECUTORS_WRITE, WEB_PAGE, 0), groups_insert, NULL },
    { CHANGES, "/jobgroup/insert", CHANGE(EXECUTORS_WRITE, WEB_PAGE, WEB_NEW), groups_insert, NULL },
    { CHANGES, "/jobgroup/update", CHANGE(EXECUTORS_WRITE, WEB_PAGE, 0), groups_update, NULL },
    { CHANGES, "/jobgroup/remove", CHANGE(EXECUTORS_WRITE, WEB_PAGE, 0), groups_delete, NULL },
    { CHANGES, "/jobgroup/delete", CHANGE(EXECUTORS_WRITE, WEB_PAGE, WEB_NEW), groups_delete, NULL },

    { READS, "/jobinfo/pageList", READ(READ, WEB_PAGE), jobs_list, NULL },
    { CHANGES, "/jobinfo/add", CHANGE(JOBS_WRITE, WEB_PAGE, 0), jobs_insert, NULL },
    { CHANGES, "/jobinfo/insert", CHANGE(JOBS_WRITE, WEB_PAGE, WEB_NEW), jobs_insert, NULL },
    { CHANGES, "/jobinfo/update", CHANGE(JOBS_WRITE, WEB_PAGE, 0), jobs_update, NULL },
    { CHANGES, "/jobinfo/remove", CHANGE(JOBS_WRITE, WEB_PAGE, 0), jobs_delete, NULL },
    { CHANGES, "/jobinfo/delete", CHANGE(JOBS_WRITE, WEB_PAGE, WEB_NEW), jobs_delete, NULL },
    { CHANGES, "/jobinfo/start", CHANGE(RUN, WEB_PAGE, 0), jobs_start, NULL },
    { CHANGES, "/jobinfo/stop", CHANGE(RUN, WEB_PAGE, 0), jobs_stop, NULL },
    { CHANGES, "/jobinfo/trigger", CHANGE(RUN, WEB_PAGE, 0), jobs_trigger, NULL },
    { READS, "/jobinfo/nextTriggerTime", READ(LOGIN, WEB_PAGE), jobs_next, NULL },

    { CHANGES, "/jobcode/save", CHANGE(SCRIPTS_WRITE, WEB_PAGE, 0), jobcode_save, NULL },
    { READS, "/joblog/getJobsByGroup", READ(READ, WEB_PAGE), jobs_of_group, NULL },
    { READS, "/joblog/pageList", READ(READ, WEB_PAGE), logs_list, NULL },
    { READS, "/joblog/logDetailCat", READ(READ, WEB_EXECUTOR), logs_detail, NULL },
    { CHANGES, "/joblog/logKill", CHANGE(RUN, WEB_EXECUTOR, 0), logs_kill, NULL },
    { CHANGES, "/joblog/clearLog", CHANGE(JOBS_WRITE, WEB_PAGE, 0), logs_clear, NULL },

    { READS, "/user/pageList", READ(USERS_ADMIN, WEB_PAGE), users_list, NULL },
    { CHANGES, "/user/add", CHANGE(USERS_ADMIN, WEB_PASSWORD, 0), users_insert, NULL },
    { CHANGES, "/user/insert", CHANGE(USERS_ADMIN, WEB_PASSWORD, WEB_NEW), users_insert, NULL },
    { CHANGES, "/user/update", CHANGE(USERS_ADMIN, WEB_PASSWORD, 0), users_update, NULL },
    { CHANGES, "/user/remove", CHANGE(USERS_ADMIN, WEB_PAGE, 0), users_delete, NULL },
    { CHANGES, "/user/delete", CHANGE(USERS_ADMIN, WEB_PAGE, WEB_NEW), users_delete, NULL },
    { CHANGES, "/user/updatePwd", CHANGE(LOGIN, WEB_PASSWORD, 0), users_password, NULL },
    { CHANGES, "/auth/updatePwd", CHANGE(LOGIN, WEB_PASSWORD, WEB_NEW), users_password, NULL },
};
/* clang-format on */

static void refuse(struct web_call *call, enum problem_kind kind, const char *text)
{
    switch (kind) {
    case PROBLEM_UNAUTHENTICATED:
        login_wanted(call);
        break;
    case PROBLEM_FORBIDDEN:
        reply_fail(call, "permission limit");
        break;
    case PROBLEM_FOREIGN:
    case PROBLEM_NOT_FOUND:
    case PROBLEM_METHOD:
    case PROBLEM_MEDIA_TYPE:
        reply_status(call, problem_status(kind), text);
        break;
    default:
        reply_fail(call, "%s", text);
    }
}

const struct router_table xxl_routes = { "", rows, countof(rows), false, refuse };
