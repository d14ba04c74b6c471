#!/usr/bin/env python3
"""A ground station made of pymavlink that finds the video stream of a companion program.

    camera.py --port UDP_PORT --socket DIAGNOSTICS_SOCKET

The first failed check ends the program with a message and exit status 1.
"""
import argparse, json, os, socket, sys, time

os.environ["MAVLINK20"] = "1"
from pymavlink import mavutil                                   # noqa: E402
from pymavlink.dialects.v20 import common as m                  # noqa: E402

URI = "rtsp://192.0.2.7:8554/stream"
CAMERA = m.MAV_COMP_ID_CAMERA


def expect(condition, text):
    if not condition:
        sys.exit(f"camera.py: failed: {text}")
    print(text, flush=True)


class Companion:
    """Reports a stream to the daemon, as airframe-eyes does."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lines = self.socket.makefile("r")

    def ask(self, method, **params):
        self.socket.sendall((json.dumps({"id": 1, "method": method, "params": params}) + "\n").encode())
        answer = json.loads(self.lines.readline())
        expect("result" in answer, f"airframed accepts the request {method}: {answer}")
        return answer["result"]

    def report(self, following=None, capture=None):
        stream = {"uri": URI, "width": 640, "height": 480, "rate_hz": 30, "bitrate_kbps": 2000}
        params = {"name": "eyes", "stream": stream}
        if following:
            params["following"] = following
        if capture:
            params["capture"] = capture
        return self.ask("companion", **params)


def receive(link, name, component, seconds=5):
    """The next message of a type from a component of system 1; None after a timeout."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        link.mav.heartbeat_send(m.MAV_TYPE_GCS, m.MAV_AUTOPILOT_INVALID, 0, 0, m.MAV_STATE_ACTIVE)
        message = link.recv_match(type=name, blocking=True, timeout=0.2)
        if message and (message.get_srcSystem(), message.get_srcComponent()) == (1, component):
            return message
    return None


def command(link, number, *params):
    link.mav.command_long_send(1, CAMERA, number, 0, *params, *[0] * (7 - len(params)))


parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--socket", required=True)
options = parser.parse_args()
link = mavutil.mavlink_connection(f"udpout:127.0.0.1:{options.port}", source_system=255, source_component=190)

expect(receive(link, "HEARTBEAT", 154), "the gimbal sends heartbeats")
expect(receive(link, "HEARTBEAT", CAMERA, 2) is None, "no camera component exists without a companion")

companion = Companion(options.socket)
companion.report()
beat = receive(link, "HEARTBEAT", CAMERA)
expect(beat and beat.type == m.MAV_TYPE_CAMERA, "a camera component exists after the companion has reported a stream")

for number, first in ((m.MAV_CMD_REQUEST_MESSAGE, 259), (m.MAV_CMD_REQUEST_CAMERA_INFORMATION, 1)):
    command(link, number, first)
    ack = receive(link, "COMMAND_ACK", CAMERA)
    expect(ack and (ack.command, ack.result) == (number, 0), f"command {number} is accepted")
    info = receive(link, "CAMERA_INFORMATION", CAMERA)
    expect(info and info.flags == m.CAMERA_CAP_FLAGS_HAS_VIDEO_STREAM, "the camera information contains a video stream")
    expect((info.resolution_h, info.resolution_v, info.gimbal_device_id) == (640, 480, 1), "the camera information contains the picture's size and the gimbal")

for number, first in ((m.MAV_CMD_REQUEST_MESSAGE, 269), (m.MAV_CMD_REQUEST_VIDEO_STREAM_INFORMATION, 1)):
    companion.report()
    command(link, number, first)
    stream = receive(link, "VIDEO_STREAM_INFORMATION", CAMERA)
    expect(stream and stream.uri == URI, "the stream information contains the companion's address")
    expect((stream.stream_id, stream.count, stream.type, stream.encoding) == (1, 1, 0, 1), "the stream information contains one stream, RTSP with H.264")
    expect((stream.framerate, stream.bitrate) == (30, 2_000_000), "the stream information contains frame rate and bit rate")

command(link, m.MAV_CMD_REQUEST_MESSAGE, 270)
status = receive(link, "VIDEO_STREAM_STATUS", CAMERA)
expect(status and status.flags == m.VIDEO_STREAM_STATUS_FLAGS_RUNNING, "the stream is running")


