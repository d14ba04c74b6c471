"""Tests of the conversions in etc/ros2/airframe_node.py, without ROS 2.

    PYTHONPATH=Sources/Python:etc/ros2 python3 Tests/Python/test_ros2.py
"""

import math
import unittest

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
        names, positions = node.joints({"joint.yaw": None, "joint.roll": 0.0, "joint.pitch": -90.0})
        self.assertEqual(names, ["gimbal_roll_joint", "gimbal_pitch_joint"])
        self.assert_vector(positions, [0, -math.pi / 2])


if __name__ == "__main__":
    unittest.main()
