# SPDX-License-Identifier: Apache-2.0
"""`peal config`: what the settings are and where each comes from, and what is wrong with a file, as the server says."""

import json
import re
import subprocess

import pytest
from support import webapi
from support.center import Center, binary, clean_environment, free_port
from support.wait import PATIENCE, wait_until

SECRET = "a-token-that-is-not-shown"

# names of XXL-JOB's application.properties, with values of ours
XXL_JOB = f"""\
server.port=8080
server.servlet.context-path=/xxl-job-admin
management.health.mail.enabled=false
spring.mvc.static-path-pattern=/static/**
mybatis.mapper-locations=classpath:/m/*.xml
spring.datasource.url=jdbc:mysql://127.0.0.1:3306/db
spring.datasource.password={SECRET}
spring.datasource.hikari.maximum-pool-size=30
spring.mail.host=mail.example.org
spring.mail.from=peal@example.org
spring.mail.properties.mail.smtp.starttls.enable=true
xxl.job.accessToken={SECRET}
xxl.job.timeout=3
xxl.job.i18n=en
xxl.job.triggerpool.fast.max=200
xxl.job.triggerpool.slow.max=100
xxl.job.schedule.batchsize=100
xxl.job.logretentiondays=14
"""


def peal(*args, env=None):
    return subprocess.run([str(binary()), *map(str, args)], capture_output=True, text=True, timeout=20 * PATIENCE, check=False,
                          env=clean_environment(**(env or {})))


def file_of(tmp_path, text):
    path = tmp_path / "server.properties"
    path.write_text(text)
    return path


def shown(*args, env=None):
    done = peal("config", "show", "-o", "json", *args, env=env)
    assert (done.returncode, done.stderr) == (0, ""), done
    return {row["key"]: row for row in json.loads(done.stdout)["settings"]}


# ---- show ----------------------------------------------------------------------------------------


def test_each_setting_has_its_value_and_origin(tmp_path):
    path = file_of(tmp_path, f"# ours\nlane.queue=500\nlane.connections=7\nlisten=:1\ntoken={SECRET}\n")
    rows = shown("-c", path, "--listen", ":2", env={"PEAL_LANE_QUEUE": "600", "XXL_JOB_LOGRETENTIONDAYS": "9"})
    seen = {key: (row["value"], row["origin"]) for key, row in rows.items()}
    assert seen["listen"] == (":2", "command line")
    assert seen["lane.queue"] == ("600", "environment")
    assert seen["lane.connections"] == ("7", f"{path}:3")
    assert seen["log.retention-days"] == ("9", "environment")
    assert seen["start.deadline"] == ("60s", "default")
    assert seen["zone"] == (None, "default")
    told = set(re.findall(r"^  --([\w.-]+)", peal("server", "--help").stdout, re.M))
    assert set(rows) | {"config", "help"} >= told and len(rows) > 30


@pytest.mark.parametrize("form", ["text", "json"])
def test_secrets_are_masked(tmp_path, form):
    path = file_of(tmp_path, f"xxl.job.accessToken={SECRET}\nadmin.password={SECRET}\n"
                             f"webhook.url=https://x.example.org/{SECRET}\nmail.password={SECRET}\n")
    done = peal("config", "show", "-o", form, "-c", path)
    assert done.returncode == 0 and SECRET not in done.stdout + done.stderr
    assert done.stdout.count("********") == 4
    assert [row["value"] for row in shown("-c", path).values() if row["secret"] and row["value"]] == ["********"] * 4


def test_text_has_a_line_for_each():
    lines = peal("config", "show").stdout.splitlines()
    assert len(lines) == len(shown())
    assert re.fullmatch(r"listen +127\.0\.0\.1:8080 +default", lines[0])


@pytest.mark.parametrize("url", ["jdbc:mysql://peal:hidden@db/x", "mongodb://u:hidden@h", "jdbc:mysql://h/d?user=u&password=hidden",
                                 "postgress://u:hidden@h/d"])
def test_a_password_in_a_url_of_any_kind_is_not_shown(tmp_path, url):
    path = file_of(tmp_path, f"db={url}\n")
    for form in "text", "json":
        done = peal("config", "show", "-o", form, "-c", path)
        assert "hidden" not in done.stdout + done.stderr and "********" in done.stdout


def test_show_says_what_the_server_would_refuse(tmp_path):
    done = peal("config", "show", "--language", "fr")
    assert done.returncode == 1 and "the server would refuse: language must be en or zh_CN" in done.stderr
    done = peal("config", "show", "--lane.queu", "5")
    assert done.returncode == 1 and "did you mean --lane.queue?" in done.stderr
    assert peal("config", "show", "-c", tmp_path / "nothing").returncode == 3


# ---- check ---------------------------------------------------------------------------------------


def test_a_good_file(tmp_path):
    path = file_of(tmp_path, "lane.queue=500\nxxl.job.logretentiondays=5\n")
    done = peal("config", "check", path)
    assert (done.returncode, done.stdout) == (0, "2 used, 0 do nothing here, 0 unknown, 0 bad\n")
    assert peal("config", "check", "--all", path).stdout.splitlines()[:2] == [
        f"{path}:1: used: lane.queue", f"{path}:2: used: xxl.job.logretentiondays, which is log.retention-days"]


