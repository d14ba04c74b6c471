"""Outputs over kernel interfaces: servos at /sys/class/pwm in the closed loop, the GPIO line that switches their power, a
shutter on a GPIO line, a sensor's bus that hangs, and brushless motors on a PCA9685 with a separate bus.
"""
# lab: --bluetooth off --own-time
import glob, json, os, socket, subprocess, time
from pathlib import Path

from board import Board
from plant import ACCEL, DEBUGFS, GYRO, PWM, Chip, Plant, gpio_chip, gpio_line, gpio_trace, gpio_trace_clear, pwm_channel
from stalls import METER

POWER = 17
SHUTTER = 20
RIDER = 0x16
board = Board([ACCEL, GYRO, PWM, RIDER])
check, until, comes_on, start, end = board.check, board.until, board.comes_on, board.start, board.end


def shutter():
    """Takes two photos with `airframectl shoot`: each must cause one pulse of 0.2 s on the shutter's line."""
    shot = board.folder / "shot.toml"
    shot.write_text(f"""[[frame]]
[[frame]]
yaw = 5
[still]
error_deg = 5
rate_dps = 20
patience_s = 5
[shutter]
kind = "gpio"
gpio_chip = "{gpio_chip()}"
gpio_line = {SHUTTER}
pulse_s = 0.2
""")
    gpio_trace_clear()
    METER.take()
    done = subprocess.run([*board.control, "shoot", shot], capture_output=True, text=True, timeout=90)
    check(done.returncode == 0, f"a shot with two photos: {(done.stdout + done.stderr).strip().splitlines()[-1:]}")
    edges = []
    for time_ns, levels in gpio_trace():
        level = levels >> SHUTTER & 1
        if level != (edges[-1][1] if edges else 0):
            edges.append((time_ns, level))
    check([level for _, level in edges] == [1, 0, 1, 0], f"the shutter line has two pulses: {[level for _, level in edges]}")
    pulses = [(edges[n + 1][0] - edges[n][0]) / 1e9 for n in (0, 2)]
    longest = 0.4 + METER.take()
    check(all(0.2 <= pulse < longest for pulse in pulses), f"each pulse lasts 0.2 s: {', '.join(f'{pulse:.3f}' for pulse in pulses)} s")
    check(not gpio_line(SHUTTER)[2], "airframectl has released the shutter line")


def servos(plant):
    chip = next(p for p in glob.glob("/sys/class/pwm/pwmchip*") if "airframe-lab" in os.path.realpath(p))
    hardware = f"""motors = "pwm"
pwm_chip = "{chip}"
gpio_chip = "{gpio_chip()}"
power_line = {POWER}
[motors]
type = "servo"
"""
    start(hardware)
    comes_on(lambda: plant.is_driven, "the servos receive pulses")
    level, is_output, is_taken = gpio_line(POWER)
    check((level, is_output, is_taken) == (1, True, True), "the power line is on")
    on, period, duty, _ = pwm_channel(1)
    check(on and abs(period - 1e9 / 333) < 2, f"the period of the pulses is {period} ns")
    check(900_000 < duty < 2_100_000, f"the duration of a pulse is {duty} ns")
    answer = board.status()
    check("line 17" in answer["motors"]["cut_off"], f"status: {answer['motors']['cut_off']}")

    board.ctl("mode", "inactive")
    until(lambda: gpio_line(POWER)[0] == 0 and not plant.is_driven, "mode inactive: power off, no pulses")
    asked = subprocess.Popen([*board.control, "motor", "test", "roll", "--yes", "--duration", "30"], stdout=subprocess.DEVNULL)
    until(lambda: pwm_channel(1)[2] > 0 and gpio_line(POWER)[0] == 1, "motor test: roll gets pulses, power is on")
    seen = [pwm_channel(1)[2] for _ in range(300) if not time.sleep(0.01)]
    check(max(seen) - min(d for d in seen if d) > 40_000, f"the pulse duration of roll changes: {min(d for d in seen if d)}...{max(seen)} ns")
    check(pwm_channel(0)[2] == 0 and pwm_channel(2)[2] == 0, "yaw and pitch receive no pulses")
    asked.kill()
    until(lambda: gpio_line(POWER)[0] == 0 and not pwm_channel(1)[0], "the motor test ends automatically when its client is killed")
    board.ctl("mode", "locked")
    comes_on(lambda: plant.is_driven, "mode locked: the servos receive pulses")

    board.closes_loop(plant)
    shutter()

    chip = Chip(ACCEL)
    chip.fail(6)
    until(lambda: gpio_line(POWER)[0] == 0, "the accelerometer does not answer: power is off")
    until(lambda: not plant.is_driven, "the servos receive no pulses")
    chip.fail(0)
    comes_on(lambda: plant.is_driven and gpio_line(POWER)[0] == 1, "the accelerometer answers again: power and pulses are on")

    (DEBUGFS / "i2c-0x18/delay_us").write_text("4000000")
    until(lambda: gpio_line(POWER)[0] == 0, "the sensor's bus hangs: power is off")
    until(lambda: not pwm_channel(0)[0], "the servos receive no pulses")
    (DEBUGFS / "i2c-0x18/delay_us").write_text("0")
    comes_on(lambda: plant.is_driven and gpio_line(POWER)[0] == 1, "the bus works again: power and pulses are on")

    end()
    check(gpio_line(POWER)[0] == 0 and not gpio_line(POWER)[2], "the power line is off, and airframed has released it")
    check(not any(pwm_channel(n)[0] for n in range(3)), "no pulses after the end of airframed")

    start(hardware)
    comes_on(lambda: plant.is_driven, "the servos receive pulses from channels that are already exported")
    before = [pwm_channel(n)[3] for n in range(3)]
    time.sleep(2)
    writes = [pwm_channel(n)[3] - b for n, b in zip(range(3), before)]
    check(all(w <= 2 * 100 + 20 for w in writes), f"at most one write per tick and channel: {writes} writes in 2 s at 100 Hz")
    board.daemon.kill()
    board.daemon.wait()
    until(lambda: not gpio_line(POWER)[2], "airframed is killed: the kernel has released the power line")
    start(hardware)
    comes_on(lambda: board.status().get("enabled"), "the outputs are on after a restart")
    end()
    check(not any(pwm_channel(n)[0] for n in range(3)), "no pulses after the second end of airframed")


