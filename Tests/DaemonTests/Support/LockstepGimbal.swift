import Configuration
import GimbalCore
import Glibc
import Identification
import Simulation
import TestSupport
import Wire

@testable import Daemon

/// A gimbal with a configurable wiring, which a daemon controls in lockstep. A test can also hold
/// the camera in poses while the motors are off.
final class LockstepGimbal {
    private let simulator: SocketClient
    private let client: SocketClient
    private let type: MotorType
    private var gimbal: SimulatedGimbal
    private var wiring: TrueWiring
    /// Rotation from the camera frame to the sensor frame.
    private var mounting: Quaternion
    private let settings: MotorAssignment
    private var tick: Int64 = 0
    private var sample: IMUSample?
    /// Present attitude and target attitude of a camera in a person's hand; nil if the camera is
    /// mounted in the gimbal.
    private var pose: (now: Quaternion, target: Quaternion)?
    /// Ends of the joints to both sides of zero, degrees; nil for the simulator's wide ranges.
    private let stops: AxisVector?
    /// The hand that turns a joint, and this joint; nil without a hand.
    private var hand: (hand: TurningHand, joint: GimbalAxis)?
    /// True if the motors are on.
    private(set) var isOn = false
    private var noise = RandomSource(seed: 7, stream: 1)
    /// Highest rate of the camera since the last change of the wiring, deg/s.
    private(set) var fastest = 0.0

    private static let period = 0.005

