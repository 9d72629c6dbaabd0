/* SPDX-License-Identifier: Apache-2.0 */
package peal.interop;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;

/** Says READY on standard output once the library's server accepts connections. */
final class Ready {
    private Ready() {
    }

    static void announce(int port) throws InterruptedException {
        for (;;) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress("127.0.0.1", port), 1000);
                break;
            } catch (IOException notYet) {
                Thread.sleep(20); /* the library binds in a thread of its own and has no call to ask */
            }
        }
        System.out.println("READY");
        System.out.flush();
    }
}