def brushless(plant):
    own = board.folder / "i2c-motors"
    own.symlink_to("/dev/i2c-1")
    gpio_trace_clear()
    start(f"""motors = "pca9685"
motor_bus = "{own}"
motor_channels = [0, 3, 6]
gpio_chip = "{gpio_chip()}"
power_line = {POWER}
power_active_low = true
[motors]
type = "field"
""")
    # The line is high for about a second, which a stall of the machine can hide; the trace shows it also later.
    until(lambda: gpio_line(POWER) == (1, True, True) or any(levels >> POWER & 1 for _, levels in gpio_trace()), "output enable is high (off) from the start")
    chip = Chip(PWM)

    def duties():
        data = chip.read(0x06, 36)
        return [data[4 * n + 2] | data[4 * n + 3] << 8 for n in range(9)]

    until(lambda: all(0 < d < 4096 for d in duties()), "airframed drives nine outputs")
    until(lambda: gpio_line(POWER)[0] == 0, "output enable is low (on)")
    check(chip.read(0xFE)[0] == 3, "the prescaler is 3, for the highest PWM frequency")
    time.sleep(1)
    now = duties()
    for axis in range(3):
        phases = now[3 * axis : 3 * axis + 3]
        check(abs(max(phases) + min(phases) - 4096) <= 2, f"the duty cycles of each motor are centred on the middle: {phases}")
        check(max(phases) - min(phases) > 0.4 * 4096, "the voltages of the phases differ by about half the supply voltage")
    moved = duties()
    until(lambda: duties() != moved, "the duty cycles change with time")
    names = set(Path(f"/proc/{board.daemon.pid}/task/{task}/comm").read_text().strip() for task in os.listdir(f"/proc/{board.daemon.pid}/task"))
    check({"airframed-bus1", "airframed-power"} <= names, "the motors and the power line have separate threads")
    end()
    check(chip.read(0xFD)[0] & 0x10, "all outputs are off at the end")
    check(gpio_line(POWER)[0] == 1 or not gpio_line(POWER)[2], "output enable is off at the end")


def wheels():
    rider = Chip(RIDER)
    start('motors = "none"\n[drive]\nboard = "rider"\nacceleration = 0.5\ndead_man_s = 0.5\n')
    until(lambda: (DEBUGFS / "i2c-0x16/transfers").read_text().strip() != "0", "airframed writes to the board")
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(board.socket))
        answers = client.makefile()

        def ask(left, right):
            client.sendall(json.dumps({"id": 1, "method": "drive", "params": {"left": left, "right": right}}).encode() + b"\n")
            return json.loads(answers.readline())

        answer = ask(0.6, -0.4)
        check("result" in answer, f"drive: {answer}")
        seen = []
        # A stall of the machine that is longer than the dead-man time stops the wheels; then they need more requests.
        while len(seen) < 150 or seen[-1] != (1, 60, 0, 40) and len(seen) < 1000:
            ask(0.6, -0.4)
            seen.append(tuple(rider.read(0, 4)))
            time.sleep(0.02)
        check(seen[-1] == (1, 60, 0, 40), f"the board receives 60 % and -40 %: {seen[-1]}")
        check(len(set(seen)) > 4, f"the speeds change gradually: {sorted(set(s[1] for s in seen))[:6]}")
        until(lambda: tuple(rider.read(0, 4))[1::2] == (0, 0), "the wheels stop when requests end")
        until(lambda: "result" in ask(0.6, 0.6) and rider.read(1)[0] > 0, "the wheels turn again after a new request")
    until(lambda: tuple(rider.read(0, 4))[1::2] == (0, 0), "the wheels stop when the connection ends")
    end()
    check(tuple(rider.read(0, 4))[1::2] == (0, 0), "the wheels are off at the end")


def main():
    plant = Plant("bmi088", "pwm")
    check(gpio_line(POWER) == (0, False, False), "no program drives the power line before the test")
    servos(plant)
    brushless(plant)
    wheels()
    plant.stop()
    board.done()


main()
