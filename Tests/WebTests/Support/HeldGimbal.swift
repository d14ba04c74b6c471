import Foundation
import GimbalCore
import Glibc
import Simulation
import TestSupport
import Wire

/// Simulator at the lockstep socket of a daemon. Simulates a gimbal, or a person who holds the
/// camera in the poses of a calibration. Simulated time is up to four times as fast as real time.
/// The sensor is mounted with a roll of 3°, and its accelerometer has an offset.
final class HeldGimbal: @unchecked Sendable {
    /// Roll of the sensor relative to the camera, rad.
    static let mounting = 3 * Double.pi / 180
    /// Offset of the accelerometer, sensor frame, m/s².
    static let offset = Vector3(0.15, -0.1, 0.2)
    /// Rate at which the hand turns the camera, rad/s.
    private static let rate = Double.pi
    /// Rotation from the camera frame to the earth frame, for each of the daemon's pose names.
    private static let poses: [String: Quaternion] = [
        "bottom": .identity, "top": .aboutX(.pi), "back": .aboutY(.pi / 2),
        "front": .aboutY(-.pi / 2), "right": .aboutX(.pi / 2), "left": .aboutX(-.pi / 2),
        "level": .identity, "lens_down": .aboutY(-.pi / 3),
    ]

    private let lock = NSLock()
    private var wanted: Quaternion?
    private var hasEnded = false
    private var angles = AxisVector.zero
    private var largest = AxisVector.zero
    private var tilt = 0.0
    private var time = 0.0
    private let socket: Int32

    /// Connects to the daemon's socket, and starts to send samples.
    init(_ path: String) throws {
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let descriptor = socket
        let isConnected = eventually(within: 10) {
            withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
        }
        guard isConnected else { throw Rig.Problem(description: "There is no socket \(path).") }
        Thread.detachNewThread { [self] in run() }
    }

    /// Ends the simulation.
    func end() {
        lock.withLock { hasEnded = true }
        shutdown(socket, Int32(SHUT_RDWR))
    }

    /// Puts the camera into a pose, such as `front`; nil puts the camera back on the gimbal.
    func hold(_ pose: String?) { lock.withLock { wanted = pose.flatMap { Self.poses[$0] } } }

    /// Largest angle of each joint since the previous call, degrees.
    func takeLargestJoints() -> AxisVector {
        lock.withLock {
            defer { largest = .zero }
            return largest * (180 / .pi)
        }
    }

    /// True tilt of the camera on the gimbal, degrees.
    var tiltDeg: Double { lock.withLock { tilt * 180 / .pi } }

    /// Simulated time since the start, s.
    var now: Double { lock.withLock { time } }

    // MARK: Simulation

    private func run() {
        defer { close(socket) }
        var parameters = SimulatedGimbal.Parameters()
        // The sensor that the hand turns has only the errors `offset` and `mounting`. The sensor on
        // the gimbal is the same sensor, so it has no other constant errors.
        (parameters.imu.accelBias, parameters.imu.gyroBias) = (0, 0)
        (parameters.imu.accelScaleError, parameters.imu.accelMisalignment) = (0, 0)
        var gimbal = SimulatedGimbal(
            parameters: parameters, motion: BaseMotion(.still, seed: 1), seed: 1)
        var attitude = Quaternion.identity
        let mounting = Quaternion.aboutX(Self.mounting)
        var random = SystemRandomNumberGenerator()
        var buffer: [UInt8] = []
        var begin = monotonicNow()
        let dt = 1e-3
        for tick in 1... {
            let (hand, isOver) = lock.withLock { (wanted, hasEnded) }
            if isOver { return }
            let target = hand ?? .identity
            let way = attitude.error(to: target)
            var gyro = Vector3.zero
            var accel = Vector3.zero
            var joints = gimbal.joints
            if hand != nil || way.norm > 1e-6 {
                let step = way.norm > 0 ? way * (min(way.norm, Self.rate * dt) / way.norm) : way
                attitude = (attitude * Quaternion(rotationVector: step)).normalized
                gyro = step * (1 / dt)
                accel = attitude.inverseRotate(Vector3(0, 0, -9.80665))
                func noise(_ size: Double) -> Double { .random(in: -size...size, using: &random) }
                gyro = gyro + Vector3(noise(1e-3), noise(1e-3), noise(1e-3))
                accel = accel + Vector3(noise(0.02), noise(0.02), noise(0.02))
            } else {
                let next = Instant(nanoseconds: gimbal.now.nanoseconds + Int64(dt * 1e9))
                gimbal.advance(to: next) { sample in
                    (gyro, accel, joints) = (sample.gyro, sample.accel, sample.joints)
                }
            }
            lock.withLock {
                let angles = gimbal.joints
                largest = AxisVector(
                    yaw: max(largest.yaw, abs(angles.yaw)),
                    roll: max(largest.roll, abs(angles.roll)),
                    pitch: max(largest.pitch, abs(angles.pitch)))
                let up = gimbal.attitude.inverseRotate(Vector3(0, 0, -1))
                tilt = acos(min(1, -up.z))
                self.time = Double(tick) * dt
            }
            (gyro, accel) = (mounting.rotate(gyro), mounting.rotate(accel) + Self.offset)
            let time = Double(tick) * dt
            let line =
                #"{"t":\#(time),"gyro":[\#(gyro.x),\#(gyro.y),\#(gyro.z)],"accel":[\#(accel.x),\#(accel.y),\#(accel.z)],"joints":[\#(joints.yaw),\#(joints.roll),\#(joints.pitch)]}"#
            guard let reply = ask(line, &buffer) else { return }
            var output = MotorOutput.off
            output.enabled = reply["enabled"] == true
            if let torque = reply["torque"]?.array?.compactMap(\.number), torque.count == 3 {
                output.torque = AxisVector(yaw: torque[0], roll: torque[1], pitch: torque[2])
            }
            gimbal.apply(output, at: gimbal.now)
            let ahead = time / 4 - (monotonicNow() - begin)
            if ahead > 0.005 { usleep(UInt32(ahead * 1e6)) }
            // After a pause of the computer, the simulation does not become faster to catch up.
            if ahead < -0.05 { begin -= ahead }
        }
    }

    /// Sends a line, and returns the reply; nil if the connection has ended.
    private func ask(_ line: String, _ buffer: inout [UInt8]) -> JSONValue? {
        let bytes = Array(line.utf8) + [UInt8(ascii: "\n")]
        guard send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            return nil
        }
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            if let newline = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer.removeFirst(newline + 1) }
                return try? JSONValue(parsing: Array(buffer[..<newline]))
            }
            let count = recv(socket, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            buffer += chunk[..<count]
        }
    }
}
