/* SPDX-License-Identifier: Apache-2.0 */
/* texts.h - sentences that peers of every release read, match and show: part of the protocol.
 * Formats are for buf_printf; the spelling (also where it is odd) is the 2.x one. */
#ifndef PEAL_WIRE_TEXTS_H
#define PEAL_WIRE_TEXTS_H

/* headers, spelled as the pickiest peers want them */
#define WIRE_HEADER_TOKEN "XXL-JOB-ACCESS-TOKEN"
#define WIRE_HEADER_TOKEN_OLD "XXL-RPC-ACCESS-TOKEN" /* of 2.1 executors; read as the same */
#define WIRE_HEADER_SCHEDULED "Peal-Moment"          /* on /run: planned instant, epoch ms */
#define WIRE_HEADER_ATTEMPT "Peal-Attempt"           /* on /run: 0 = first, n = n-th retry */
#define WIRE_HEADER_DEADLINE "Peal-Deadline"         /* on /run: start deadline, epoch ms */
#define WIRE_HEADER_EXECUTOR "Peal-Executor"         /* on /api/registry: remembers log ids */
#define WIRE_HEADER_TRACE "traceparent" /* on calls about a run: W3C Trace Context, version 00 */

/* refusals before an action */
#define WIRE_TEXT_METHOD "invalid request, HttpMethod not support."
#define WIRE_TEXT_TARGET_EMPTY "invalid request, uri-mapping empty."
#define WIRE_TEXT_TARGET "invalid request, uri-mapping(%.*s) not found."
#define WIRE_TEXT_TOKEN "The access token is wrong."
#define WIRE_TEXT_REQUEST_ERROR "request error:"
#define WIRE_TEXT_BODY_EMPTY "invalid request, requestBody empty."

/* answers to /run */
#define WIRE_TEXT_NO_HANDLER "job handler [%.*s] not found."
#define WIRE_TEXT_NO_GLUE "glueType[%.*s] is not valid."
#define WIRE_TEXT_DUPLICATE "repeate trigger job, logId:%lld"
#define WIRE_TEXT_DISCARD                                                                          \
    "block strategy effect\xEF\xBC\x9A"                                                            \
    "Discard Later"

/* answers to /idleBeat, /kill, /log */
#define WIRE_TEXT_BUSY "job thread is running or has trigger queue."
#define WIRE_TEXT_ALREADY_KILLED "job thread already killed."
#define WIRE_TEXT_NO_LOG "readLog fail, logFile not exists"
#define WIRE_TEXT_NO_LOG_PYXXL "No such logid logs."

/* handle messages: a reason, then what happened to the run */
#define WIRE_TEXT_COVER                                                                            \
    "block strategy effect\xEF\xBC\x9A"                                                            \
    "Cover Early"
#define WIRE_TEXT_KILL "scheduling center kill job."
#define WIRE_TEXT_WAS_RUNNING " [job running, killed]"
#define WIRE_TEXT_WAS_QUEUED " [job not executed, in the job queue, killed.]"
#define WIRE_TEXT_TIMEOUT "job execute timeout " /* the last blank belongs to it */
#define WIRE_TEXT_SCRIPT_EXIT "script exit value(%d) is failed"
#define WIRE_CODE_OK 200
#define WIRE_CODE_FAIL 500
#define WIRE_CODE_TIMEOUT 502
/* Characters of a handle message that an executor sends; more are cut and followed by "...". */
#define WIRE_HANDLE_MSG_UNITS 50000

/* lines of a run's log; recovery looks for START_MARK and END_MARK */
#define WIRE_START_MARK "job execute start"
#define WIRE_END_MARK "job execute end("
#define WIRE_LOG_START                                                                             \
    "<br>----------- xxl-job " WIRE_START_MARK " -----------<br>----------- Param:%.*s"
#define WIRE_LOG_END                                                                               \
    "<br>----------- xxl-job " WIRE_END_MARK "%s) -----------<br>----------- Result: "             \
    "handleCode=%d, handleMsg = %.*s"                                /* %s: finish or error */
#define WIRE_LOG_CALLBACK "<br>----------- xxl-job job callback %s." /* finish, fail, error */

#endif
