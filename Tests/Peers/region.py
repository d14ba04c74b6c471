#!/usr/bin/env python3
"""Regions of interest with pymavlink: a ground station selects a place and another vehicle, an autopilot reports the position of
the gimbal's vehicle, and the camera points at them.

    region.py --port UDP_PORT --socket DIAGNOSTICS_SOCKET
"""
import argparse, math, time

from ground_station import EARTH, LOCK, Daemon, Peer, everybody, expect, m, step

HERE = (52.0, 13.0, 100.0)                       # latitude, longitude, altitude above sea level
METRES = 6371008.8 * math.pi / 180               # metres per degree of latitude


def offset(north, east, up):
    """The place at these distances in metres from home."""
    return HERE[0] + north / METRES, HERE[1] + east / METRES / math.cos(math.radians(HERE[0])), HERE[2] + up


def position(peer, place, speed=(0, 0, 0), home=90.0):
    lat, lon, alt = place
    peer.mav.global_position_int_send(0, round(lat * 1e7), round(lon * 1e7), round(alt * 1e3), round((alt - home) * 1e3),
                                      *[round(100 * v) for v in speed], 65535)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--socket", required=True)
    options = parser.parse_args()
    daemon = Daemon(options.socket)
    station = Peer(options.port, 255, 190)
    pilot = Peer(options.port, 1, 1, m.MAV_TYPE_QUADROTOR)
    other = Peer(options.port, 7, 1, m.MAV_TYPE_GROUND_ROVER)
    everybody.extend([station, pilot, other])

    def roi(place, frame=m.MAV_FRAME_GLOBAL_INT):
        lat, lon, alt = place
        station.mav.command_int_send(1, 154, frame, m.MAV_CMD_DO_SET_ROI_LOCATION, 0, 0, 0, 0, 0, 0,
                                     round(lat * 1e7), round(lon * 1e7), alt)
        return station.pump(5, lambda x: x.get_type() == "COMMAND_ACK" and x.command == m.MAV_CMD_DO_SET_ROI_LOCATION).result

    # Pauses of a busy computer since the last check of a direction, s.
    pauses = []

    def fly(seconds, heading=0.0, where=lambda t: HERE, there=None):
        """Sends the messages of the autopilot and of the other vehicle for a time, which does not include pauses of a busy computer."""
        t, last = 0.0, time.monotonic()
        while t < seconds:
            half = math.radians(heading) / 2
            pilot.mav.autopilot_state_for_gimbal_device_send(1, 154, 0, [math.cos(half), 0, 0, math.sin(half)],
                                                             0, 0, 0, 0, 0, 0, 0, 0, 0)
            position(pilot, where(t))
            if there:
                position(other, *there(t))
            pilot.pump(0.02)
            other.pump(0.02)
            station.pump(0.02)
            passed = time.monotonic() - last
            t, last = t + min(passed, 0.1), last + passed
            if passed > 0.2:
                pauses.append(passed)

    def direction():
        """Pitch, and yaw from north, from the newest status, degrees."""
        station.last.pop("GIMBAL_DEVICE_ATTITUDE_STATUS", None)
        pitch, yaw = station.angles()
        return pitch, (yaw + math.degrees(station.last["GIMBAL_DEVICE_ATTITUDE_STATUS"].delta_yaw) + 180) % 360 - 180

    def points(pitch, yaw, what, within=0.6):
        # A pause can also switch the motors off for a short time, so the camera then has more time.
        for _ in range(5):
            fly(1.2)
            found = direction()
            is_there = abs(found[0] - pitch) < within and abs((found[1] - yaw + 180) % 360 - 180) < within
            if is_there or not pauses:
                break
        pauses.clear()
        expect(is_there, f"{what}: pitch {found[0]:.1f}, yaw {found[1]:.1f} from north")

    station.pump(0.5)
    expect(station.command(m.MAV_CMD_DO_SET_ROI_LOCATION, 0, 0, 0, 0, *offset(100, 0, 0)) == "TEMPORARILY_REJECTED",
           "a region of interest is temporarily rejected while north or the position is unknown")
    fly(1.0)
    expect(station.command(m.MAV_CMD_REQUEST_MESSAGE, 280) == "ACCEPTED", "GIMBAL_MANAGER_INFORMATION is requested")
    expect(station.next("GIMBAL_MANAGER_INFORMATION").cap_flags & 131072, "the capabilities of the manager contain pointing at a location")
    expect(roi(offset(100, 100, -50)) == 0, "a location 141 m to the north-east, 50 m below, is accepted")
    status = station.next("GIMBAL_MANAGER_STATUS")
    expect(status.primary_control_sysid == 255, "255/190 takes control with its request, because no component was in control")
    points(math.degrees(math.atan2(-50, 100 * math.sqrt(2))), 45, "the camera points at the location")
    # 20 m above home is 110 m above sea level.
    lat, lon, _ = offset(50, 0, 0)
    expect(roi((lat, lon, 20), m.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT) == 0, "a location 20 m above home is accepted")
    points(math.degrees(math.atan2(10, 50)), 0, "the camera points up at the location")
    expect(roi((lat, lon, 20), m.MAV_FRAME_GLOBAL_TERRAIN_ALT_INT) == 9, "altitudes above terrain are not supported")
    expect(roi((91, 0, 0)) == 2, "a latitude of 91 degrees is denied")

    # The vehicle passes the place at 4 m/s: the camera keeps pointing at the place.
    expect(roi(offset(30, 0, -10)) == 0, "a location ahead is accepted; then the vehicle passes the location")
    fly(2.0, where=lambda t: offset(0, -8 + 4 * t, 0))
    worst = 0.0
    for _ in range(8):
        fly(0.25, where=lambda t, start=8 - 8 + _ : offset(0, start + 4 * t, 0))
        east = _ + 1.0
        pitch, yaw = direction()
        worst = max(worst, abs((yaw - math.degrees(math.atan2(-east, 30)) + 180) % 360 - 180))
    expect(worst < 3, f"the largest error of yaw during the passage is {worst:.1f} degrees")

    # Another vehicle.
    expect(station.command(m.MAV_CMD_DO_SET_ROI_SYSID, 7, 0) == "TEMPORARILY_REJECTED", "following system 7 is temporarily rejected, because its position is unknown")
    expect(station.command(m.MAV_CMD_DO_SET_ROI_SYSID, 1, 0) == "DENIED", "following the gimbal's own vehicle is denied")
    fly(0.5, there=lambda t: (offset(20, 0, -5),))
    expect(station.command(m.MAV_CMD_DO_SET_ROI_SYSID, 7, 0) == "ACCEPTED", "following system 7 is accepted")
    fly(1.5, there=lambda t: (offset(20, 0, -5),))
    # The other vehicle drives to the east at 3 m/s for 3 s.
    fly(3.0, there=lambda t: (offset(20, 3 * t, -5), (0, 3, 0)))
    fly(0.3, there=lambda t: (offset(20, 9, -5),))
    pitch, yaw = direction()
    expect(abs(yaw - math.degrees(math.atan2(9, 20))) < 2 and abs(pitch - math.degrees(math.atan2(-5, math.hypot(9, 20)))) < 2,
           f"the camera has followed system 7 to pitch {pitch:.1f}, yaw {yaw:.1f} from north")
    rival = Peer(options.port, 254, 190)
    everybody.append(rival)
    rival.pump(0.5)
    expect(rival.command(m.MAV_CMD_DO_SET_ROI_SYSID, 7, 0) == "NOT_IN_CONTROL", "another station cannot choose a target")
    # A request for an attitude ends the pointing at the region of interest.
    expect(station.point(-10, 0, LOCK | EARTH) == "ACCEPTED", "255/190 requests an attitude")
    fly(1.5, there=lambda t: (offset(0, 30, 0),))
    points(-10, 0, "the camera stays at the requested attitude")
    expect(station.command(m.MAV_CMD_DO_SET_ROI_WPNEXT_OFFSET) == "UNSUPPORTED", "pointing at the next waypoint is not supported")
    fly(0.5, there=lambda t: (offset(20, 20, -5),))
    expect(station.command(m.MAV_CMD_DO_SET_ROI_SYSID, 7, 0) == "ACCEPTED", "following system 7 is accepted again")
    fly(1.0, there=lambda t: (offset(20, 20, -5),))
    expect(station.command(m.MAV_CMD_DO_SET_ROI_NONE, 0) == "ACCEPTED", "the end of the region of interest is accepted")
    points(0, 0, "the camera points forward and level")
    expect(daemon.ask("status")["mode"] == "neutral", "the mode is neutral")
    for peer in everybody:
        expect(peer.bad == 0, f"every frame to {peer.system}/{peer.component} was decoded")


if __name__ == "__main__":
    main()
