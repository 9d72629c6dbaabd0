/* SPDX-License-Identifier: Apache-2.0 */
package peal.interop;

import com.xxl.job.core.log.XxlJobFileAppender;
import java.io.File;
import java.lang.reflect.Field;

/**
 * 3.3.2 keeps results that it could not deliver below its default log path, whatever path is configured,
 * so all executors of a machine share them and send each other's: one test's results would reach the
 * next test's center. The path is put where it belongs before the library reads it.
 */
final class Isolation {
    private Isolation() {
    }

    static void keepFilesBelow(String logDir) throws IllegalAccessException {
        try {
            Field path = XxlJobFileAppender.class.getDeclaredField("callbackLogPath");
            path.setAccessible(true);
            path.set(null, new File(logDir, "callbacklogs").getPath());
        } catch (NoSuchFieldException otherRelease) {
            System.err.println("this release has no callbackLogPath: look where it keeps undelivered results");
            System.exit(1);
        }
    }
}
