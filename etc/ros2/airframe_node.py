#!/usr/bin/env python3
"""ROS 2 node: publishes the camera of airframed as sensor_msgs/Imu and the joints as sensor_msgs/JointState.

Frames follow REP 103: the message is in x forward, y left, z up, the orientation relative to east, north, up. airframed uses x forward, y
right, z down, and north, east, down; its heading is zero at the start unless a magnetometer or an autopilot corrects it.
"""
import math

import airframe

NAMES = ["attitude.*", "rate.*", "accel.*", "joint.*"]


def quaternion(yaw, roll, pitch):
    """Orientation x, y, z, w of the camera from angles of the order Z-X-Y, degrees."""
    (cy, sy), (cr, sr), (cp, sp) = [
        (math.cos(math.radians(angle) / 2), math.sin(math.radians(angle) / 2)) for angle in (yaw, roll, pitch)]
    # Body (forward, right, down) to earth (north, east, down).
    w = cy * cr * cp - sy * sr * sp
    x = cy * sr * cp - sy * cr * sp
    y = cy * cr * sp + sy * sr * cp
    z = cy * sr * sp + sy * cr * cp
    # Both frames change: the earth's axes by a turn about north + east, the body's by a turn about forward.
    h = math.sqrt(0.5)
    return (h * (x + y), h * (x - y), h * (w - z), h * (w + z))


def vector(x, y, z):
    """A vector in forward, right, down as a vector in forward, left, up."""
    return (x, -y, -z)


def imu(values):
    """Orientation, angular velocity (rad/s) and specific force (m/s²) of a message, from values by name."""
    rates = [math.radians(values["rate." + axis]) for axis in ("roll", "pitch", "yaw")]
    force = [values["accel." + axis] for axis in "xyz"]
    return (quaternion(*(values["attitude." + axis] for axis in ("yaw", "roll", "pitch"))), vector(*rates), vector(*force))


def joints(values):
    """Names and positions (rad) of the joints that are known; see ros2.md for their axes."""
    known = [(axis, values["joint." + axis]) for axis in ("yaw", "roll", "pitch") if values.get("joint." + axis) is not None]
    return [f"gimbal_{axis}_joint" for axis, _ in known], [math.radians(angle) for _, angle in known]


def main():
    import rclpy
    from sensor_msgs.msg import Imu, JointState

    rclpy.init()
    node = rclpy.create_node("airframe")
    frame = node.declare_parameter("frame_id", "gimbal_camera").value
    rate = node.declare_parameter("rate", 100.0).value
    imu_topic = node.create_publisher(Imu, "~/imu", 10)
    joint_topic = node.create_publisher(JointState, "joint_states", 10)
    with airframe.connect(name="ros2", read_only=True) as gimbal, gimbal.subscribe(NAMES, rate=rate) as stream:
        for sample in stream:
            if not rclpy.ok():
                break
            if any(sample.values[name] is None for name in ("attitude.yaw", "rate.yaw", "accel.x")):
                continue
            message = Imu()
            message.header.stamp = node.get_clock().now().to_msg()
            message.header.frame_id = frame
            for part, numbers in zip((message.orientation, message.angular_velocity, message.linear_acceleration), imu(sample.values)):
                for axis, number in zip("xyzw", numbers):
                    setattr(part, axis, number)
            imu_topic.publish(message)
            state = JointState(header=message.header)
            state.name, state.position = joints(sample.values)
            joint_topic.publish(state)


if __name__ == "__main__":
    main()