def result(number, *params):
    command(link, number, *params)
    ack = receive(link, "COMMAND_ACK", CAMERA)
    return ack and ack.command == number and ack.result


# QGroundControl requests CAMERA_SETTINGS before the stream, and requests no further message before the answer.
expect(result(m.MAV_CMD_REQUEST_MESSAGE, 260) == m.MAV_RESULT_UNSUPPORTED, "a request for CAMERA_SETTINGS is refused with an answer")

follows = result
PHOTO = (m.MAV_CMD_IMAGE_START_CAPTURE, 0, 0, 1)
expect(result(*PHOTO) == m.MAV_RESULT_DENIED, "a photo is refused without a companion that records")
expect(result(m.MAV_CMD_REQUEST_MESSAGE, 262) == m.MAV_RESULT_UNSUPPORTED, "CAMERA_CAPTURE_STATUS is not supported without a companion that records")
capture = {"recording": False, "recording_s": 0, "photos": 0, "free_mb": 1048.576, "total_mb": 2097.152, "order": 0, "problem": None}
companion.report(capture=capture)
command(link, m.MAV_CMD_REQUEST_MESSAGE, 259)
info = receive(link, "CAMERA_INFORMATION", CAMERA)
expect(info.flags & m.CAMERA_CAP_FLAGS_CAPTURE_VIDEO and info.flags & m.CAMERA_CAP_FLAGS_CAPTURE_IMAGE, "the camera information reports recordings and photos")
expect(result(m.MAV_CMD_IMAGE_START_CAPTURE, 0, 0.1, 0) == m.MAV_RESULT_DENIED, "a series with a photo every 0.1 s is refused")
expect(result(*PHOTO) == 0 and result(m.MAV_CMD_VIDEO_START_CAPTURE, 0, 0) == 0, "a photo and a recording are accepted")
order = companion.report(capture=capture)["order"]
expect((order["action"], order["number"]) == ("photo", 1), f"the companion receives the order for a photo first: {order}")
order = companion.report(capture=dict(capture, order=1, photos=1))["order"]
expect((order["action"], order["number"]) == ("record", 2), f"the companion receives the order for a recording next: {order}")
shot = receive(link, "CAMERA_IMAGE_CAPTURED", CAMERA)
expect(shot and (shot.image_index, shot.capture_result) == (0, 1), "the ground station receives the report of the photo")
running = dict(capture, order=2, photos=1, recording=True, recording_s=2.5)
expect("order" not in companion.report(capture=running), "the companion receives each order once")
for request in ((m.MAV_CMD_REQUEST_MESSAGE, 262), (m.MAV_CMD_REQUEST_CAMERA_CAPTURE_STATUS, 1)):
    command(link, *request)
    status = receive(link, "CAMERA_CAPTURE_STATUS", CAMERA)
    expect(status and (status.video_status, status.recording_time_ms, status.image_count) == (1, 2500, 1), "the capture status contains the duration of the recording")
    expect(abs(status.available_capacity - 1000) < 0.01, "the capture status contains the free space in MiB")
for request in ((m.MAV_CMD_REQUEST_MESSAGE, 261), (m.MAV_CMD_REQUEST_STORAGE_INFORMATION, 0, 1)):
    companion.report(capture=running)
    command(link, *request)
    storage = receive(link, "STORAGE_INFORMATION", CAMERA)
    expect(storage and storage.status == m.STORAGE_STATUS_READY and abs(storage.total_capacity - 2000) < 0.01, "the storage information contains the size of the disk")
expect(result(m.MAV_CMD_VIDEO_STOP_CAPTURE, 0) == 0, "a request to end the recording is accepted")
expect(companion.report(capture=running)["order"]["action"] == "stop", "the companion receives the order to end the recording")
companion.report(capture=dict(capture, order=3, photos=1))

done, taken = dict(capture, order=3, photos=1), 0
expect(result(m.MAV_CMD_IMAGE_START_CAPTURE, 0, 0.5, 0) == 0, "a series with a photo every 0.5 s begins")
began = time.monotonic()
while taken < 4 and time.monotonic() < began + 10:
    order = companion.report(capture=done).get("order")
    if order:
        expect(order["action"] == "photo", f"the orders of the series are photos: {order}")
        taken += 1
        done.update(order=order["number"], photos=1 + taken)
    time.sleep(0.05)
