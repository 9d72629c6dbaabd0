/* SPDX-License-Identifier: Apache-2.0 */
package peal.interop;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.xxl.job.core.biz.ExecutorBiz;
import com.xxl.job.core.biz.client.ExecutorBizClient;
import com.xxl.job.core.biz.model.HandleCallbackParam;
import com.xxl.job.core.biz.model.IdleBeatParam;
import com.xxl.job.core.biz.model.KillParam;
import com.xxl.job.core.biz.model.LogParam;
import com.xxl.job.core.biz.model.ReturnT;
import com.xxl.job.core.biz.model.TriggerParam;

/** Releases up to 3.2: a client class for executors, results in {@code content}. */
final class Remote {
    private Remote() {
    }

    /** Results as this release reads them. */
    static Object results(Gson gson, JsonElement body) {
        return gson.fromJson(body, HandleCallbackParam[].class);
    }

    static AdminClient.Outcome call(Gson gson, String address, String token, String action, JsonElement body) {
        ReturnT<?> answer = ask(gson, new ExecutorBizClient(address, token), action, body);
        return new AdminClient.Outcome(answer.getCode(), answer.getMsg(), answer.getContent());
    }

    private static ReturnT<?> ask(Gson gson, ExecutorBiz executor, String action, JsonElement body) {
        switch (action) {
        case "beat":
            return executor.beat();
        case "idleBeat":
            return executor.idleBeat(gson.fromJson(body, IdleBeatParam.class));
        case "run":
            return executor.run(gson.fromJson(body, TriggerParam.class));
        case "kill":
            return executor.kill(gson.fromJson(body, KillParam.class));
        case "log":
            return executor.log(gson.fromJson(body, LogParam.class));
        default:
            throw new IllegalArgumentException("no such action: " + action);
        }
    }
}
