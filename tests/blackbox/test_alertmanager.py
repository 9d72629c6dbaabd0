# SPDX-License-Identifier: Apache-2.0
"""Alarms at Prometheus' Alertmanager, the program itself: an alert is there while the alarm is open."""

import datetime
import json
import shutil
import subprocess
import urllib.request

import pytest
from support.center import Center, clean_environment, free_port
from support.v1 import V1
from support.wait import PATIENCE, wait_until

PROGRAM = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")


@pytest.fixture
def alertmanager(tmp_path):
    if not PROGRAM:
        pytest.skip("prometheus-alertmanager is not installed")
    config = tmp_path / "alertmanager.yml"
    config.write_text("route: {receiver: nobody}\nreceivers: [{name: nobody}]\n")
    url = f"http://127.0.0.1:{free_port()}"
    with open(tmp_path / "alertmanager.log", "wb") as said:
        process = subprocess.Popen([PROGRAM, f"--config.file={config}", f"--storage.path={tmp_path / 'storage'}",
                                    f"--web.listen-address={url[7:]}", "--cluster.listen-address="],
                                   stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=clean_environment())
    try:
        wait_until(lambda: alerts(url) is not None, "Alertmanager", 60)
        yield url
    finally:
        process.kill()
        process.wait()


def alerts(url):
    """Those that are active; None: it does not answer."""
    try:
        with urllib.request.urlopen(url + "/api/v2/alerts?active=true", timeout=10 * PATIENCE) as answer:
            return json.load(answer)
    except OSError:
        return None


def test_an_alert_is_there_while_the_alarm_is_open(tmp_path, alertmanager):
    with Center(tmp_path / "center", ["--alarm.targets", "127.0.0.1"]) as center:
        v1, api = V1(center), center.api()
        channel = v1.ask("POST", "/alarm-channels", {"name": "am", "kind": "alertmanager", "settings": {"url": alertmanager + "/"}})
        assert channel.status == 201, channel.json
        tried = v1.ask("POST", f"/alarm-channels/{channel.json['id']}/test").json
        assert tried["outcome"] == "sent", tried
        group = api.add_group("am-group", "Nacht & Tag")
        job = api.add_job(group, "h", scheduleType="CRON", scheduleConf="0 0 0 1 1 ? 2099")
        api.start_job(job)
        made = v1.ask("POST", "/alarm-rules", {"name": "no executor", "kind": "empty", "level": "critical", "groupId": group,
                                               "channels": ["am"]})
        assert made.status == 201, made.json

        def of_rule():
            return [a for a in alerts(alertmanager) or [] if a["labels"].get("rule") == "no executor"]

        alert, = wait_until(of_rule, "the alert", 60)
        assert alert["labels"]["severity"] == "critical" and alert["labels"]["app"] == "am-group"
        assert "no executor" in alert["annotations"]["summary"] and alert["annotations"]["event"] == "group.empty"
        ahead = datetime.datetime.fromisoformat(alert["endsAt"][:19]) - datetime.datetime.fromisoformat(alert["startsAt"][:19])
        assert ahead.days >= 6  # it does not resolve itself
        api.stop_job(job)
        wait_until(lambda: alerts(alertmanager) is not None and not of_rule(), "the end of the alert", 60)
