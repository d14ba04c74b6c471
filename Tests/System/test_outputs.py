"""Outputs over kernel interfaces: servos at /sys/class/pwm in the closed loop, the GPIO line that switches their power, a
sensor's bus that hangs, and brushless motors on a PCA9685 with a bus of their own.
"""
# lab: --bluetooth off
import glob, json, os, signal, socket, subprocess, tempfile, time
from pathlib import Path

from checks import Checks
from plant import ACCEL, DEBUGFS, PWM, Chip, Plant, gpio_line, pwm_channel

BIN = Path(os.environ["BIN"])
FOLDER = Path(tempfile.mkdtemp())
SOCKET = FOLDER / "airframed.sock"
CTL = [BIN / "airframectl", "--socket", SOCKET]
POWER = 17
COMMON = f"""
[loop]
rate_hz = 100
lock_memory = false
[imu]
timeout_ms = 250
[control]
find_inertia = false
[servo]
delay_ms = 15
lag_ms = 20
tracker_bandwidth = 15
[diagnostics]
socket = "{SOCKET}"
[persistence]
directory = "{FOLDER}/state"
"""


def ctl(*arguments):
    done = subprocess.run([*CTL, "--json", *arguments], capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else {"error": done.stderr}


def status():
    return ctl("status")


def explain():
    print(json.dumps(status(), indent=1)[:7000])
    print((FOLDER / "log").read_text()[-3000:])


def recover():
    ctl("stop", "--reset")
    ctl("mode", "locked")


check = Checks(explain, recover)





def start(hardware):
    (FOLDER / "airframed.toml").write_text(f'[hardware]\nbackend = "linux"\n[hardware.linux]\nimu_self_test = false\n{hardware}{COMMON}')
    SOCKET.unlink(missing_ok=True)
    with open(FOLDER / "log", "a") as log:
        daemon = subprocess.Popen([BIN / "airframed", "--config", FOLDER / "airframed.toml"], stdout=log, stderr=log)
    check.until(SOCKET.exists, "the daemon answers")
    return daemon


def end(daemon):
    began = time.monotonic()
    daemon.send_signal(signal.SIGTERM)
    check(daemon.wait(60) == 0, f"SIGTERM ends it: {time.monotonic() - began:.2f} s")


def servos(plant):
    chip = next(p for p in glob.glob("/sys/class/pwm/pwmchip*") if "airframe-lab" in os.path.realpath(p))
    gpio = next(line.split()[0] for line in os.popen("gpiodetect") if "airframe-lab" in line)
    hardware = f"""motors = "pwm"
pwm_chip = "{chip}"
gpio_chip = "/dev/{gpio}"
power_line = {POWER}
[motors]
type = "servo"
"""
    daemon = start(hardware)
    check.until(lambda: plant.is_driven, "pulses come")
    level, is_output, is_taken = gpio_line(POWER)
    check((level, is_output, is_taken) == (1, True, True), "the power line is on")
    on, period, duty, _ = pwm_channel(1)
    check(on and abs(period - 1e9 / 333) < 2, f"a frame is {period} ns")
    check(900_000 < duty < 2_100_000, f"a pulse is {duty} ns")
    answer = status()
    check("line 17" in answer["motors"]["cut_off"], f"status: {answer['motors']['cut_off']}")

    ctl("mode", "inactive")
    check.until(lambda: gpio_line(POWER)[0] == 0 and not plant.is_driven, "mode inactive: power off, no pulses")
    asked = subprocess.Popen(CTL + ["motor", "test", "roll", "--yes", "--duration", "30"], stdout=subprocess.DEVNULL)
    check.until(lambda: pwm_channel(1)[2] > 0 and gpio_line(POWER)[0] == 1, "motor test: roll gets pulses, power is on")
    seen = [pwm_channel(1)[2] for _ in range(300) if not time.sleep(0.01)]
    check(max(seen) - min(d for d in seen if d) > 40_000, f"it swings: {min(d for d in seen if d)}...{max(seen)} ns")
    check(pwm_channel(0)[2] == 0 and pwm_channel(2)[2] == 0, "yaw and pitch get none")
    asked.kill()
    check.until(lambda: gpio_line(POWER)[0] == 0 and not pwm_channel(1)[0], "its client killed: it stops by itself")
    ctl("mode", "locked")
    check.until(lambda: plant.is_driven, "mode locked: pulses come")

    check.closes_loop(plant)

    chip = Chip(ACCEL)
    chip.fail(6)
    check.until(lambda: gpio_line(POWER)[0] == 0, "a dead accelerometer: power off")
    check.until(lambda: not plant.is_driven, "and no pulses")
    chip.fail(0)
    check.until(lambda: plant.is_driven and gpio_line(POWER)[0] == 1, "it is back: power and pulses on")

    (DEBUGFS / "i2c-0x18/delay_us").write_text("4000000")
    check.until(lambda: gpio_line(POWER)[0] == 0, "the sensor's bus hangs: power off")
    check.until(lambda: not pwm_channel(0)[0], "and no pulses")
    (DEBUGFS / "i2c-0x18/delay_us").write_text("0")
    check.until(lambda: plant.is_driven and gpio_line(POWER)[0] == 1, "it goes on: power and pulses on")

    end(daemon)
    check(gpio_line(POWER)[0] == 0 and not gpio_line(POWER)[2], "the power line is off, and free")
    check(not any(pwm_channel(n)[0] for n in range(3)), "no pulses at the end")

    daemon = start(hardware)
    check.until(lambda: plant.is_driven, "pulses come again, from exported channels")
    before = [pwm_channel(n)[3] for n in range(3)]
    time.sleep(2)
    writes = [pwm_channel(n)[3] - b for n, b in zip(range(3), before)]
    check(all(w <= 2 * 100 + 20 for w in writes), f"at most a write a tick and channel: {writes} in 2 s at 100 Hz")
    daemon.kill()
    daemon.wait(10)
    check.until(lambda: not gpio_line(POWER)[2], "killed: the kernel has the power line back")
    daemon = start(hardware)
    check.until(lambda: status().get("enabled"), "started again after that")
    end(daemon)
    check(not any(pwm_channel(n)[0] for n in range(3)), "no pulses at the end of that")


def brushless(plant):
    own = FOLDER / "i2c-motors"
    own.symlink_to("/dev/i2c-1")
    gpio = next(line.split()[0] for line in os.popen("gpiodetect") if "airframe-lab" in line)
    daemon = start(f"""motors = "pca9685"
motor_bus = "{own}"
motor_channels = [0, 3, 6]
gpio_chip = "/dev/{gpio}"
power_line = {POWER}
power_active_low = true
[motors]
type = "field"
""")
    check.until(lambda: gpio_line(POWER) == (1, True, True), "output enable is high, off, from the beginning")
    chip = Chip(PWM)

    def duties():
        data = chip.read(0x06, 36)
        return [data[4 * n + 2] | data[4 * n + 3] << 8 for n in range(9)]

    check.until(lambda: all(0 < d < 4096 for d in duties()), "nine outputs are driven")
    check.until(lambda: gpio_line(POWER)[0] == 0, "output enable is low, on")
    check(chip.read(0xFE)[0] == 3, "prescaler 3, the fastest")
    time.sleep(1)
    now = duties()
    for axis in range(3):
        phases = now[3 * axis : 3 * axis + 3]
        check(abs(max(phases) + min(phases) - 4096) <= 2, f"space vector around the middle: {phases}")
        check(max(phases) - min(phases) > 0.4 * 4096, "at about half the supply")
    moved = duties()
    check.until(lambda: duties() != moved, "the field moves")
    names = set(Path(f"/proc/{daemon.pid}/task/{task}/comm").read_text().strip() for task in os.listdir(f"/proc/{daemon.pid}/task"))
    check({"airframed-bus1", "airframed-power"} <= names, "the motors and the line have threads of their own")
    end(daemon)
    check(chip.read(0xFD)[0] & 0x10, "all outputs off at the end")
    check(gpio_line(POWER)[0] == 1 or not gpio_line(POWER)[2], "output enable off at the end")


def wheels():
    board = Chip(0x16)
    daemon = start('motors = "none"\n[drive]\nboard = "rider"\nacceleration = 0.5\ndead_man_s = 0.5\n')
    check.until(lambda: (DEBUGFS / "i2c-0x16/transfers").read_text().strip() != "0", "the board is written to")
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(SOCKET))
        answers = client.makefile()

        def ask(left, right):
            client.sendall(json.dumps({"id": 1, "method": "drive", "params": {"left": left, "right": right}}).encode() + b"\n")
            return json.loads(answers.readline())

        answer = ask(0.6, -0.4)
        check("result" in answer, f"drive: {answer}")
        seen = []
        for _ in range(150):
            ask(0.6, -0.4)
            seen.append(tuple(board.read(0, 4)))
            time.sleep(0.02)
        check(seen[-1] == (1, 60, 0, 40), f"60 % and -40 % arrive: {seen[-1]}")
        check(len(set(seen)) > 4, f"by a ramp: {sorted(set(s[1] for s in seen))[:6]}")
        check.until(lambda: tuple(board.read(0, 4))[1::2] == (0, 0), "nobody asks any more: they stand")
        ask(0.6, 0.6)
        check.until(lambda: board.read(1)[0] > 0, "they turn again")
    check.until(lambda: tuple(board.read(0, 4))[1::2] == (0, 0), "the connection is gone: they stand")
    end(daemon)
    check(tuple(board.read(0, 4))[1::2] == (0, 0), "off at the end")


def main():
    subprocess.run(["modprobe", "airframe_lab", "bus=1", "chips=0x18,0x68,0x40,0x16"], check=True)
    (FOLDER / "state").mkdir()
    plant = Plant(pwm=True)
    check(gpio_line(POWER) == (0, False, False), "nobody drives the power line before")
    servos(plant)
    brushless(plant)
    wheels()
    plant.stop()
    print(f"  {check.count} checks", flush=True)


main()
