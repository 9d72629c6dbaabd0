/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in application.properties of an XXL-JOB center and means nothing here: the file can
 * be given to peal server as it is. Names under xxl.job are told one by one, so that a mistyped one
 * is still found; what belongs to Spring and its libraries goes by its beginning. */
#include "base/mem.h"
#include "cli/server.h"

static const struct config_foreign rows[] = {
    { "server.", "of Spring's web server", false },
    { "spring.datasource.url",
      "data is kept in SQLite, see data and db; the jobs of that database are not here", true },
    { "spring.datasource.", "of that database; data is kept in SQLite, see data and db", false },
    { "spring.mail.properties.mail.smtp.ssl.enable",
      "port 465 means it; with another port set mail.tls=tls", false },
    { "spring.mail.properties.mail.smtp.starttls.enable",
      "starttls is the default; where this is false, set mail.tls=none", false },
    { "spring.mail.properties.mail.smtp.", "set mail.tls", false },
    { "spring.", "of Spring", false },
    { "mybatis.", "of MyBatis", false },
    { "management.", "of Spring; health and metrics are always served", false },
    { "logging.", "set log.level; lines go to standard error", false },
    { "xxl-sso.", "of XXL-JOB's login; see session.idle", false },
    { "xxl.job.login.", "users are in the database; see admin.password", false },
    { "xxl.job.mail.", "set mail.host, mail.port, mail.user and mail.password", false },
    { "xxl.job.db.", "data is kept in SQLite, see data and db", true },
    { "xxl.job.i18n", "set language; the console follows the browser", false },
    { "xxl.job.timeout", "an executor has 3 s to answer a call", false },
    { "xxl.job.triggerpool.fast.max", "there is no such pool; lane.connections bounds calls",
      false },
    { "xxl.job.triggerpool.slow.max", "there is no such pool; lane.connections bounds calls",
      false },
    { "xxl.job.schedule.batchsize", "planning has no such limit", false },
    { "xxl.job.admin.", "of executors, not of the center", false },
    { "xxl.job.executor.", "of executors, not of the center", false },
};

void server_foreign(struct config_table *ret)
{
    ret->foreign = rows;
    ret->nforeign = (int)countof(rows);
}
