"""The files in deploy/: what they name exists, their settings are settings, and their kinds' own checks pass."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml
from click.testing import CliRunner
from fastapi.routing import APIRoute

import ratecard
from mounted import Mount
from ratecard.cli import main
from ratecard.load.folder import shipped_folder
from ratecard.processes.settings import Settings, read_settings
from ratecard.server import application

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))


def manifest(name: str) -> Any:
    return yaml.safe_load((DEPLOY / "kubernetes" / f"{name}.yaml").read_text())


def container() -> Any:
    return manifest("deployment")["spec"]["template"]["spec"]["containers"][0]


def paths(card: ratecard.RateCard) -> set[str]:
    return {route.path for route in application(card).routes if isinstance(route, APIRoute)}


def accepted(command: list[str]) -> bool:
    """Return True if the command line is understood, up to `--help`."""
    return CliRunner().invoke(main, [*command, "--help"]).exit_code == 0


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_a_manifest_is_what_kubernetes_takes(path: Path) -> None:
    found = yaml.safe_load(path.read_text())
    kubernetes_validate.validate(found, "1.33", strict=True)
    found["spec"]["replica"] = 2
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(found, "1.33", strict=True)


def test_the_settings_of_the_deployment_are_settings() -> None:
    given = {each["name"]: each.get("value", "a-secret-of-16-or-more") for each in container()["env"]}
    settings = read_settings({}, given)
    pod = manifest("deployment")["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > settings.drain + settings.grace
    assert container()["ports"][0]["containerPort"] == settings.port
    assert str(settings.keys_file).startswith(container()["volumeMounts"][1]["mountPath"])
    assert container()["args"] == [container()["volumeMounts"][0]["mountPath"]]
    assert settings.state is not None
    assert str(settings.state.parent) == container()["volumeMounts"][2]["mountPath"]
    # A probe needs less time than this to notice that it is not ready.
    probe = container()["readinessProbe"]
    assert settings.drain > probe["periodSeconds"] * probe.get("failureThreshold", 3)


def test_the_replicas_share_what_they_served_on_a_volume_that_many_may_write() -> None:
    claim = manifest("state")
    pod = manifest("deployment")["spec"]["template"]["spec"]
    assert pod["volumes"][2]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsUser"]
    assert "readOnly" not in container()["volumeMounts"][2]


def test_every_probe_asks_a_path_that_is_there(card: ratecard.RateCard) -> None:
    probes = [container()[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")]
    assert {each["path"] for each in probes} == {"/readyz", "/livez"} <= paths(card)
    assert {each["port"] for each in probes} == {container()["ports"][0]["name"]}
    assert manifest("service")["spec"]["ports"][0]["targetPort"] == container()["ports"][0]["name"]


def test_all_of_it_selects_the_same_pods() -> None:
    labels = manifest("deployment")["spec"]["template"]["metadata"]["labels"]
    assert manifest("deployment")["spec"]["selector"]["matchLabels"] == labels
    assert manifest("service")["spec"]["selector"] == labels
    assert manifest("disruption")["spec"]["selector"]["matchLabels"] == labels


def test_the_tables_of_a_config_map_are_the_tables(card: ratecard.RateCard, tmp_path: Path) -> None:
    command = [sys.executable, str(DEPLOY / "configmap.py"), str(shipped_folder())]
    made = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    kubernetes_validate.validate(made, "1.33", strict=True)
    assert all(re.fullmatch(r"[-._a-zA-Z0-9]+", key) for key in made["data"])
    volumes = manifest("deployment")["spec"]["template"]["spec"]["volumes"]
    assert made["metadata"]["name"] == volumes[0]["configMap"]["name"]
    mount = Mount(tmp_path / "tables")
    mount.put({name: text.encode() for name, text in made["data"].items()})
    assert ratecard.load_rate_card(mount.folder).digest == card.digest


def test_tables_that_a_config_map_cannot_hold_are_refused(tmp_path: Path) -> None:
    (tmp_path / "large.yaml").write_text("#" * 2**20 + "\n")
    command = [sys.executable, str(DEPLOY / "configmap.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "a ConfigMap holds 1048576" in done.stderr


def test_the_image_is_made_of_what_is_there(card: ratecard.RateCard) -> None:
    lines = [line for line in (DEPLOY / "Dockerfile").read_text().splitlines() if line and not line.startswith("#")]
    steps = [(line.split()[0], line.partition(" ")[2]) for line in lines]
    known = {"FROM", "ARG", "WORKDIR", "COPY", "RUN", "ENV", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT"}
    assert {name for name, _ in steps} == known
    given = dict(steps)
    environment = dict(each.split("=", 1) for each in given["ENV"].split() if each.startswith("RATECARD_"))
    assert str(read_settings({}, environment).port) == given["EXPOSE"]
    assert accepted(json.loads(given["ENTRYPOINT"])[1:])
    check = json.loads(given["HEALTHCHECK"].removeprefix("CMD "))
    compile(check[2], "HEALTHCHECK", "exec")
    assert re.findall(r"127\.0\.0\.1:8000(/\w+)", check[2])[0] in paths(card)
    # The installed constraints and extra, and a user without rights.
    install = next(text for name, text in steps if name == "RUN")
    assert (ROOT / "constraints.txt").is_file()
    assert all(words in install for words in ("-c constraints.txt", "'.[server]'"))
    assert not given["USER"].startswith(("0", "root"))


def test_the_unit_starts_the_server_with_settings_that_are_settings() -> None:
    text = (DEPLOY / "ratecard.service").read_text()
    [start] = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    program, *command = shlex.split(start)
    assert Path(program).name == "ratecard"
    assert accepted(command)
    settings = read_settings({"config": DEPLOY / "settings.toml"}, {})
    [stop] = re.findall(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE)
    assert int(stop) > settings.drain + settings.grace
    [state] = re.findall(r"^StateDirectory=(.*)$", text, re.MULTILINE)
    assert str(settings.state) == f"/var/lib/{state}/served"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    text = (DEPLOY / "ratecard.service").read_text().replace("/usr/local/bin/ratecard", sys.executable)
    unit = tmp_path / "ratecard.service"
    unit.write_text(text)
    command = ["systemd-analyze", "verify", "--man=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    unit.write_text(text.replace("KillMode=mixed", "KillMood=mixed"))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "KillMood" in done.stderr


def test_the_proxy_keeps_connections_for_a_shorter_time_than_the_server() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    [kept] = re.findall(r"keepalive_timeout (\d+)s;", text)
    assert int(kept) < Settings().keep_alive
    assert f"client_max_body_size {Settings().body_bytes // 2**20}m;" in text