def test_every_wrong_line_is_told(tmp_path):
    path = file_of(tmp_path, f"lane.queu=500\nlane.queue=many\ntoken={SECRET}\nbackup.every=soon\nwholly.other=1\n"
                             "xxl.job.logretentionday=3\nsession.idle=1d\n")
    done = peal("config", "check", path)
    assert done.returncode == 1 and SECRET not in done.stdout
    lines = done.stdout.splitlines()
    assert lines[0] == f"{path}:1: unknown: lane.queu; did you mean lane.queue?"
    assert lines[1] == f"{path}:2: bad: lane.queue (here) must be a whole number from 1 to 1000000"
    assert lines[2].startswith(f"{path}:4: bad: backup.every (here) must be a duration")
    assert lines[3] == f"{path}:5: unknown: wholly.other"
    assert lines[4] == f"{path}:6: unknown: xxl.job.logretentionday; did you mean xxl.job.logretentiondays?"
    assert lines[5:] == ["2 used, 0 do nothing here, 3 unknown, 2 bad"]


@pytest.mark.parametrize("text,said", [("language=fr\n", "language must be en or zh_CN"),
                                       ("log.level=loud\n", "log.level must be"),
                                       ("metrics.per_job=some\n", "metrics.per_job must be"),
                                       ("http.prefix=peal\n", "http.prefix"),
                                       ("mail.host=h\nmail.tls=maybe\n", "mail.tls"),
                                       ("listen=\\u12\n", "line 1"),
                                       pytest.param("listen=" + "x" * (1 << 20), "more than", id="long")])
def test_what_no_line_says_alone(tmp_path, text, said):
    path = file_of(tmp_path, text)
    done = peal("config", "check", path)
    assert done.returncode == 1 and f"{path}: bad: " in done.stdout and said in done.stdout, done
    server = peal("server", "-c", path, "--data", tmp_path / "data")
    assert server.returncode == 2 and said in server.stderr, "the server says something else"


@pytest.mark.parametrize("args,status", [(["check"], 2), (["check", "a", "b"], 2), (["check", "--what", "a"], 2), ([], 2),
                                         (["look"], 2), (["show", "-o", "xml"], 2), (["show", "-o"], 2),
                                         (["check", "/nowhere/at/all"], 3), (["check", "/"], 3), (["--help"], 0),
                                         (["check", "--help"], 0), (["show", "--help"], 0)])
def test_arguments(args, status):
    done = peal("config", *args)
    assert done.returncode == status and (done.stdout if status == 0 else done.stderr)


# ---- XXL-JOB's file ------------------------------------------------------------------------------


def test_a_file_of_xxl_job(tmp_path):
    path = file_of(tmp_path, XXL_JOB)
    done = peal("config", "check", "--all", path)
    assert done.returncode == 0 and SECRET not in done.stdout, done
    lines = done.stdout.splitlines()
    assert lines[-1] == "6 used, 12 do nothing here, 0 unknown, 0 bad"
    assert f"{path}:1: used: server.port" in lines
    assert f"{path}:2: used: server.servlet.context-path, which is http.prefix" in lines
    assert f"{path}:12: used: xxl.job.accessToken, which is token" in lines
    assert any(line.startswith(f"{path}:6: does nothing here: spring.datasource.url (data is kept in SQLite") for line in lines)


def test_the_server_takes_it_as_it_is(tmp_path):
    center = Center(tmp_path / "center", args=["-c", str(file_of(tmp_path, XXL_JOB))])
    with center:
        assert "12 settings are of XXL-JOB or Spring and do nothing here" in center.tail()
        assert "spring.datasource.url: data is kept in SQLite" in center.tail(), "jobs of that database are not here"
        assert SECRET not in center.tail()


def test_settings_of_xxl_job_may_be_options_too(tmp_path):
    """As PARAMS of its image hold them."""
    with Center(tmp_path / "center", args=["--spring.datasource.url=jdbc:mysql://db/x", "--xxl.job.i18n=zh_CN"]) as center:
        assert "2 settings are of XXL-JOB or Spring and do nothing here" in center.tail()
        assert "spring.datasource.url: data is kept in SQLite" in center.tail()
    for mistyped in ("--xxl.job.i18m=zh_CN", "--xxl.job.i18n"):
        done = peal("server", mistyped)
        assert done.returncode == 2 and f"there is no option {mistyped.split('=')[0]}" in done.stderr


@pytest.mark.parametrize("name", ["xxl.job.login.username", "xxl.job.login.password", "xxl.job.mail.host", "xxl.job.mail.sendNick",
                                  "xxl.job.db.driverClass"])
def test_settings_of_its_old_releases_do_nothing(tmp_path, name):
    """Of 2.1 and before: the file may have them still."""
    path = file_of(tmp_path, f"{name}={SECRET}\n")
    done = peal("config", "check", path)
    assert done.returncode == 0 and f"{path}:1: does nothing here: {name}" in done.stdout and SECRET not in done.stdout, done


