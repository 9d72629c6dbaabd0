/* SPDX-License-Identifier: Apache-2.0 */
package peal.interop;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.xxl.job.core.constant.Const;
import com.xxl.job.core.openapi.ExecutorBiz;
import com.xxl.job.core.openapi.model.CallbackRequest;
import com.xxl.job.core.openapi.model.IdleBeatRequest;
import com.xxl.job.core.openapi.model.KillRequest;
import com.xxl.job.core.openapi.model.LogRequest;
import com.xxl.job.core.openapi.model.TriggerRequest;
import com.xxl.tool.http.HttpTool;
import com.xxl.tool.response.Response;

/** From 3.3 on: a proxy of the interface over the HTTP client of xxl-tool, results in {@code data}. */
final class Remote {
    private static final int TIMEOUT_MS = 3000; /* the admin's default */

    private Remote() {
    }

    /** Results as this release reads them. */
    static Object results(Gson gson, JsonElement body) {
        return gson.fromJson(body, CallbackRequest[].class);
    }

    static AdminClient.Outcome call(Gson gson, String address, String token, String action, JsonElement body) {
        ExecutorBiz executor = HttpTool.createClient().url(address).timeout(TIMEOUT_MS)
                .header(Const.XXL_JOB_ACCESS_TOKEN, token).proxy(ExecutorBiz.class);
        Response<?> answer = ask(gson, executor, action, body);
        return new AdminClient.Outcome(answer.getCode(), answer.getMsg(), answer.getData());
    }

    private static Response<?> ask(Gson gson, ExecutorBiz executor, String action, JsonElement body) {
        switch (action) {
        case "beat":
            return executor.beat();
        case "idleBeat":
            return executor.idleBeat(gson.fromJson(body, IdleBeatRequest.class));
        case "run":
            return executor.run(gson.fromJson(body, TriggerRequest.class));
        case "kill":
            return executor.kill(gson.fromJson(body, KillRequest.class));
        case "log":
            return executor.log(gson.fromJson(body, LogRequest.class));
        default:
            throw new IllegalArgumentException("no such action: " + action);
        }
    }
}
