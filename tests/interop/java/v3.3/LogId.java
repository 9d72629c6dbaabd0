/* SPDX-License-Identifier: Apache-2.0 */
package peal.interop;

import com.xxl.job.core.context.XxlJobHelper;

/** 3.3 and later show a handler its log id. */
final class LogId {
    private LogId() {
    }

    static long current() {
        return XxlJobHelper.getLogId();
    }
}
