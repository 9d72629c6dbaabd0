/* SPDX-License-Identifier: Apache-2.0 */
package peal.interop;

import com.xxl.job.core.executor.impl.XxlJobSimpleExecutor;
import java.util.Collections;

/** An executor on xxl-job-core 2.3 or later, without a framework: annotated methods of one bean. */
public final class Executor {
    private Executor() {
    }

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        Isolation.keepFilesBelow(options.get("log-dir"));
        XxlJobSimpleExecutor executor = new XxlJobSimpleExecutor();
        executor.setXxlJobBeanList(
                Collections.singletonList(new Handlers(new Work(new Trace(options.get("trace"))))));
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
}
