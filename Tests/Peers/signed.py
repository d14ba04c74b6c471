#!/usr/bin/env python3
"""Tests of signed links with independent implementations: pymavlink signs MAVLink 2, Python's hmac signs a rider's datagrams.

    signed.py --port MAVLINK_PORT --rider RIDER_PORT --passphrase TEXT --socket DIAGNOSTICS_SOCKET

with airframed's mavlink.require_signature and rider.require_signature true, and the passphrase in both key files.
"""
import argparse, hashlib, hmac, socket, time

from ground_station import EARTH, LOCK, Daemon, Peer, everybody, expect, m
from rider import Remote


def mavlink(port, passphrase, daemon):
    def peer(system, text=None):
        station = Peer(port, system, 190)
        if text:
            station.link.setup_signing(hashlib.sha256(text.encode()).digest(), sign_outgoing=True)
        everybody.append(station)
        station.pump(1.2)
        return station

    configure = (m.MAV_CMD_DO_GIMBAL_MANAGER_CONFIGURE, -2, -2, -1, -1)
    for station, words in (peer(251), "an unsigned station"), (peer(252, "another passphrase"), "a station with a wrong key"):
        expect(station.command(*configure, seconds=0.5, silent_ok=True) is None and not station.seen, f"{words} receives no answer and no other message")
        station.is_silent = True
    friend = peer(255, passphrase)
    expect(friend.next("HEARTBEAT") and friend.bad == 0, "a station with the key receives the gimbal's frames with valid signatures")
    expect(friend.take() == "ACCEPTED" and friend.point(-20, 0, LOCK | EARTH) == "ACCEPTED", "the station with the key takes control and points the camera")
    friend.arrives(-20, 0)

    sent = []
    write = friend.link.write
    friend.link.write = lambda frame: (sent.append(bytes(frame)), write(frame))
    expect(friend.point(10, 0, LOCK | EARTH) == "ACCEPTED", "the station points the camera elsewhere while its frames are recorded")
    friend.arrives(10, 0)
    expect(friend.point(-20, 0, LOCK | EARTH) == "ACCEPTED", "the station points the camera back")
    friend.arrives(-20, 0)
    friend.link.write = write
    before = daemon.link("mavlink")["unsigned"]
    thief = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for frame in sent * 5:
        thief.sendto(frame, ("127.0.0.1", port))
    friend.pump(1)
    refused = daemon.link("mavlink")["unsigned"] - before
    expect(refused == 5 * len(sent), f"{5 * len(sent)} replayed frames are refused and counted: {refused}")
    expect(abs(friend.angles()[0] + 20) < 1, "the camera does not move")

    stranger = Peer(port, 250, 1)
    stranger.mav.command_long_send(1, 154, m.MAV_CMD_DO_FLIGHTTERMINATION, 0, 1, 0, 0, 0, 0, 0, 0)
    friend.pump(0.5)
    expect(daemon.ask("status")["inhibitions"][0]["name"] == "emergency_stop", "an unsigned emergency stop is executed")
    stranger.mav.command_long_send(1, 154, m.MAV_CMD_COMPONENT_ARM_DISARM, 0, 1, 21196, 0, 0, 0, 0, 0)
    friend.pump(0.5)
    expect(daemon.ask("status")["inhibitions"][0]["name"] == "emergency_stop", "an unsigned reset of the stop is ignored")
    expect(friend.command(m.MAV_CMD_COMPONENT_ARM_DISARM, 1, 21196) == "ACCEPTED", "a signed reset of the stop is executed")
    expect(friend.bad == 0, "every frame of the gimbal had a valid signature")


def rider(port, passphrase, daemon):
    app, thief = Remote(port), Remote(port)
    key = hashlib.sha256(passphrase.encode()).digest()
    counter = int(time.time() * 1000)

    def sealed(text):
        nonlocal counter
        counter += 1
        code = hmac.new(key, f"{counter} {text}".encode(), hashlib.sha256).hexdigest()[:32]
        return f"{counter} {code} {text}"

    def wheels():
        time.sleep(0.3)
        link = daemon.link("rider")
        return link["left_percent"], link["right_percent"]

    for _ in range(3):
        thief.raw("0,0,0")
        thief.raw("80,80,0")
    expect(wheels() == (0, 0), "datagrams without a code do not turn the wheels")
    # The first datagram only sets the counter that must be saved before a command is accepted.
    for _ in range(3):
        app.raw(sealed("0,0,0"))
        time.sleep(0.1)
    heard = [sealed("60,60,0") for _ in range(20)]
    for datagram in heard:
        app.raw(datagram)
        time.sleep(0.05)
    # The dead-man time can expire during a pause of a busy computer.
    end = time.monotonic() + 5
    while (turning := wheels()) != (60, 60) and time.monotonic() < end:
        app.raw(sealed("60,60,0"))
    expect(turning == (60, 60), "datagrams with a valid code turn the wheels")
    app.raw(sealed("0,0,0"))
    for datagram in heard:
        thief.raw(datagram)
        time.sleep(0.05)
    expect(wheels() == (0, 0), "replayed datagrams do not turn the wheels")
    thief.raw('{"command":"emergency_stop"}')
    time.sleep(0.3)
    expect(daemon.ask("status")["inhibitions"][0]["name"] == "emergency_stop", "an emergency stop without a code is executed")
    app.raw(sealed('{"command":"reset_emergency_stop"}'))
    time.sleep(0.3)
    expect(daemon.ask("status").get("stopped_by") is None, "a sender with the key resets the stop")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("port", "rider"):
        parser.add_argument(f"--{name}", type=int, required=True)
    for name in ("passphrase", "socket"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    daemon = Daemon(options.socket)
    mavlink(options.port, options.passphrase, daemon)
    rider(options.rider, options.passphrase, daemon)


if __name__ == "__main__":
    main()
