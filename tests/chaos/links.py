# SPDX-License-Identifier: Apache-2.0
"""TCP proxies between nodes and their database: a process of its own, so that nothing of the script holds bytes up.

    links.py TARGET_PORT...        prints the ports that it listens on, one for each target, in one line

Commands on standard input: `cut N` ends all connections of the Nth and refuses new ones, `hold N` leaves them open and
passes nothing on, `open N` ends both. It ends with its input."""

import asyncio
import contextlib
import subprocess
import sys


class Link:
    """One proxy. What waits while it is held waits in the sender's kernel and in one buffer here."""

    def __init__(self, target):
        self.target, self.closed = target, False
        self.flows = asyncio.Event()
        self.flows.set()
        self.writers = set()

    async def listen(self):
        server = await asyncio.start_server(self._client, "127.0.0.1", 0)
        return server.sockets[0].getsockname()[1]

    async def _pass(self, reader, writer):
        with contextlib.suppress(OSError):
            while piece := await reader.read(65536):
                await self.flows.wait()
                writer.write(piece)
                await writer.drain()
        writer.close()

    async def _client(self, reader, writer):
        if self.closed:
            writer.transport.abort()
            return
        try:
            its_reader, its_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        pair = {writer, its_writer}
        self.writers |= pair
        await asyncio.gather(self._pass(reader, its_writer), self._pass(its_reader, writer))
        self.writers -= pair

    def command(self, word):
        self.closed = word == "cut"
        if word == "hold":
            self.flows.clear()
        else:
            self.flows.set()
        if word == "cut":
            for writer in list(self.writers):
                writer.transport.abort()


async def main(targets):
    links = [Link(target) for target in targets]
    print(*[await link.listen() for link in links], flush=True)
    commands = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := await commands.readline():
        word, number = line.split()
        links[int(number)].command(word.decode())


class Links:
    """The process, for the script: ports[node], one for each server of the database, and what is done to a node."""

    def __init__(self, targets, nodes):
        self.process = subprocess.Popen([sys.executable, __file__, *(str(target) for target in targets * nodes)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.each = len(targets)
        ports = [int(port) for port in self.process.stdout.readline().split()]
        self.ports = [ports[i * self.each:(i + 1) * self.each] for i in range(nodes)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def say(self, word, node):
        for i in range(self.each):
            self.process.stdin.write(f"{word} {node * self.each + i}\n")
        self.process.stdin.flush()


if __name__ == "__main__":
    asyncio.run(main([int(port) for port in sys.argv[1:]]))
