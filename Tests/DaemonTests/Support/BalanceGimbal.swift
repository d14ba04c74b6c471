import GimbalCore
import Glibc
import Simulation
import SystemPackage
import TestSupport
import Wire

/// A simulated gimbal with motors of known torque, which a daemon controls in lockstep.
final class BalanceGimbal {
    private let socket: SocketClient
    /// Sample period of the simulation, ns.
    private let period: Int64
    private var gimbal: SimulatedGimbal
    private var tick: Int64 = 0
    /// Largest rate of the camera since the last `replace` or `restartFastest`, deg/s.
    private(set) var fastest = 0.0
    /// True if the motors are on.
    private(set) var isOn = false

    /// Simulated time, s.
    var seconds: Double { Double(tick * period) * 1e-9 }

    /// Connects a gimbal to a daemon that waits for a simulator.
    ///
    /// - Parameters:
    ///   - daemon: The daemon.
    ///   - rate: Rate of the daemon's loop, Hz.
    ///   - imbalance: Mass times offset of the centre of mass, camera frame, kg·m.
    /// - Throws: An error of the connection.
    init(_ daemon: RunningDaemon, rate: Int64, imbalance: Vector3) throws {
        socket = try SocketClient("\(daemon.directory)/sim.sock")
        period = 1_000_000_000 / rate
        gimbal = Self.gimbal(imbalance, 0.01, period, start: Instant(nanoseconds: 0))
    }

    private static func gimbal(
        _ imbalance: Vector3, _ friction: Double, _ period: Int64, start: Instant
    ) -> SimulatedGimbal {
        var parameters = SimulatedGimbal.Parameters()
        parameters.plant.imbalance = imbalance
        parameters.plant.friction.coulomb = friction
        parameters.plant.friction.stiction = friction * 1.5
        parameters.plant.stepRate = 4000
        parameters.imu.sampleRate = 1e9 / Double(period)
        return SimulatedGimbal(
            parameters: parameters, motion: BaseMotion(.still, seed: 1), seed: 1, start: start)
    }

    /// Replaces the camera, as if a person had moved it on its plate.
    ///
    /// - Parameters:
    ///   - imbalance: Mass times offset of the centre of mass, camera frame, kg·m.
    ///   - friction: Sliding friction of each joint, N·m.
    func replace(imbalance: Vector3, friction: Double = 0.01) {
        let start = Instant(nanoseconds: tick * period)
        gimbal = Self.gimbal(imbalance, friction, period, start: start)
        fastest = 0
    }

    /// Forgets the largest rate.
    func restartFastest() { fastest = 0 }

    /// Simulates the gimbal until another process has reacted. The simulation can be faster than
    /// that process, so the limit is in real time.
    ///
    /// - Parameters:
    ///   - limit: Longest real time, s.
    ///   - ends: True after the reaction.
    /// - Returns: True if `ends` returned true.
    /// - Throws: An error of the connection or of `ends`.
    func run(within limit: Double, until ends: () throws -> Bool) throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(limit)
        var hasEnded = false
        try run(for: .infinity) {
            hasEnded = try ends()
            return hasEnded || ContinuousClock.now > deadline
        }
        return hasEnded
    }

    /// Simulates the gimbal until `ends` returns true, but at most for the given time, s. The
    /// daemon supplies the torques.
    ///
    /// - Returns: True if `ends` returned true.
    @discardableResult
    func run(for limit: Double, until ends: () throws -> Bool = { false }) throws -> Bool {
        let end = seconds + limit
        while seconds < end {
            tick += 1
            var newest: IMUSample?
            gimbal.advance(to: Instant(nanoseconds: tick * period)) { newest = $0 }
            fastest = max(fastest, gimbal.rate.norm * 180 / .pi)
            guard let sample = newest else { continue }
            let joints = gimbal.joints
            let reply = try socket.ask(
                """
                {"t":\((seconds * 1e6).rounded() / 1e6),"gyro":\(sample.gyro.text),"accel":\(sample.accel.text),\
                "joints":[\(joints.yaw),\(joints.roll),\(joints.pitch)]}
                """)
            let torque = reply.torque
            isOn = reply["enabled"]?.bool == true
            var output = MotorOutput.off
            if isOn, torque.count == 3 {
                output = MotorOutput(
                    enabled: true,
                    torque: AxisVector(yaw: torque[0], roll: torque[1], pitch: torque[2]))
            }
            gimbal.apply(output, at: gimbal.now)
            if tick % 25 == 0, try ends() { return true }
        }
        return false
    }
}
