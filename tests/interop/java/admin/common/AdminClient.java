/* SPDX-License-Identifier: Apache-2.0 */
package peal.interop;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The admin's side of the wire: the class that the admin of this release calls executors with. Each line of
 * standard input is a call, {@code {"address","token","action","body"}}; each line of standard output what the
 * library made of the answer, {@code {"code","msg","value"}}, where value is the member that the release reads.
 * The action "results" calls nobody: it reads the body of a callback with the release's own class.
 */
public final class AdminClient {
    /** One call's outcome, the same for every version of the library. */
    static final class Outcome {
        final int code;
        final String msg;
        final Object value;

        Outcome(int code, String msg, Object value) {
            this.code = code;
            this.msg = msg;
            this.value = value;
        }
    }

    private AdminClient() {
    }

    public static void main(String[] args) throws Exception {
        Gson gson = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null;) {
            JsonObject call = gson.fromJson(line, JsonObject.class);
            String action = call.get("action").getAsString();
            Outcome outcome = action.equals("results")
                    ? new Outcome(200, null, Remote.results(gson, call.get("body")))
                    : Remote.call(gson, call.get("address").getAsString(), call.get("token").getAsString(), action,
                            call.get("body"));
            Map<String, Object> shown = new LinkedHashMap<>();
            shown.put("code", outcome.code);
            shown.put("msg", outcome.msg);
            shown.put("value", outcome.value);
            out.println(gson.toJson(shown));
        }
    }
}