expect(taken == 4 and time.monotonic() - began > 1.2, "the photos of the series are ordered one after the other")
command(link, m.MAV_CMD_REQUEST_MESSAGE, 262)
status = receive(link, "CAMERA_CAPTURE_STATUS", CAMERA)
expect(status and (status.image_status, status.image_interval) == (2, 0.5), "the capture status contains the interval of the series")
expect(result(m.MAV_CMD_IMAGE_STOP_CAPTURE, 0) == 0, "a request to end the series is accepted")
command(link, m.MAV_CMD_REQUEST_MESSAGE, 262)
status = receive(link, "CAMERA_CAPTURE_STATUS", CAMERA)
expect(status and (status.image_status, status.image_interval) == (0, 0), "the capture status reports no series after its end")

expect(follows(m.MAV_CMD_CAMERA_TRACK_POINT, 0.5, 0.5, 0.1) == m.MAV_RESULT_DENIED, "a request to follow a person is refused without a report of people")
state = {"active": False, "people": 2, "box": None}
companion.report(state)
command(link, m.MAV_CMD_REQUEST_MESSAGE, 259)
info = receive(link, "CAMERA_INFORMATION", CAMERA)
expect(info.flags & m.CAMERA_CAP_FLAGS_HAS_TRACKING_POINT and info.flags & m.CAMERA_CAP_FLAGS_HAS_TRACKING_RECTANGLE,
       "the camera information reports that a point or a rectangle can be followed")
expect(follows(m.MAV_CMD_SET_MESSAGE_INTERVAL, 275, 200_000) == 0, "the interval of the tracking messages is accepted")
place = receive(link, "CAMERA_TRACKING_IMAGE_STATUS", CAMERA)
expect(place and place.tracking_status == m.CAMERA_TRACKING_STATUS_FLAGS_IDLE, "no person is followed yet")
expect(follows(m.MAV_CMD_CAMERA_TRACK_POINT, 1.5, 0.5, 0.1) == m.MAV_RESULT_DENIED, "a point outside the picture is refused")
expect(follows(m.MAV_CMD_CAMERA_TRACK_POINT, 0.25, 0.5, 0.1) == 0, "a request to follow the person at a point is accepted")
choice = companion.report(state)["choice"]
expect((choice["action"], choice["x"], choice["y"]) == ("point", 0.25, 0.5), f"the companion receives the point: {choice}")
expect(follows(m.MAV_CMD_CAMERA_TRACK_RECTANGLE, 0.25, 0.25, 0.75, 1.0) == 0, "a request to follow the person in a rectangle is accepted")
choice = companion.report({"active": True, "people": 2, "box": [0.25, 0.125, 0.5, 1.0]})["choice"]
expect((choice["x"], choice["y"]) == (0.5, 0.625), f"the companion receives the centre of the rectangle: {choice}")
end = time.monotonic() + 3
while time.monotonic() < end:
    place = receive(link, "CAMERA_TRACKING_IMAGE_STATUS", CAMERA)
    if place and place.tracking_status == m.CAMERA_TRACKING_STATUS_FLAGS_ACTIVE:
        break
expect((place.rec_top_x, place.rec_top_y, place.rec_bottom_x, place.rec_bottom_y) == (0.25, 0.125, 0.5, 1.0), "the tracking message contains the person's rectangle")
expect(follows(m.MAV_CMD_CAMERA_STOP_TRACKING) == 0, "a request to stop following is accepted")
expect(companion.report(state)["choice"]["action"] == "off", "the companion receives the order to stop following")
companion.ask("set", key="commander.allow_mavlink", value=False)
for number, *params in ((m.MAV_CMD_CAMERA_TRACK_POINT, 0.25, 0.5, 0.1), (m.MAV_CMD_CAMERA_STOP_TRACKING,)):
    expect(follows(number, *params) == m.MAV_RESULT_DENIED, "a request about following is refused if MAVLink peers cannot take control")

companion.socket.shutdown(socket.SHUT_RDWR)
time.sleep(0.5)
while link.recv_match(blocking=False):
    pass
expect(receive(link, "HEARTBEAT", CAMERA, 2.5) is None, "the camera component ends when the companion disconnects")
expect(receive(link, "HEARTBEAT", 154), "the gimbal still sends heartbeats")
