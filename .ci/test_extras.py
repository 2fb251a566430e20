"""Installs every extra alone in a clean environment, and runs there what its page says first.

    python .ci/test_extras.py [EXTRA ...]

The wheel is built once; environments are made side by side, from the wheels that pip has in its cache. What a page
says first is looked up in the page, so that neither can change alone. Where something is missing that pip cannot
install, an extra is skipped, and why is said.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "pricing_tables"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]


class Environment:
    """A clean environment with one extra, and an empty folder to work in."""

    def __init__(self, place: Path, wheel: Path, extra: str) -> None:
        self.folder = place / "work"
        self.folder.mkdir(parents=True)
        self.bin = place / "venv" / "bin"
        run([sys.executable, "-m", "venv", "--without-pip", str(place / "venv")], ROOT)
        pip = [*PIP, "--python", str(self.bin / "python")]
        run([*pip, "install", "--no-compile", "-c", str(ROOT / "constraints.txt"), f"{wheel}[{extra}]"], ROOT)
        run([*pip, "check"], ROOT)

    def sh(self, command: str) -> str:
        """Run a command line as the page has it."""
        return run(["sh", "-c", command], self.folder, self.variables())

    def python(self, code: str) -> str:
        """Run Python code as the page has it."""
        return run([str(self.bin / "python"), "-c", code], self.folder, self.variables())

    def variables(self) -> dict[str, str]:
        """The environment variables of a shell that has it activated."""
        left_out = ("PYTHONPATH", "VIRTUAL_ENV")
        own = {name: value for name, value in os.environ.items() if name not in left_out}
        return own | {"PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}", "VIRTUAL_ENV": str(self.bin.parent)}


def run(command: list[str], folder: Path, variables: dict[str, str] | None = None) -> str:
    """What a command prints. Raises `SystemExit` with all that it said where it fails."""
    done = subprocess.run(
        command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\nended with status {done.returncode}:\n{done.stdout}")
    return done.stdout


def first(page: str, language: str, begins: str = "") -> str:
    """The first block of a page in a language (whose line begins so), without the prompt of a console."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        lines = [line.removeprefix("$ ") for line in block.splitlines()]
        if language == "python":
            return block
        found = next((line for line in lines if line.startswith(begins)), None)
        if found is not None:
            return found
    raise SystemExit(f"{page} has no {language} block with '{begins}'")


def simulate(environment: Environment) -> str:
    """The usage that its page makes up, the report of its first simulation in every format, and the what-if page."""
    environment.sh(first("docs/simulation.md", "console", "ratecard demo-usage"))
    command = first("docs/simulation.md", "console", "ratecard simulate")
    found = environment.sh(command)
    assert "Revenue rises" in found, found
    environment.sh(f"{command} --out report.html --out report.xlsx --out report.parquet --out report.csv")
    environment.python("import ratecard.whatif.app, ratecard.whatif.page")
    return command


def spark(environment: Environment) -> str:
    """The first simulation of its page, in a session of Spark."""
    environment.sh("ratecard demo-usage --rows 2000 --seed 7 --out usage.parquet")
    code = first("docs/warehouses.md", "python")
    line = next(line for line in code.splitlines() if "spark.table(" in line)
    session = (
        "from pyspark.sql import SparkSession\n"
        "from ratecard.simulation.simulate import simulate\n"
        "spark = SparkSession.builder.master('local[1]').config('spark.ui.enabled', False).getOrCreate()\n"
        "spark.read.parquet('usage.parquet').createOrReplaceTempView('requests')\n"
    )
    found = environment.python(
        f"{session}{line.replace('usage.requests', 'requests')}\nprint(found.rows)\nspark.stop()"
    )
    # Spark may warn of what it could not clear away after the code has printed the number.
    assert "2000" in found.splitlines(), found
    return line


def server(environment: Environment) -> str:
    """The server of its page, asked what the page asks it; on a port that is free."""
    command = first("docs/server.md", "sh", "RATECARD_API_KEYS=")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = command.replace(" pricing_tables", f" {TABLES}").replace("--port 8000", f"--port {port}")
    assert words.count(str(port)) == 1, words
    with (environment.folder / "log").open("w+", encoding="utf-8") as log:
        started = subprocess.Popen(
            ["sh", "-c", f"exec env {words}"],
            cwd=environment.folder,
            env=environment.variables(),
            stdout=log,
            stderr=log,
        )
        try:
            found = ask(started, f"http://127.0.0.1:{port}/api/v1/video/quote")
        finally:
            started.terminate()
            started.wait(timeout=60)
        log.seek(0)
        assert found == '{"quote":0.77}', f"{found}\n{log.read()}"
    return command


