/* SPDX-License-Identifier: Apache-2.0 */
package peal.interop;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * What really ran, for the tests to count: one JSON line at the start and one at the end of each
 * execution, written by the handler itself and so independent of what the library reports.
 */
final class Trace {
    private final Path file;

    Trace(String file) {
        this.file = Paths.get(file);
    }

    synchronized void write(String event, String handler, Run run) {
        String param = run.param() == null ? "" : run.param();
        byte[] bytes = param.getBytes(StandardCharsets.UTF_8);
        String line = "{\"event\":\"" + event + "\",\"handler\":\"" + handler + "\",\"logId\":" + run.logId()
                + ",\"jobId\":" + run.jobId() + ",\"length\":" + bytes.length + ",\"sha256\":\"" + sha256(bytes)
                + "\",\"shard\":" + run.shard() + ",\"total\":" + run.total() + ",\"ms\":"
                + System.currentTimeMillis() + ",\"pid\":" + ProcessHandle.current().pid() + "}\n";
        try {
            Files.write(file, line.getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new IllegalStateException("cannot write the trace " + file, e);
        }
    }

    static String sha256(byte[] bytes) {
        try {
            StringBuilder hex = new StringBuilder();
            for (byte b : MessageDigest.getInstance("SHA-256").digest(bytes))
                hex.append(String.format("%02x", b));
            return hex.toString();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
