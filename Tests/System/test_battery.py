"""A battery reported by the kernel (module airframe_power) in status and doctor, over MAVLink and in the log; then the supply
monitor."""
# lab: --bluetooth off --own-time --mips 500
import socket, struct, subprocess, time
from pathlib import Path

from board import Board
from plant import PWM

board = Board([PWM])
check, until = board.check, board.until
PORT = 14560


def set_battery(**values):
    for name, value in values.items():
        (Path("/sys/kernel/debug/airframe_power") / name).write_text(str(value))


def start(settings):
    board.start(f'[motors]\ntype = "servo"\n[battery]\n{settings}[mavlink]\nlisten = "127.0.0.1:{PORT}"\n')


def battery():
    return board.status()["battery"]


def frame_of_battery(seconds=60):
    """Payload of the next BATTERY_STATUS. A ground station's heartbeat registers the peer; MAVLink 2, without a signature."""
    heartbeat = bytes([0xFD, 9, 0, 0, 0, 255, 190, 0, 0, 0, 0, 0, 0, 0, 6, 8, 0, 4, 3])
    crc = 0xFFFF
    for byte in [*heartbeat[1:], 50]:
        value = byte ^ (crc & 0xFF)
        value = (value ^ (value << 4)) & 0xFF
        crc = (crc >> 8) ^ (value << 8) ^ (value << 3) ^ (value >> 4)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.settimeout(1)
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            peer.sendto(heartbeat + struct.pack("<H", crc), ("127.0.0.1", PORT))
            try:
                data = peer.recv(300)
            except TimeoutError:
                continue
            if data[0] == 0xFD and data[7:10] == bytes([147, 0, 0]):
                return (data[10:10 + data[1]] + bytes(54))[:54]


def main():
    subprocess.run(["modprobe", "airframe_power"], check=True)
    start('source = "power_supply"\n')
    until(lambda: battery().get("name") == "lab_battery", "airframed reads the fuel gauge")
    now = battery()
    check((now["state"], now["percent"], now["voltage_v"], now["current_a"]) == ("discharging", 80, 7.6, 0.5), f"status: {now}")
    lines = [c["finding"] for c in board.ctl("doctor")["checks"] if c["name"] == "battery"]
    check(lines == ["lab_battery discharging, 80 %, 7.60 V, 0.50 A, 25 °C"], f"doctor: {lines}")
    payload = frame_of_battery()
    check(payload is not None, "BATTERY_STATUS arrives")
    millivolts, = struct.unpack_from("<H", payload, 10)
    current, = struct.unpack_from("<h", payload, 30)
    check((millivolts, current, payload[35], payload[40]) == (7600, 50, 80, 1), f"{millivolts} mV, {current * 10} mA, {payload[35]} %, state {payload[40]}")
    set_battery(capacity=9)
    until(lambda: battery()["low"], "airframed reports a low battery")
    until(lambda: "Battery: lab_battery discharging, 9 %" in (board.folder / "log").read_text(), "the log contains the low battery")
    set_battery(present=0)
    until(lambda: "not present" in (battery().get("problem") or ""), "airframed reports a removed battery")
    board.end()
    start('source = "hwmon"\ndevice = "lab_ina"\nempty_v = 9.6\nfull_v = 12.6\n')
    until(lambda: battery().get("name") == "lab_ina", "airframed reads the supply monitor")
    now = battery()
    check(now["voltage_v"] == 12.1 and now["current_a"] == 0.85 and abs(now["percent"] - 83.33) < 0.1, f"status: {now}")
    board.end()
    board.done()


main()