def test_health_asks_the_server_of_the_same_settings(tmp_path):
    center = Center(tmp_path / "center")
    assert peal("health", "--listen", f"127.0.0.1:{center.port}").returncode == 1, "nothing listens there yet"
    with center:
        for args in ([], ["--live"]):
            done = peal("health", *args, f"--listen=:{center.port}")
            assert (done.returncode, done.stderr) == (0, "") and done.stdout.strip(), done
        done = peal("health", env={"PEAL_SERVER_PORT": str(center.port)})
        assert done.returncode == 0, done
    assert peal("health", "--listen", "127.0.0.1:0").returncode == 2


@pytest.mark.parametrize("text, args, listen, place", [
    ("server.port=8081\n", [], ":8081", 1),
    ("server.port=8081\nserver.address=192.0.2.1\n", [], "192.0.2.1:8081", 1),
    ("server.address=::1\nserver.port=8081\n", [], "[::1]:8081", 2),
    ("server.address=localhost\n", [], "localhost:8080", 1),
    ("server.port=8081\nlisten=127.0.0.1:1\n", [], "127.0.0.1:1", 2),
    ("server.port=8081\n", ["--listen", ":2"], ":2", "command line"),
    ("server.port=8081\n", ["--server.port=8082"], ":8082", "command line"),
])
def test_where_it_listens_by_names_of_spring(tmp_path, text, args, listen, place):
    path = file_of(tmp_path, text)
    row = shown("-c", path, *args)["listen"]
    assert (row["value"], row["origin"]) == (listen, f"{path}:{place}" if isinstance(place, int) else place)


def test_the_server_listens_at_the_port_of_spring(tmp_path):
    port = free_port()
    path = file_of(tmp_path, f"server.address=127.0.0.1\nserver.port=${{PEAL_TESTS_PORT:{port}}}\n")
    process = subprocess.Popen([str(binary()), "server", "-c", str(path), "--data", str(tmp_path / "data"),
                                "--recorder", "none"], env=clean_environment(PEAL_ACCESS_TOKEN=SECRET),
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: answers(port), "it to answer at that port", 20)
    finally:
        process.terminate()
        assert process.wait(20 * PATIENCE) == 0


def answers(port):
    try:
        return webapi.request(port, "GET", "/startupz")[0] == 200
    except OSError:
        return False


@pytest.mark.parametrize("text, error", [("server.port=99999\n", "server.port"), ("server.port=http\n", "server.port"),
                                         ("server.address=" + "a" * 400 + "\n", "server.address must be shorter")])
def test_a_port_of_spring_that_is_none(tmp_path, text, error):
    done = peal("server", "-c", file_of(tmp_path, text), "--data", tmp_path / "data")
    assert done.returncode == 2 and error in done.stderr


def test_placeholders_are_filled_in_from_the_environment(tmp_path):
    path = file_of(tmp_path, "listen=${HOST:127.0.0.1}:${peal.tests.port:8080}\ndata=${DATA_FOLDER}\n"
                             "mail.user=\\\\${LITERAL}\nmail.from=${FIRST:${SECOND:none}}\n"
                             "spring.datasource.url=${THIS_IS_SET_NOWHERE}\n")
    rows = shown("-c", path, env={"DATA_FOLDER": "/somewhere", "PEAL_TESTS_PORT": "17", "SECOND": "a@example.org"})
    seen = {key: (rows[key]["value"], rows[key]["origin"]) for key in ("listen", "data", "mail.user", "mail.from")}
    assert seen == {"listen": ("127.0.0.1:17", f"{path}:1"), "data": ("/somewhere", f"{path}:2"),
                    "mail.user": ("${LITERAL}", f"{path}:3"), "mail.from": ("a@example.org", f"{path}:4")}


@pytest.mark.parametrize("value, said", [("${THIS_IS_SET_NOWHERE}", "there is no such variable, and no default"),
                                         ("${A", "has no } that ends it"), ("${a b:c}", "a name has 1-64"),
                                         ("${N:many}", "must be a whole number")])
def test_a_placeholder_that_cannot_be_filled_in(tmp_path, value, said):
    path = file_of(tmp_path, f"lane.queue={value}\n")
    checked = peal("config", "check", path)
    assert checked.returncode == 1 and f"{path}:1: bad: lane.queue (here)" in checked.stdout and said in checked.stdout
    server = peal("server", "-c", path, "--data", tmp_path / "data")
    assert server.returncode == 2 and f"lane.queue ({path}:1)" in server.stderr and said in server.stderr


def test_a_mistyped_name_of_xxl_job_is_still_refused(tmp_path):
    path = file_of(tmp_path, XXL_JOB + "xxl.job.logretentionday=3\n")
    done = peal("server", "-c", path, "--data", tmp_path / "data")
    assert done.returncode == 2 and "did you mean xxl.job.logretentiondays?" in done.stderr
