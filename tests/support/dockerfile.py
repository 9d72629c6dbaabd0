# SPDX-License-Identifier: Apache-2.0
"""The steps of our Dockerfile in folders, without a container's engine: each stage is a copy of a clean Debian. It knows
the instructions and the forms of them that the file uses, and refuses others."""

import json
import pathlib
import re
import shlex
import shutil
import subprocess

from .installed import command

KEPT = {"ENTRYPOINT", "CMD", "HEALTHCHECK", "EXPOSE", "VOLUME", "STOPSIGNAL"}


def instructions(path):
    """[(WORD, the rest)], comments gone and continued lines joined."""
    text = re.sub(r"^#.*\n", "", pathlib.Path(path).read_text(), flags=re.M)
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines()]
    return [tuple(line.split(None, 1)) for line in lines if line]


class Image:
    """A stage: its tree, and what a container of it is started with."""

    def __init__(self, root):
        self.root, self.workdir, self.user, self.env, self.said = root, "/", None, {}, {}

    def command(self, name):
        """The words of an instruction in its JSON form, such as ENTRYPOINT ["/usr/bin/x"]."""
        return json.loads(self.said[name][self.said[name].index("["):])

    def words(self, *words, pid=False, only=None):
        """The command that runs words in a container of this image; only: as of DebianRoot."""
        return self.root.words("env", f"--chdir={self.workdir}", *words, user=self.user, pid=pid, only=only)


class Builder:
    def __init__(self, context, base, folder):
        """context: the folder of the Dockerfile; base: a DebianRoot, copied for each FROM; folder: for the copies."""
        self.context, self.base, self.folder = pathlib.Path(context), base, pathlib.Path(folder)
        self.stages, self.now = {}, None

    def build(self):
        for word, rest in instructions(self.context / "Dockerfile"):
            if word in KEPT:
                self.now.said[word] = rest
            else:
                getattr(self, "do_" + word.lower())(rest)
        return self.now

    def do_from(self, rest):
        image, name = re.fullmatch(r"(debian:12(?:-slim)?)(?: AS (\w+))?", rest).groups()
        self.now = Image(self.base.copy(self.folder / f"stage-{len(self.stages)}"))
        shutil.copy("/etc/resolv.conf", self.now.root.path("/etc/resolv.conf"))
        self.stages[name or image] = self.now

    def do_workdir(self, rest):
        self.now.root.path(rest).mkdir(parents=True, exist_ok=True)
        self.now.workdir = rest

    def do_env(self, rest):
        self.now.env.update(word.split("=", 1) for word in shlex.split(rest))

    def do_user(self, rest):
        self.now.user = rest

    def do_run(self, rest):
        assert not self.now.user, "steps are root's here"
        command(*self.now.words("sh", "-c", rest), env=self.now.root.environment(**self.now.env))

    def do_copy(self, rest):
        *options, what, where = rest.split()
        if (what, where) == (".", "."):
            assert not options
            self.copy_context()
            return
        source = self.stages[options[0].removeprefix("--from=")].root.path(what) if options else self.context / what
        target = self.now.root.path(where)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)

    def copy_context(self):
        """All but what .dockerignore names."""
        names = (self.context / ".dockerignore").read_text().split()
        leave = [f"--exclude={n.removeprefix('**/') if n.startswith('**/') else './' + n}" for n in names]
        packed = subprocess.Popen(["tar", "-C", self.context, *leave, "-c", "."], stdout=subprocess.PIPE)
        command("tar", "-C", self.now.root.path(self.now.workdir), "--no-same-owner", "-x", stdin=packed.stdout)
        assert packed.wait() == 0
