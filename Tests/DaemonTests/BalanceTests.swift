import GimbalCore
import Glibc
import Simulation
import SystemPackage
import TestSupport
import Testing
import Wire

@Suite("airframectl balance with a simulated gimbal") struct BalanceTests {
    /// Mass of the simulated camera, kg.
    private static let mass = 0.5
    /// Sample period of the simulation, s.
    private static let period = 2e-3

    /// Distance in a sentence such as `The camera is 4 mm too far forward: move it back.`, mm.
    private static func millimetres(_ sentence: Substring?) -> Double {
        (sentence?.split(separator: " ").dropFirst(3).first).flatMap { Double($0) } ?? .nan
    }

    @Test(
        "the check reports 4 mm too far forward and 3 mm too far to the left, and checks again after the camera was moved"
    )
    func words() throws {
        var parameters = SimulatedGimbal.Parameters()
        parameters.plant.imbalance = Vector3(4e-3, -3e-3, 0) * Self.mass
        parameters.imu.sampleRate = 1 / Self.period
        var gimbal = SimulatedGimbal(
            parameters: parameters, motion: BaseMotion(.still, seed: 1), seed: 1)
        try withLockstep(["--set", "loop.rate_hz=500", "--set", "imu.timeout_ms=50"]) { daemon in
            let socket = try SocketClient("\(daemon.directory)/sim.sock")
            try run(&gimbal, socket, until: { $0 > 8 })
            let terminal = try Terminal([
                try Program.built("airframectl"), "--socket", daemon.socket, "balance",
                "--mass", "\(Self.mass)",
            ])
            // The check takes about 60 s in simulated time.
            let prompt = "[Enter] check again, [q] leave: "
            try run(&gimbal, socket, until: { $0 > 200 || terminal.says(prompt, within: 0) })
            let lines = terminal.text.split(whereSeparator: \.isNewline).suffix(4)
            #expect(
                lines.count == 4 && lines.first?.contains("too far forward: move it back") == true)
            #expect(lines.dropFirst().first?.contains("too far to the left: move it right") == true)
            #expect(abs(Self.millimetres(lines.first) - 4) < 0.5, "\(terminal.text)")
            #expect(abs(Self.millimetres(lines.dropFirst().first) - 3) < 0.5)
            let advice = "Move the camera, then check again: airframectl balance."
            #expect(lines.dropFirst(2).first?.elementsEqual(advice) == true)

            // The user balances the camera, and presses Enter.
            parameters.plant.imbalance = .zero
            gimbal = SimulatedGimbal(
                parameters: parameters, motion: BaseMotion(.still, seed: 1), seed: 1,
                start: gimbal.now)
            terminal.type("\n")
            let result = "The camera is balanced within 1 mm."
            let end = time(of: gimbal) + 200
            try run(&gimbal, socket, until: { $0 > end || terminal.says(result, within: 0) })
            #expect(terminal.end() == 0, "\(terminal.text)")
            #expect(terminal.text.contains(result), "\(terminal.text)")
        }
    }

    /// Simulates the gimbal until `ends` returns true for the time in s. The daemon supplies the
    /// torques.
    private func run(
        _ gimbal: inout SimulatedGimbal, _ socket: SocketClient, until ends: (Double) -> Bool
    ) throws {
        var tick = Int((time(of: gimbal) / Self.period).rounded())
        while true {
            tick += 1
            let t = Double(tick) * Self.period
            var newest: IMUSample?
            gimbal.advance(to: Instant(nanoseconds: Int64(tick) * 2_000_000)) { newest = $0 }
            guard let sample = newest else { continue }
            let joints = gimbal.joints
            let reply = try socket.ask(
                """
                {"t":\((t * 1e6).rounded() / 1e6),"gyro":\(list(sample.gyro)),"accel":\(list(sample.accel)),\
                "joints":[\(joints.yaw),\(joints.roll),\(joints.pitch)]}
                """)
            let torque = reply.torque
            var output = MotorOutput.off
            if reply["enabled"]?.bool == true, torque.count == 3 {
                output = MotorOutput(
                    enabled: true,
                    torque: AxisVector(yaw: torque[0], roll: torque[1], pitch: torque[2]))
            }
            gimbal.apply(output, at: gimbal.now)
            if tick % 50 == 0, ends(t) { return }
        }
    }

    /// Time since the start of the simulation, s.
    private func time(of gimbal: SimulatedGimbal) -> Double {
        gimbal.now.seconds(since: Instant(nanoseconds: 0))
    }

    private func list(_ vector: Vector3) -> [Double] { [vector.x, vector.y, vector.z] }
}
