/* SPDX-License-Identifier: Apache-2.0 */
package peal.interop;

import java.util.HashMap;
import java.util.Map;

/** The command line that all executors of the interop suite share: {@code --name value} pairs. */
final class Options {
    private final Map<String, String> values = new HashMap<>();

    Options(String[] args) {
        for (int i = 0; i < args.length; i += 2) {
            if (!args[i].startsWith("--") || i + 1 == args.length)
                throw new IllegalArgumentException("expected --name value, found " + args[i]);
            values.put(args[i].substring(2), args[i + 1]);
        }
    }

    /** A value that must be there: admin, app, port, token, log-dir or trace. */
    String get(String name) {
        String value = values.get(name);
        if (value == null)
            throw new IllegalArgumentException("--" + name + " is missing");
        return value;
    }

    int port() {
        return Integer.parseInt(get("port"));
    }
}
