/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in application.properties of an XXL-JOB center and means nothing here: the file can
 * be given to peal server as it is. Names under xxl.job are told one by one, so that a mistyped one
 * is still found; what belongs to Spring and its libraries goes by its beginning. */
#include "base/mem.h"
#include "cli/server.h"

static const struct config_foreign rows[] = {
    { "server.port", "set listen, such as listen=:8080" },
    { "server.", "of Spring's web server" },
    { "spring.datasource.",
      "data is kept in SQLite, see data and db; XXL-JOB's database is not read" },
    { "spring.mail.properties.mail.smtp.", "set mail.tls" },
    { "spring.", "of Spring" },
    { "mybatis.", "of MyBatis" },
    { "management.", "of Spring; health and metrics are always served" },
    { "logging.", "set log.level; lines go to standard error" },
    { "xxl-sso.", "of XXL-JOB's login; see session.idle" },
    { "xxl.job.i18n", "set language; the console follows the browser" },
    { "xxl.job.timeout", "an executor has 3 s to answer a call" },
    { "xxl.job.triggerpool.fast.max", "there is no such pool; lane.connections bounds calls" },
    { "xxl.job.triggerpool.slow.max", "there is no such pool; lane.connections bounds calls" },
    { "xxl.job.schedule.batchsize", "planning has no such limit" },
    { "xxl.job.admin.", "of executors, not of the center" },
    { "xxl.job.executor.", "of executors, not of the center" },
};

void server_foreign(struct config_table *ret)
{
    ret->foreign = rows;
    ret->nforeign = (int)countof(rows);
}
