/* SPDX-License-Identifier: Apache-2.0 */
package peal.interop;

import com.xxl.job.core.context.XxlJobHelper;
import com.xxl.job.core.handler.annotation.XxlJob;

/** The handlers as XXL-JOB's users write them since 2.3. */
public final class Handlers {
    private final Work work;

    Handlers(Work work) {
        this.work = work;
    }

    @XxlJob("demoJobHandler")
    public void demo() throws Exception {
        run("demoJobHandler");
    }

    @XxlJob("shardJobHandler")
    public void shard() throws Exception {
        run("shardJobHandler");
    }

    @XxlJob("msgJobHandler")
    public void msg() throws Exception {
        run("msgJobHandler");
    }

    @XxlJob("failJobHandler")
    public void fail() throws Exception {
        run("failJobHandler");
    }

    @XxlJob("throwJobHandler")
    public void thrower() throws Exception {
        run("throwJobHandler");
    }

    @XxlJob("sleepJobHandler")
    public void sleep() throws Exception {
        run("sleepJobHandler");
    }

    private void run(String name) throws Exception {
        Work.Result result = work.run(name, new HelperRun());
        if (result.success)
            XxlJobHelper.handleSuccess(result.message);
        else
            XxlJobHelper.handleFail(result.message);
    }

    private static final class HelperRun implements Run {
        @Override
        public long logId() {
            return LogId.current();
        }

        @Override
        public long jobId() {
            return XxlJobHelper.getJobId();
        }

        @Override
        public String param() {
            return XxlJobHelper.getJobParam();
        }

        @Override
        public int shard() {
            return XxlJobHelper.getShardIndex();
        }

        @Override
        public int total() {
            return XxlJobHelper.getShardTotal();
        }

        @Override
        public void log(String text) {
            XxlJobHelper.log("{}", text);
        }
    }
}
