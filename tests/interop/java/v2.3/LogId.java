/* SPDX-License-Identifier: Apache-2.0 */
package peal.interop;

import com.xxl.job.core.context.XxlJobHelper;
import java.io.File;

/** 2.3 to 3.2 do not show a handler its log id, but its log file is named after it. */
final class LogId {
    private LogId() {
    }

    static long current() {
        String name = new File(XxlJobHelper.getJobLogFileName()).getName();
        return Long.parseLong(name.substring(0, name.indexOf('.')));
    }
}
