#!/usr/bin/env python3
"""ROS 2 node: publishes the camera of airframed as sensor_msgs/Imu and the joints as sensor_msgs/JointState.

Frames follow REP 103: the message is in x forward, y left, z up, the orientation relative to east, north, up. airframed uses x forward, y
right, z down, and north, east, down; its heading is zero at the start unless a magnetometer or an autopilot corrects it.
"""
import math

import airframe


def quaternion(yaw, roll, pitch):
    """Orientation x, y, z, w of the camera from angles of the order Z-X-Y, degrees."""
    (cy, sy), (cr, sr), (cp, sp) = [
        (math.cos(math.radians(angle) / 2), math.sin(math.radians(angle) / 2)) for angle in (yaw, roll, pitch)]
    # Body (forward, right, down) to earth (north, east, down).
    w, x = cy * cr * cp - sy * sr * sp, cy * sr * cp - sy * cr * sp
    y, z = cy * cr * sp + sy * sr * cp, cy * sr * sp + sy * cr * cp
    # Both frames change: the earth's axes by a turn about north + east, the body's by a turn about forward.
    h = math.sqrt(0.5)
    return (h * (x + y), h * (x - y), h * (w - z), h * (w + z))


def imu(values):
    """Orientation, angular velocity (rad/s) and specific force (m/s²) of a message, from values by name."""
    roll, pitch, yaw = [math.radians(values["rate." + axis]) for axis in ("roll", "pitch", "yaw")]
    attitude = [values["attitude." + axis] for axis in ("yaw", "roll", "pitch")]
    return quaternion(*attitude), (roll, -pitch, -yaw), (values["accel.x"], -values["accel.y"], -values["accel.z"])


def joints(values):
    """Names and positions (rad) of the joints; empty while nothing measures the angles. See ros2.md for the axes."""
    known = [axis for axis in ("yaw", "roll", "pitch") if values["joints_known"] and values.get("joint." + axis) is not None]
    return [f"gimbal_{axis}_joint" for axis in known], [math.radians(values["joint." + axis]) for axis in known]


def main():
    import rclpy
    from rcl_interfaces.msg import ParameterDescriptor
    from sensor_msgs.msg import Imu, JointState
    rclpy.init()
    node = rclpy.create_node("airframe")
    frame = node.declare_parameter("frame_id", "gimbal_camera").value
    rate = float(node.declare_parameter("rate", 100.0, ParameterDescriptor(dynamic_typing=True)).value)  # `rate:=200` is an integer.
    imu_topic, joint_topic = node.create_publisher(Imu, "~/imu", 10), node.create_publisher(JointState, "joint_states", 10)
    names = ["attitude.*", "rate.*", "accel.*", "joint.*", "joints_known", "conditions"]  # Without samples, values are old.
    with airframe.connect(name="ros2", read_only=True) as gimbal, gimbal.subscribe(names, rate=rate) as stream:
        while rclpy.ok():
            values = next(stream).values
            rclpy.spin_once(node, timeout_sec=0)  # Receives /clock if use_sim_time is true, and answers requests for parameters.
            if values["attitude.yaw"] is not None and not {"imu_missing", "imu_stale", "imu_frozen"} & set(values["conditions"]):
                message, state = Imu(), JointState()
                message.header.stamp, message.header.frame_id = node.get_clock().now().to_msg(), frame
                for part, numbers in zip((message.orientation, message.angular_velocity, message.linear_acceleration), imu(values)):
                    for axis, number in zip("xyzw", numbers):
                        setattr(part, axis, number)
                state.header, (state.name, state.position) = message.header, joints(values)
                imu_topic.publish(message)
                if state.name:
                    joint_topic.publish(state)


if __name__ == "__main__":
    main()