def ask(started: subprocess.Popen[bytes], address: str) -> str:
    """The answer of a server as soon as it listens; nothing where it has ended."""
    body = {"model": "kling-o3-pro-text-to-video", "duration": "5s"}
    headers = {"Authorization": "Bearer open-sesame", "Content-Type": "application/json"}
    request = urllib.request.Request(address, json.dumps(body).encode(), headers)
    end = time.monotonic() + 120
    while started.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return str(answer.read().decode())
        except urllib.error.URLError:
            time.sleep(0.2)
    return ""


MADE = """
import base64, io, av
made = io.BytesIO()
with av.open(made, "w", format="mp4") as out:
    stream = out.add_stream("mpeg4", rate=30)
    stream.width, stream.height = 854, 480
    for _ in range(60):
        for packet in stream.encode(av.VideoFrame(854, 480, "yuv420p")):
            out.mux(packet)
    for packet in stream.encode():
        out.mux(packet)
url = "data:video/mp4;base64," + base64.b64encode(made.getvalue()).decode()
"""


def probe(environment: Environment) -> str:
    """The code of its page, with a video that is made here in place of one from the network."""
    code = first("docs/probe.md", "python")
    lines = [MADE if line.startswith("url = ") else line for line in code.splitlines()]
    assert MADE in lines
    found = environment.python("\n".join([*lines, "print(source.seconds, source.height, quote.total)"]))
    assert found == "2 480 0.05\n", found
    return next(line for line in code.splitlines() if "probe(" in line)


def testing(environment: Environment) -> str:
    """The plugin of pytest on one family of the tables; `make test-tables` tries all."""
    command = first("README.md", "sh", "pytest --rate-card").partition("#")[0].strip()
    folder = environment.folder / "pricing_tables"
    folder.mkdir()
    shutil.copy(TABLES / "video" / "ovi.yaml", folder)
    found = environment.sh(command)
    assert " passed" in found, found
    return command


def everything(environment: Environment) -> str:
    """Every package of the library, reached after `import ratecard`."""
    environment.python("import ratecard; ratecard.server, ratecard.probe, ratecard.testing, ratecard.simulate")
    return environment.sh("ratecard --version").strip()


# The largest first, so that the last ones are short.
EXTRAS: dict[str, Callable[[Environment], str]] = {
    "spark": spark, "all": everything, "simulate": simulate, "server": server, "probe": probe, "testing": testing,
}  # fmt: skip


def skipped(extra: str) -> str:
    """Why an extra cannot be tried here; empty where it can."""
    return "there is no Java here" if extra == "spark" and shutil.which("java") is None else ""


def attempt(extra: str, place: Path, wheel: Path) -> str | None:
    """Say how an extra went; what was wrong with it, if anything."""
    if reason := skipped(extra):
        print(f"test-extras: {extra} skipped: {reason}", flush=True)
        return None
    start = time.monotonic()
    try:
        environment = Environment(place, wheel, extra)
        installed = time.monotonic()
        command = EXTRAS[extra](environment)
    except (SystemExit, Exception) as error:  # noqa: BLE001 - the other extras are tried all the same
        return f"test-extras: {extra} failed: {type(error).__name__}: {error}"
    end = time.monotonic()
    print(
        f"test-extras: {extra}: {installed - start:.0f} s to install, {end - installed:.0f} s for: {command}",
        flush=True,
    )
    shutil.rmtree(place, ignore_errors=True)
    return None


def main() -> None:
    """Try the extras that are named, or all."""
    extras = sys.argv[1:] or list(EXTRAS)
    with TemporaryDirectory(prefix="ratecard-extras-") as made:
        place = Path(made)
        run([*PIP, "wheel", "--no-deps", "--wheel-dir", str(place), str(ROOT)], ROOT)
        wheel = next(place.glob("*.whl"))
        with ThreadPoolExecutor(min(os.cpu_count() or 1, 4)) as pool:
            found = list(pool.map(lambda extra: attempt(extra, place / extra, wheel), extras))
    wrong = [words for words in found if words]
    print("\n\n".join(wrong), file=sys.stderr)
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
