"""The drop-ins for the sandbox in the Debian package, under a real systemd: servos at the board's PWM chip, the GPIO line of
their power, and MAVLink over UDP. Run `make deb` first.
"""
# lab: --init systemd --bluetooth off --own-time
import glob, os, shutil, socket
from pathlib import Path

from plant import ACCEL, GYRO, PWM, Plant, gpio_chip, gpio_line
from service import UNIT, Service, sh, skip_unless_possible, status_text

skip_unless_possible()
POWER, PORT = 17, 14550
service = Service([ACCEL, GYRO, PWM])
check, until, comes_on = service.check, service.until, service.comes_on

service.install()
folder = Path(f"/etc/systemd/system/{UNIT}.d")
folder.mkdir(parents=True)
for name in ("pwm.conf", "network.conf"):
    shutil.copy(f"/usr/share/doc/airframe/examples/{name}", folder)
chip = next(path for path in glob.glob("/sys/class/pwm/pwmchip*") if "airframe-lab" in os.path.realpath(path))
plant = Plant(pwm=True)
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer.settimeout(60)
peer.bind(("127.0.0.1", PORT))
service.start(f"""motors = "pwm"
pwm_chip = "{chip}"
gpio_chip = "{gpio_chip()}"
power_line = {POWER}
""", f"""[mavlink]
connect = "127.0.0.1:{PORT}"
""")
comes_on(lambda: plant.is_driven, "the sandboxed service drives servos at the board's PWM chip")
check(gpio_line(POWER)[0] == 1, "the power of the servos is on")
until(lambda: status_text().startswith("Stabilising"), "STATUS begins with Stabilising")
service.closes_loop(plant)
data, address = peer.recvfrom(300)
check(data[0] == 0xFD and address[0] == "127.0.0.1", "MAVLink arrives over UDP")
sh("systemctl", "stop", UNIT)
until(lambda: gpio_line(POWER)[0] == 0 and not plant.is_driven, "after the stop, power is off and there are no pulses")
plant.stop()
service.done()