    init(
        _ daemon: RunningDaemon, _ wiring: TrueWiring, type: MotorType = .servo,
        stops: AxisVector? = nil
    ) throws {
        self.stops = stops
        self.wiring = wiring
        self.type = type
        simulator = try SocketClient("\(daemon.directory)/sim.sock")
        client = try SocketClient(daemon.socket)
        mounting = .identity
        gimbal = Self.gimbal(type, wiring, .identity, stops, start: Instant(nanoseconds: 0))
        func setting(_ key: String) throws -> AxisVector {
            let found = try daemon.ask("get", #"{"keys":["\#(key)"]}"#)
            let numbers = found.array?.first?["value"]?.array?.compactMap(\.number) ?? []
            guard numbers.count == 3 else { throw Trouble("get \(key): \(found.text)") }
            return AxisVector(yaw: numbers[0], roll: numbers[1], pitch: numbers[2])
        }
        settings = MotorAssignment(
            outputs: try setting("hardware.linux.motor_channels"),
            direction: try setting(type == .servo ? "servo.direction" : "motors.direction"))
    }

    private static func gimbal(
        _ type: MotorType, _ wiring: TrueWiring, _ mounting: Quaternion, _ stops: AxisVector?,
        start: Instant
    ) -> SimulatedGimbal {
        var parameters = SimulatedGimbal.Parameters()
        parameters.motor = type
        parameters.plant.stepRate = 4000
        parameters.imu.sampleRate = 200
        parameters.field.polePairs = wiring.polePairs
        parameters.sensorMounting = mounting
        if let stops {
            parameters.plant.jointRange = stops * (Double.pi / 180)
            parameters.plant.imbalance = .zero
            parameters.plant.cableStiffness = .zero
        }
        return SimulatedGimbal(
            parameters: parameters, motion: BaseMotion(.still, seed: 1), seed: 5, start: start)
    }

    /// Replaces the gimbal with another gimbal of the same kind, with the motors off.
    func rewire(_ wiring: TrueWiring = TrueWiring(), mounting: Quaternion = .identity) {
        self.wiring = wiring
        self.mounting = mounting
        gimbal = Self.gimbal(
            type, wiring, mounting, stops, start: Instant(nanoseconds: tick * 5_000_000))
        fastest = 0
    }

    func ask(_ action: String, _ step: String = "") throws -> JSONValue {
        let extra = step.isEmpty ? "" : #","step":"\#(step)""#
        return try client.ask(
            #"{"id":1,"method":"setup","params":{"action":"\#(action)"\#(extra)}}"#)
    }

    /// Returns a step of the set-up report.
    func step(_ name: String) throws -> JSONValue {
        let report = try ask("status")
        guard
            let step = report["result"]?["steps"]?.array?.first(where: {
                $0["name"]?.string == name
            })
        else { throw Trouble(report.text) }
        return step
    }

    /// Simulates that a person holds the camera and turns it to an attitude at 60 °/s; nil puts the
    /// camera back into the gimbal.
    func hold(_ attitude: Quaternion?) {
        pose = attitude.map { (pose?.now ?? .identity, $0) }
        if attitude == nil { rewire(wiring, mounting: mounting) }
    }

    /// Advances the simulated time.
    func pass(_ seconds: Double, each: () throws -> Bool = { false }) throws {
        for _ in 0..<Int(seconds / Self.period) {
            tick += 1
            let now = Instant(nanoseconds: tick * 5_000_000)
            let newest: IMUSample?
            if pose != nil {
                newest = heldSample()
            } else {
                let joint = hand?.joint ?? .yaw
                let moment = hand?.hand.moment(joint, on: gimbal, at: Double(tick) * Self.period)
                gimbal.push = moment ?? .zero
                gimbal.advance(to: now) { sample = $0 }
                fastest = max(fastest, gimbal.rate.norm * 180 / .pi)
                newest = sample
            }
            guard let newest else { continue }
            let joints = gimbal.joints
            let extra =
                type == .torque
                ? #","joints":[\#(joints.yaw),\#(joints.roll),\#(joints.pitch)]"# : ""
            let reply = try simulator.ask(
                #"{"t":\#(Double(tick) * Self.period),"gyro":\#(newest.gyro.text),"accel":\#(newest.accel.text)\#(extra)}"#
            )
            isOn = reply["enabled"]?.bool == true
            if pose == nil {
                gimbal.apply(
                    stopped(wiring.applied(to: Self.output(reply), settings)), at: now)
            }
            if tick % 50 == 0, try each() { return }
        }
    }

    /// Motor commands as the joints can execute them: a servo cannot turn its joint beyond the end.
    private func stopped(_ output: MotorOutput) -> MotorOutput {
        guard let stops, type == .servo else { return output }
        var output = output
        for axis in GimbalAxis.allCases {
            let end = stops[axis] * Double.pi / 180
            output.angle[axis] = min(max(output.angle[axis], -end), end)
        }
        return output
    }

    /// Simulates that a person turns a joint to both ends and back; nil releases the camera.
    func turnByHand(_ joint: GimbalAxis?) {
        guard joint != hand?.joint else { return }
        hand = joint.map { joint in
            var turning = TurningHand()
            turning.stop = (stops?[joint] ?? 30) * 1.2 * Double.pi / 180
            return (turning, joint)
        }
    }

    /// Motor commands in a reply.
    private static func output(_ reply: JSONValue) -> MotorOutput {
        func axes(_ name: String) -> AxisVector? {
            let numbers = reply[name]?.array?.compactMap(\.number) ?? []
            guard numbers.count == 3 else { return nil }
            return AxisVector(yaw: numbers[0], roll: numbers[1], pitch: numbers[2])
        }
        guard reply["enabled"]?.bool == true else { return .off }
        var output = MotorOutput.off
        output.enabled = true
        output.torque = axes("torque") ?? .zero
        output.angle = axes("angle") ?? .zero
        output.field = axes("field") ?? .zero
        output.power = axes("power") ?? AxisVector(repeating: 1)
        return output
    }

    /// Sample of the sensor while a person holds the camera.
    private func heldSample() -> IMUSample? {
        guard let held = pose else { return nil }
        let rest = held.now.conjugate * held.target
        let vector = Vector3(rest.x, rest.y, rest.z)
        let half = min(max(abs(rest.w), -1), 1)
        let angle = 2 * acos(half) * (rest.w < 0 ? -1 : 1)
        var rate = Vector3.zero
        if vector.norm > 1e-6 {
            let axis = vector / vector.norm
            let step = min(max(angle, -0.3 * .pi / 180), 0.3 * .pi / 180)
            rate = axis * (step / Self.period)
            let turn = axis * sin(step / 2)
            pose?.now =
                (held.now * Quaternion(w: cos(step / 2), x: turn.x, y: turn.y, z: turn.z))
                .normalized
        }
        func rough(_ vector: Vector3, _ size: Double) -> Vector3 {
            vector + Vector3(noise.gaussian(), noise.gaussian(), noise.gaussian()) * size
        }
        let force = (pose?.now ?? held.now).conjugate.rotate(Vector3(0, 0, -9.80665))
        return IMUSample(
            time: Instant(nanoseconds: tick * 5_000_000),
            gyro: rough(mounting.rotate(rate), 1e-3), accel: rough(mounting.rotate(force), 0.02))
    }

    /// Runs a set-up step until it ends.
    func run(_ name: String) throws -> JSONValue {
        let begun = try ask("start", name)
        guard begun["error"] == nil else { return begun }
        try pass(150) { try self.step(name)["state"]?.string != "running" }
        return try saved(name)
    }

    /// Waits until the result of a set-up step is on the disk, and returns the step. The disk needs
    /// real time, during which little simulated time must pass.
    func saved(_ name: String) throws -> JSONValue {
        _ = try eventually(within: 10) {
            if try step(name)["state"]?.string != "running" { return true }
            try pass(0.01)
            return false
        }
        return try step(name)
    }
}

extension Vector3 {
    var text: String { "[\(x),\(y),\(z)]" }
}
