"""airframe-web installed from the Debian package: a service of a real systemd, in its sandbox."""
# lab: --bluetooth off --init systemd
import glob, http.client, json, os, shutil, socket, subprocess, sys, time
from pathlib import Path

UNIT = "airframe-web.service"
CONTROL = "/run/airframe-web/control.sock"
BIN = Path(os.environ.get("BIN", Path(__file__).resolve().parents[2] / ".build/release"))
DAEMON = Path("/run/airframe/airframed.sock")
SHOT = b"""[orbit]
photos = 3
turn = 30
[shutter]
kind = "none"
"""
PACKAGES = sorted(glob.glob(str(Path(__file__).resolve().parents[2] / ".build/airframe-web_*.deb")))


def journal():
    return subprocess.run(["journalctl", "-u", UNIT, "--no-pager", "-o", "cat"], text=True, capture_output=True).stdout


def fail(sentence):
    sys.exit(f"FAIL {sentence}\n{journal()}")


def sh(*command, seconds=120):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, timeout=seconds)
    if done.returncode:
        fail(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def show(name):
    return sh("systemctl", "show", UNIT, "--property", name, "--value")


def until(sentence, is_met, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if is_met():
            return
        time.sleep(0.3)
    fail(f"after {seconds} s still waiting for: {sentence}")


def request(method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", 8088, timeout=10)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()


def ask(method, **params):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(CONTROL)
        client.sendall(json.dumps({"id": 1, "method": method, "params": params}).encode() + b"\n")
        return json.loads(client.makefile().readline())["result"]


if not PACKAGES:
    print("SKIPPED: no .build/airframe-web_*.deb; `make deb-web` builds it")
    sys.exit(0)
sh("dpkg", "--force-depends", "-i", PACKAGES[-1])
if show("ActiveState") == "active":
    fail("the first installation opens a port")
sh("systemctl", "start", UNIT)
status, headers, page = request("GET", "/")
if status != 200 or b"airframe" not in page or "script-src 'self'" not in headers["content-security-policy"]:
    fail(f"the page: {status} {headers}")
print("ok   the service serves the page")

pid = show("MainPID")
if (owner := sh("stat", "-c", "%U:%G", f"/proc/{pid}")) != "airframe-web:airframe":
    fail(f"the service runs as {owner}")
if (mode := sh("stat", "-c", "%a %G", CONTROL)) != "660 airframe":
    fail(f"the socket for codes has mode {mode}")
status, headers, _ = request("POST", "/pair", json.dumps({"code": ask("pair")["code"], "name": "unit"}))
if status != 204:
    fail(f"the pairing: {status}")
cookie = headers["set-cookie"].split(";")[0]
if (mode := sh("stat", "-c", "%a", "/var/lib/airframe-web/browsers.json")) != "600":
    fail(f"the list of browsers has mode {mode}")
print("ok   a browser is paired in the sandbox, and its hash is private")

# The page's shot runs airframectl, which inherits the sandbox.
shutil.copy(BIN / "airframectl", "/usr/bin/airframectl")
DAEMON.parent.mkdir(mode=0o755, exist_ok=True)
daemon = subprocess.Popen([BIN / "airframed", f"--set=diagnostics.socket={DAEMON}", "--set=persistence.directory=/run/airframe/state",
                           "--set=loop.rate_hz=100", "--set=loop.lock_memory=false", "--set=imu.timeout_ms=250",
                           "--set=mode.boot=locked", "--set=hardware.simulation.motion=still"], stderr=subprocess.DEVNULL)
until("airframed's socket", DAEMON.exists)
shutil.chown(DAEMON, group="airframe")
DAEMON.chmod(0o660)
own = {"Cookie": cookie, "Origin": "http://127.0.0.1:8088"}
status, _, body = request("POST", "/shot/plan", SHOT, **own)
if status != 200 or b"3 photos" not in body:
    fail(f"the plan of a shot: {status} {body}")
until("the motors", lambda: subprocess.run(["airframectl", "--socket", DAEMON, "--json", "status"], capture_output=True).stdout.find(b'"running"') > 0)
status, _, body = request("POST", "/shot/start", SHOT, **own)
if status != 200:
    fail(f"the start of a shot: {status} {body}")
until("three photos", lambda: json.loads(request("GET", "/shot", **own)[2])["state"] == "complete", seconds=120)
if show("MainPID") != pid:
    fail("the service has ended while a shot ran")
print("ok   the page's shot is planned and completed inside the sandbox")
daemon.terminate()
daemon.wait(20)

sh("kill", "-9", pid)
until("a restart", lambda: show("ActiveState") == "active" and show("MainPID") not in (pid, "0"))
if not json.loads(request("GET", "/session", Cookie=cookie)[2])["paired"]:
    fail("the token is invalid after the restart of the process")
print("ok   systemd starts it again after kill -9, and the browser is still paired")
if [browser["name"] for browser in ask("revoke", id="all")] != ["unit"]:
    fail("the browser cannot be revoked")
if json.loads(request("GET", "/session", Cookie=cookie)[2])["paired"]:
    fail("a revoked token is still valid")
print("ok   a revoked browser is refused")
sh("systemctl", "stop", UNIT)
if show("Result") != "success":
    fail(f"stop: {show('Result')}")
print(f"ok   the service stops without an error; peak memory {show('MemoryPeak') or 'unknown'}")
