# SPDX-License-Identifier: Apache-2.0
"""The image of the Dockerfile, built and started step by step without a container's engine: its entry point is process 1
of a name space, as its user."""

import os
import pathlib
import signal
import subprocess

import pytest

from support.center import Center
from support.dockerfile import Builder
from support.installed import ROOT, command
from support.wait import wait_until


@pytest.fixture(scope="module")
def image(clean_debian, tmp_path_factory):
    command(ROOT / "scripts" / "console.sh")
    folder = tmp_path_factory.mktemp("image")
    yield Builder(ROOT, clean_debian, folder).build()
    command("rm", "-rf", "--one-file-system", folder)


class Container(Center):
    """A container that is started as `docker run` would. The port is the test's: it has no network of its own."""

    def __init__(self, folder, image, params="", only=None):
        super().__init__(folder)
        self.image, self.only = image, only
        self.env = image.root.environment(**image.env, PARAMS=f"--server.port={self.port} {params}")

    def start(self, timeout=60):
        words = self.image.words(*self.image.command("ENTRYPOINT"), *self.image.command("CMD"), pid=True, only=self.only)
        with open(self.output, "ab") as out:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=self.env)
        self._down = False
        wait_until(self._ready, f"{self.url}/readyz to answer 200", timeout, 0.05)
        return self

    def first(self):
        """Its process 1, by the number that it has outside."""
        child, = children(self.process.pid)
        return child

    def stop(self, timeout=60):
        """What `docker stop` does; process 1 must end by itself with status 0."""
        self._down = True
        os.kill(self.first(), getattr(signal, self.image.said["STOPSIGNAL"]))
        try:
            assert self.process.wait(timeout) == 0, self.tail()
        finally:
            self.process.kill()

    def probe(self):
        """What HEALTHCHECK runs in it: (exit status, what it said)."""
        done = subprocess.run(self.image.words(*self.image.command("HEALTHCHECK")), env=self.env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.strip()


def children(pid):
    return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


PARAMS = ("--xxl.job.accessToken=from-params --spring.datasource.url=jdbc:mysql://db/xxl_job?a=*&b=$HOME "
          "--xxl.job.i18n=zh_CN --log.retention-days=11")


def test_a_container_takes_params_of_xxl_job_s_image_and_stops_when_it_is_told(image, tmp_path):
    with Container(tmp_path, image, PARAMS) as center:
        status = pathlib.Path(f"/proc/{center.first()}/status").read_text()
        assert "\nUid:\t900\t900\t900\t900\n" in status and "\nNSpid:\t%d\t1\n" % center.first() in status
        assert "spring.datasource.url: data is kept in SQLite" in center.tail()
        assert "2 settings are of XXL-JOB or Spring" in center.tail()
        center.token = "from-params"
        registered = {"registryGroup": "EXECUTOR", "registryKey": "image", "registryValue": "http://127.0.0.1:9/"}
        assert center.open_api("registry", registered)["code"] == 200
        assert center.open_api("registry", registered, token="another")["code"] == 500
        status, said = center.probe()
        assert status == 0, said
        assert image.root.owner("/var/lib/peal") == "peal peal 700"
        assert image.root.path("/var/lib/peal/peal.db").exists()
    assert 'msg="stopped"' in center.tail()
    assert center.probe()[0] == 1, "nothing answers any more"
    center.start()  # on what it left in its volume
    center.stop()


def test_process_1_leaves_no_zombies(image, tmp_path):
    with Container(tmp_path, image) as center:
        first = center.first()
        # a shell ends before its child, which then is a child of process 1
        command("nsenter", f"--target={first}", "--pid", "--mount", "--root", "sh", "-c", "sleep 600 >/dev/null 2>&1 &",
                env=image.root.environment())
        wait_until(lambda: children(first), "the orphan to be a child of process 1")
        orphan, = children(first)
        os.kill(orphan, signal.SIGKILL)
        wait_until(lambda: not children(first), "it to be waited for")


def test_a_read_only_root_is_enough(image, tmp_path):
    volume = image.said["VOLUME"]
    with Container(tmp_path, image, only=volume) as center:
        words = ["nsenter", f"--target={center.first()}", "--pid", "--mount", "--root", "touch"]
        refused = subprocess.run([*words, "/var/tmp/x"], stderr=subprocess.PIPE, text=True, check=False,
                                 env=image.root.environment())
        assert refused.returncode != 0 and "Read-only" in refused.stderr
        assert center.get("/readyz")[0] == 200
        assert image.root.path(volume).joinpath("peal.db").exists()
        assert "level=error" not in center.tail()
