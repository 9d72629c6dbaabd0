/* SPDX-License-Identifier: Apache-2.0 */
package peal.interop;

import com.xxl.job.core.biz.model.ReturnT;
import com.xxl.job.core.executor.XxlJobExecutor;
import com.xxl.job.core.handler.IJobHandler;
import com.xxl.job.core.log.XxlJobFileAppender;
import com.xxl.job.core.log.XxlJobLogger;
import com.xxl.job.core.util.ShardingUtil;
import java.io.File;

/** An executor on xxl-job-core 2.2, whose handlers take the parameter and return a ReturnT. */
public final class Executor {
    private static final String[] HANDLERS = { "demoJobHandler", "shardJobHandler", "msgJobHandler",
            "failJobHandler", "throwJobHandler", "sleepJobHandler" };

    private Executor() {
    }

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        Work work = new Work(new Trace(options.get("trace")));
        for (String name : HANDLERS)
            XxlJobExecutor.registJobHandler(name, handler(name, work));

        XxlJobExecutor executor = new XxlJobExecutor();
        executor.setAdminAddresses(options.get("admin"));
        executor.setAppname(options.get("app"));
        executor.setIp("127.0.0.1");
        executor.setPort(options.port());
        executor.setAccessToken(options.get("token"));
        executor.setLogPath(options.get("log-dir"));
        executor.setLogRetentionDays(3);
        executor.start();
        Runtime.getRuntime().addShutdownHook(new Thread(executor::destroy));
        Ready.announce(options.port());
        Thread.currentThread().join();
    }

    private static IJobHandler handler(String name, Work work) {
        return new IJobHandler() {
            @Override
            public ReturnT<String> execute(String param) throws Exception {
                Work.Result result = work.run(name, current(param));
                return new ReturnT<>(result.success ? ReturnT.SUCCESS_CODE : ReturnT.FAIL_CODE, result.message);
            }
        };
    }

    private static Run current(String param) {
        /* 2.2 shows a handler neither id, but its log file is named after the log id */
        String log = new File(XxlJobFileAppender.contextHolder.get()).getName();
        long logId = Long.parseLong(log.substring(0, log.indexOf('.')));
        ShardingUtil.ShardingVO shard = ShardingUtil.getShardingVo();
        return new Run() {
            @Override
            public long logId() {
                return logId;
            }

            @Override
            public long jobId() {
                return -1;
            }

            @Override
            public String param() {
                return param;
            }

            @Override
            public int shard() {
                return shard.getIndex();
            }

            @Override
            public int total() {
                return shard.getTotal();
            }

            @Override
            public void log(String text) {
                XxlJobLogger.log("{}", text);
            }
        };
    }
}
