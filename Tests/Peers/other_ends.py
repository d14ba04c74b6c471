#!/usr/bin/env python3
"""Tests of the links that airframed opens, with pymavlink as the peer: a serial line and a UDP address. The serial adapter is
plugged in late, and unplugged during the test. The peers of both links compete for the camera.

    other_ends.py --tty PATH --port UDP_PORT --socket DIAGNOSTICS_SOCKET

with airframed's mavlink.serial=PATH and mavlink.connect=127.0.0.1:UDP_PORT. PATH must not exist yet.
"""
import argparse, os, time, tty

from ground_station import EARTH, LOCK, Daemon, Peer, everybody, expect, m, mavutil, step


class Adapter(mavutil.mavfile):
    """A simulated serial adapter: a pseudoterminal whose name exists at `path` while the adapter is plugged in."""

    def __init__(self, path):
        self.path = path
        self.radio, self.port = os.openpty()
        tty.setraw(self.port)
        os.set_blocking(self.radio, False)
        os.symlink(os.ttyname(self.port), self.path)
        self.fd = self.radio
        super().__init__(self.radio, path, source_system=255, source_component=190)

    def pull(self):
        os.remove(self.path)
        os.close(self.port)
        os.close(self.radio)

    def recv(self, n=None):
        # pymavlink takes one message from each read; a read that waits for more bytes would delay messages more and more.
        try:
            return os.read(self.fd, 1024)
        except BlockingIOError:
            return b""

    def write(self, data):
        os.write(self.fd, data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tty", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--socket", required=True)
    options = parser.parse_args()
    daemon = Daemon(options.socket)

    # ---- an address to which airframed sends without a request
    network = mavutil.mavlink_connection(f"udpin:127.0.0.1:{options.port}", source_system=254, source_component=190)
    laptop = Peer(network, 254, 190)
    beat = laptop.next("HEARTBEAT")
    expect((beat.get_srcSystem(), beat.get_srcComponent(), beat.type) == (1, 154, m.MAV_TYPE_GIMBAL), "airframed sends first, to the configured address")
    everybody.append(laptop)
    expect(laptop.take() == "ACCEPTED", "254/190 takes control over UDP")
    expect(laptop.point(-20, 0, LOCK | EARTH) == "ACCEPTED", "the request of pitch -20 is accepted")
    step(f"the camera reaches the requested direction: {laptop.arrives(-20, None)}")

    # ---- a serial line, whose adapter is plugged in now
    adapter = Adapter(options.tty)
    station = Peer(adapter, 255, 190)
    everybody.append(station)
    beat = station.next("HEARTBEAT", 10)
    expect(beat.type == m.MAV_TYPE_GIMBAL, "after the adapter is plugged in, the gimbal sends on the serial line")
    expect(station.point(0, 0, LOCK | EARTH) == "NOT_IN_CONTROL", "a request of 255/190 on the serial line is refused, because 254/190 is in control")
    expect(laptop.command(m.MAV_CMD_DO_GIMBAL_MANAGER_CONFIGURE, -3, -3, -1, -1) == "ACCEPTED", "254/190 releases control")
    expect(station.take() == "ACCEPTED", "255/190 takes control")
    expect(station.point(-30, 0, LOCK | EARTH) == "ACCEPTED", "the request of pitch -30 is accepted")
    step(f"the camera reaches the requested direction: {station.arrives(-30, None)}")
    before = daemon.link("mavlink")["bad_checksums"]
    frame = bytearray(m.MAVLink_command_long_message(1, 154, 1000, 0, 0, 0, 0, 0, 0, 0, 0).pack(station.mav))
    frame[-1] ^= 0x55
    # The gimbal abandons a frame whose rest is 0.1 s late. A busy computer can cause this delay, so there are several attempts.
    for _ in range(5):
        adapter.write(bytes(frame[:10]))
        time.sleep(0.02)
        adapter.write(bytes(frame[10:]))
        if station.pump(1, lambda _: daemon.link("mavlink")["bad_checksums"] > before):
            break
    expect(daemon.link("mavlink")["bad_checksums"] > before, "a frame that is damaged on the serial line is counted")

    # ---- the adapter is unplugged and plugged in again
    everybody.remove(station)
    adapter.pull()
    expect(laptop.pump(2) is None and laptop.next("HEARTBEAT"), "UDP continues after the adapter is unplugged")
    # A new reader: the previous one can contain old messages, which do not show that the new line is open.
    again = Peer(Adapter(options.tty), 255, 190)
    everybody.append(again)
    again.next("HEARTBEAT", 10)
    expect(again.take() == "ACCEPTED", "255/190 takes control again after the adapter is plugged in")
    expect(again.point(5, 0, LOCK | EARTH) == "ACCEPTED", "the request of pitch 5 is accepted")
    step(f"the camera reaches the requested direction: {again.arrives(5, None)}")
    for peer in (laptop, station, again):
        expect(peer.bad == 0, f"every frame to {peer.system}/{peer.component} was decoded: {sum(peer.seen.values())}")


if __name__ == "__main__":
    main()
