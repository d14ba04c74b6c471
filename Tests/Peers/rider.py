#!/usr/bin/env python3
"""A test of the rider link: sends the datagrams of a rider's remote-control app to airframed with simulated wheels.

    rider.py --port UDP_PORT --socket DIAGNOSTICS_SOCKET
"""
import argparse, json, socket, sys, threading, time

from ground_station import Daemon, expect


class Remote:
    """A remote control with its own socket."""

    def __init__(self, port):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", port))

    def raw(self, text):
        self.socket.send(text if isinstance(text, bytes) else text.encode())

    def send(self, left, right):
        """JSON like that of the app's encoder: whole numbers as integers, keys in any order."""
        self.raw(json.dumps({"timestamp": time.time(), "right": right, "left": left}, separators=(",", ":")))

    def drive(self, left, right, seconds):
        """Sends at 20 Hz, like the app."""
        for _ in range(int(seconds * 20)):
            self.send(left, right)
            time.sleep(0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--socket", required=True)
    options = parser.parse_args()
    daemon, app, stranger = Daemon(options.socket), Remote(options.port), Remote(options.port)

    def link():
        time.sleep(0.25)
        return daemon.link("rider")

    def wheels():
        now = link()
        return now["left_percent"], now["right_percent"]

    def turns(left, right):
        """True as soon as the wheels have these speeds, at the latest after 0.25 s. After a longer pause they stop, because the app
        sends nothing meanwhile."""
        end = time.monotonic() + 0.25
        while True:
            now = daemon.link("rider")
            if (now["left_percent"], now["right_percent"]) == (left, right):
                return True
            if time.monotonic() > end:
                return False
            time.sleep(0.02)

    app.drive(0, 0, 0.5)
    expect(wheels() == (0, 0), "the app sends 0/0, 20 times per second: the wheels do not turn")
    # After a pause longer than the dead-man time, airframed waits for 0/0.
    app.send(0, 0)
    app.drive(60, -40, 1.0)
    expect(turns(60, -40), "the left wheel turns forwards, the right wheel backwards")
    app.drive(250, 100, 1.0)
    expect(turns(100, 100), "the value 250 is limited to 100")
    app.drive(0, 0, 0.5)
    expect(wheels() == (0, 0), "the stick is released: the wheels stop")
    app.send(0, 0)
    app.raw("50,50,0")
    for _ in range(10):
        app.raw("50,50,0")
        time.sleep(0.05)
    expect(turns(50, 50), "a command as text, 50,50,0, turns the wheels")

    before = link()
    for text in ("", "{", '{"left":1}', '{"left":"1","right":2}', '{"left":1e999,"right":0}', "1,2", "1,2,3", "1,x,0", b"\xff\xfe", "[1,2]", "9" * 2000):
        app.raw(text)
    after = link()
    expect(after["malformed"] - before["malformed"] == 11 and after["accepted"] == before["accepted"], "eleven malformed datagrams are counted and have no effect")

    app.drive(40, 40, 0.5)
    end = time.monotonic() + 1.6
    while time.monotonic() < end:
        app.raw("rubbish")
        time.sleep(0.05)
    expect(wheels() == (0, 0), "malformed datagrams do not extend the dead-man time: the wheels stop")
    before = link()["waiting_for_zero"]
    app.drive(40, 40, 0.5)
    expect(wheels() == (0, 0) and link()["waiting_for_zero"] == before + 10, "40/40 does not turn the wheels before the first 0/0")
    app.send(0, 0)
    app.drive(40, 40, 0.5)
    expect(turns(40, 40), "40/40 turns the wheels after 0/0")
    app.send(0, 0)
    time.sleep(1.2)
    expect(wheels() == (0, 0), "the wheels stop after the app's emergency stop, which is one 0/0 and then no datagram")

    app.drive(0, 0, 0.2)
    stop = threading.Event()

    def flood():
        while not stop.is_set():
            for _ in range(10):
                stranger.send(-100, -100)
            time.sleep(0.009)

    thread = threading.Thread(target=flood)
    before = link()
    # The flood begins while the app sends: after a pause of the app, airframed would accept the other sender.
    app.drive(0, 0, 0.2)
    thread.start()
    app.drive(30, 30, 3.0)
    is_turning = turns(30, 30)
    after = link()
    stop.set()
    thread.join()
    accepted, refused = after["accepted"] - before["accepted"], after["refused"] - before["refused"]
    expect(accepted == 64 and is_turning, f"{refused} datagrams of another sender are refused, all {accepted} of the app's 64 datagrams are accepted, and the wheels turn")

    stranger.raw('{"command":"emergency_stop"}')
    app.drive(30, 30, 0.3)
    expect(wheels() == (0, 0) and daemon.ask("status")["inhibitions"][0]["name"] == "emergency_stop", "every sender can request an emergency stop; the stop is latched")
    app.raw('{"command":"reset_emergency_stop"}')
    app.drive(30, 30, 0.3)
    expect(wheels() == (0, 0), "after the reset, the wheels do not turn until the stick has been in the middle")
    app.drive(0, 0, 0.2)
    app.drive(30, 30, 0.5)
    expect(turns(30, 30), "after 0/0 the wheels turn again")


if __name__ == "__main__":
    main()
