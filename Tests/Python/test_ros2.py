"""Tests of etc/ros2/airframe_node.py without ROS 2: the conversions, and the node with doubles of rclpy and sensor_msgs.

    PYTHONPATH=Sources/Python:etc/ros2 python3 Tests/Python/test_ros2.py
"""

import math
import pathlib
import sys
import types
import unittest
from unittest import mock

import airframe
import airframe_node as node


def turned(q, v):
    """The vector v after rotation by the quaternion x, y, z, w."""
    x, y, z, w = q
    t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]
    return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2],
            v[2] + w * t[2] + x * t[1] - y * t[0]]


class ConversionTests(unittest.TestCase):
    def assert_vector(self, found, wanted):
        for a, b in zip(found, wanted):
            self.assertAlmostEqual(a, b, places=12)

    def test_a_level_camera_that_looks_north_looks_along_y(self):
        q = node.quaternion(0, 0, 0)
        self.assert_vector(turned(q, [1, 0, 0]), [0, 1, 0])
        self.assert_vector(turned(q, [0, 0, 1]), [0, 0, 1])

    def test_yaw_right_by_90_degrees_looks_east(self):
        self.assert_vector(turned(node.quaternion(90, 0, 0), [1, 0, 0]), [1, 0, 0])

    def test_pitch_up_looks_up(self):
        self.assert_vector(turned(node.quaternion(0, 0, 90), [1, 0, 0]), [0, 0, 1])

    def test_roll_right_lowers_the_right_side(self):
        # The camera's left side is the y axis of the body; this side rises.
        self.assertGreater(turned(node.quaternion(0, 20, 0), [0, 1, 0])[2], 0.3)

    def test_every_orientation_is_a_unit_quaternion_with_the_direction_of_the_angles(self):
        for yaw in range(-180, 181, 45):
            for roll in (-40, 0, 40):
                for pitch in (-80, -30, 0, 60):
                    q = node.quaternion(yaw, roll, pitch)
                    self.assertAlmostEqual(sum(x * x for x in q), 1)
                    # With the order Z-X-Y, the vertical component of the optical axis is sin(pitch) cos(roll).
                    up = turned(q, [1, 0, 0])[2]
                    self.assertAlmostEqual(up, math.sin(math.radians(pitch)) * math.cos(math.radians(roll)))

    def test_a_camera_at_rest_reads_gravity_upwards(self):
        values = {"attitude.yaw": 0, "attitude.roll": 0, "attitude.pitch": 0, "rate.yaw": 90, "rate.roll": 0,
                  "rate.pitch": 0, "accel.x": 0, "accel.y": 0, "accel.z": -9.81}
        _, rate, force = node.imu(values)
        self.assert_vector(force, [0, 0, 9.81])
        # Yaw to the right is a negative rotation about the upward axis.
        self.assert_vector(rate, [0, 0, -math.pi / 2])

    def test_unknown_joints_are_left_out(self):
        names, positions = node.joints({"joints_known": 1.0, "joint.yaw": None, "joint.roll": 0.0, "joint.pitch": -90.0})
        self.assertEqual(names, ["gimbal_roll_joint", "gimbal_pitch_joint"])
        self.assert_vector(positions, [0, -math.pi / 2])

    def test_angles_of_an_assumed_upright_handle_are_left_out(self):
        values = {"joints_known": 0.0, "joint.yaw": 0.0, "joint.roll": 5.0, "joint.pitch": -30.0}
        self.assertEqual(node.joints(values), ([], []))


