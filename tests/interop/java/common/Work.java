/* SPDX-License-Identifier: Apache-2.0 */
package peal.interop;

import java.nio.charset.StandardCharsets;

/**
 * What the handlers do; the executors in the other languages do the same under the same names.
 * A thrown exception is left to the library, that is what the tests look at.
 */
final class Work {
    /** A handler's result: success or failure, and the message that the center must show. */
    static final class Result {
        final boolean success;
        final String message;

        Result(boolean success, String message) {
            this.success = success;
            this.message = message;
        }
    }

    private final Trace trace;

    Work(Trace trace) {
        this.trace = trace;
    }

    Result run(String handler, Run run) throws Exception {
        trace.write("start", handler, run);
        String event = "interrupted";
        try {
            Result result = body(handler, run);
            event = "end";
            return result;
        } catch (IllegalStateException thrown) {
            event = "end"; /* throwJobHandler's way to finish */
            throw thrown;
        } finally {
            trace.write(event, handler, run);
        }
    }

    private Result body(String handler, Run run) throws Exception {
        String param = run.param() == null ? "" : run.param();
        switch (handler) {
        case "demoJobHandler": {
            byte[] bytes = param.getBytes(StandardCharsets.UTF_8);
            run.log("demo param=" + (param.length() <= 200 ? param : bytes.length + " bytes") + " shard="
                    + run.shard() + "/" + run.total());
            return new Result(true, "length=" + bytes.length + " sha256=" + Trace.sha256(bytes));
        }
        case "shardJobHandler":
            return new Result(true, "shard=" + run.shard() + "/" + run.total());
        case "msgJobHandler":
            return new Result(true, "said \"quoted\" <b>&'= 中文 é 😀 \\ end");
        case "failJobHandler":
            return new Result(false, "failed on purpose: 失败 <i>\"x\"</i>");
        case "throwJobHandler":
            throw new IllegalStateException("thrown on purpose");
        case "sleepJobHandler":
            run.log("before the sleep");
            Thread.sleep(Long.parseLong(param));
            run.log("after the sleep");
            return new Result(true, "slept " + param);
        default:
            throw new IllegalArgumentException("no such handler: " + handler);
        }
    }
}