class NodeTests(unittest.TestCase):
    """The node with doubles of ROS 2, and with two samples instead of airframed."""

    def test_the_node_has_at_most_64_lines(self):
        self.assertLessEqual(len(pathlib.Path(node.__file__).read_text().splitlines()), 64)

    def test_a_sample_becomes_an_imu_message_and_a_joint_message(self):
        values = {"attitude.yaw": 0.0, "attitude.roll": 0.0, "attitude.pitch": 0.0, "rate.yaw": 90.0, "rate.roll": 0.0,
                  "rate.pitch": 180.0, "accel.x": 0.0, "accel.y": 0.0, "accel.z": -9.81, "joint.yaw": 90.0, "joint.roll": None,
                  "joints_known": 1.0, "conditions": ["motor_saturated"]}
        # The first sample is left out, because the attitude is not known yet.
        samples = [airframe.Sample(0.0, {**values, "attitude.yaw": None}, 0), airframe.Sample(1.0, values, 0)]
        published = self.run_node(samples)
        self.assertEqual([topic for topic, _ in published], ["~/imu", "joint_states"])
        imu, joints = (message for _, message in published)
        self.assertEqual((imu.header.frame_id, imu.header.stamp), ("gimbal_camera", "now"))
        for part, wanted in [(imu.angular_velocity, (0, -math.pi, -math.pi / 2)), (imu.linear_acceleration, (0, 0, 9.81)),
                             (imu.orientation, node.quaternion(0, 0, 0))]:
            for axis, number in zip("xyzw", wanted):
                self.assertAlmostEqual(getattr(part, axis), number)
        self.assertEqual((joints.name, joints.position), (["gimbal_yaw_joint"], [math.pi / 2]))
        self.assertIs(joints.header, imu.header)

    def test_a_sample_without_measured_joints_becomes_only_an_imu_message(self):
        values = {"attitude.yaw": 0.0, "attitude.roll": 5.0, "attitude.pitch": -30.0, "rate.yaw": 0.0, "rate.roll": 0.0,
                  "rate.pitch": 0.0, "accel.x": 0.0, "accel.y": 0.0, "accel.z": -9.81, "joint.yaw": 0.0, "joint.roll": 5.0,
                  "joint.pitch": -30.0, "joints_known": 0.0, "conditions": []}
        published = self.run_node([airframe.Sample(1.0, values, 0)])
        self.assertEqual([topic for topic, _ in published], ["~/imu"])

    def test_without_samples_of_the_sensor_nothing_is_published(self):
        # airframed then streams its last values, or a level camera without gravity if there was no sample since the start.
        values = {f"{group}.{axis}": 0.0 for group in ("attitude", "rate", "joint") for axis in ("yaw", "roll", "pitch")}
        values.update({"accel.x": 0.0, "accel.y": 0.0, "accel.z": 0.0, "joints_known": 1.0})
        for condition in ("imu_missing", "imu_stale", "imu_frozen"):
            sample = airframe.Sample(1.0, {**values, "conditions": ["inactive_mode", condition]}, 0)
            self.assertEqual(self.run_node([sample]), [], condition)

    def test_the_rate_can_be_an_integer(self):
        self.assertEqual(self.run_node([], rate=200), [])

    def run_node(self, samples, rate=100.0):
        """Runs the node's function `main` until the samples are used; returns the topics and messages that it published. `rate` is the
        parameter on the node's command line."""
        published, spins = [], []

        def part():
            return types.SimpleNamespace()

        class Node:
            def declare_parameter(self, name, value, descriptor=types.SimpleNamespace(dynamic_typing=False)):
                given = rate if name == "rate" else value
                # Like rclpy, which refuses a value of another type without dynamic typing.
                if type(given) is not type(value) and not descriptor.dynamic_typing:
                    raise TypeError(f"wrong type of {name}")
                return types.SimpleNamespace(value=given)

            def create_publisher(self, kind, topic, depth):
                return types.SimpleNamespace(publish=lambda message: published.append((topic, message)))

            def get_clock(self):
                # With `use_sim_time`, the clock only advances when the node receives messages on /clock.
                return types.SimpleNamespace(now=lambda: types.SimpleNamespace(to_msg=lambda: "now" if spins else "zero"))

        messages = types.SimpleNamespace(
            Imu=lambda: types.SimpleNamespace(
                header=part(), orientation=part(), angular_velocity=part(), linear_acceleration=part()),
            JointState=lambda: types.SimpleNamespace(header=part()))
        stream = mock.MagicMock()
        stream.__enter__.return_value = stream
        stream.__next__.side_effect = list(samples)
        gimbal = mock.MagicMock()
        gimbal.__enter__.return_value = gimbal
        gimbal.subscribe.return_value = stream
        ok = iter([True] * len(samples) + [False])
        rclpy = types.SimpleNamespace(init=lambda: None, create_node=lambda name: Node(), ok=lambda: next(ok),
                                      spin_once=lambda node, timeout_sec: spins.append(timeout_sec))
        interfaces = types.SimpleNamespace(ParameterDescriptor=types.SimpleNamespace)
        doubles = {"rclpy": rclpy, "rcl_interfaces": types.SimpleNamespace(msg=interfaces), "rcl_interfaces.msg": interfaces,
                   "sensor_msgs": types.SimpleNamespace(msg=messages), "sensor_msgs.msg": messages}
        with mock.patch.dict(sys.modules, doubles), mock.patch.object(airframe, "connect", return_value=gimbal) as connect:
            node.main()
        connect.assert_called_once_with(name="ros2", read_only=True)
        # The node must not wait for messages, because it would then publish its samples late.
        self.assertEqual(spins, [0] * len(samples))
        self.assertEqual(gimbal.subscribe.call_args.kwargs, {"rate": float(rate)})
        self.assertIsInstance(gimbal.subscribe.call_args.kwargs["rate"], float)
        return published


if __name__ == "__main__":
    unittest.main()
