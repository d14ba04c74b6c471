import GimbalCore
import Glibc
import Realtime
import Simulation
import Wire

/// Soak test in lockstep: for an hour of simulated time, a simulated person walks with the gimbal,
/// and clients use the socket. The bench compares the daemon's resources at the end with the
/// resources at the beginning. In lockstep, the daemon has no links except the socket; `LinkSoak`
/// tests the other links. `airframe-bench all` does not run this test; `make soak` runs it.
enum SoakBench {
    private static let ticksPerSecond = 1000

    /// Values of the daemon, measured at one instant.
    private struct Look {
        var process: ProcessLook
        /// Mean values since the previous observation. `tilt` is the angle between the true and the
        /// estimated vertical, degrees; `microseconds` is the time for one exchange of lines.
        var tilt = 0.0
        var microseconds = 0.0
    }

    static func run(options: Options, report: inout BenchReport) throws {
        guard let daemon = DaemonProcess.program(options, &report) else { return }
        let process = try DaemonProcess(
            daemon, settings: ["hardware.backend=lockstep", "imu.filter_delay_ms=3"])
        guard process.status(where: { _ in true }) != nil,
            let simulator = BenchClient(process.simulatorPath)
        else { return report.fail("the daemon does not answer: \(process.log)") }
        var chatter = SocketChatter(path: process.socketPath)
        var gimbal = SoakGimbal(seed: 1)
        var looks: [Look] = []
        var tilt = 0.0
        var spent = 0.0
        let minutes = max(10, Int(options.soakMinutes))
        for tick in 1...minutes * 60 * ticksPerSecond {
            let line = gimbal.line(tick: tick)
            let asked = MonotonicClock.now
            guard simulator.send(line), let reply = simulator.line(waitMilliseconds: 5000),
                let answer = try? JSONValue(parsing: reply), let error = gimbal.take(answer)
            else { return report.fail("message \(tick) was not answered: \(process.log)") }
            spent += MonotonicClock.now.seconds(since: asked)
            tilt += error
            if tick % 200 == 0 { chatter.ask(tick / 200, isPointing: true) }
            if tick % 20 == 0 { chatter.listen() }
            guard tick % (60 * ticksPerSecond) == 0 else { continue }
            let ticks = Double(60 * ticksPerSecond)
            looks.append(
                Look(
                    process: ProcessLook(process), tilt: tilt / ticks * 180 / .pi,
                    microseconds: spent / ticks * 1e6))
            (tilt, spent) = (0, 0)
        }
        judge(looks, chatter, &report)
        let end = process.stop()
        if end.status != 0 { report.fail("the daemon ended with \(end.status): \(process.log)") }
    }

    private static func judge(
        _ looks: [Look], _ chatter: SocketChatter, _ report: inout BenchReport
    ) {
        report.show("simulated minutes", Double(looks.count), "")
        report.show("requests on the socket", Double(chatter.requests), "")
        ProcessLook.judge(looks.map(\.process), &report)
        let tilts = SoakTrend(looks.map(\.tilt))
        report.show("inclination error, mean, at the end", tilts.end, "°")
        report.check("inclination error, growth", tilts.growth, atMost: 0.05, "°")
        let times = SoakTrend(looks.map(\.microseconds))
        report.show("message to reply, mean, at the end", times.end, "µs")
        report.check("message to reply, end / beginning", times.ratio, atMost: 1.5, "x")
    }
}

/// Simulated gimbal that exchanges JSON lines with the daemon, as an external simulator does.
private struct SoakGimbal {
    private var gimbal: SimulatedGimbal
    private var now = Instant(nanoseconds: 0)

    init(seed: UInt64) {
        gimbal = SimulatedGimbal(
            parameters: SimulatedGimbal.Parameters(),
            motion: BaseMotion(.walking, seed: seed, stillDuration: 2), seed: seed)
    }

    /// Line with the sensor values of one tick, from the simulator to the daemon.
    mutating func line(tick: Int) -> String {
        now = Instant(nanoseconds: Int64(tick) * 1_000_000)
        var sample = IMUSample(time: now, gyro: .zero, accel: .zero)
        gimbal.advance(to: now) { sample = $0 }
        let (gyro, accel, joints) = (sample.gyro, sample.accel, sample.joints)
        return #"{"t":\#(Double(tick) * 1e-3),"gyro":[\#(gyro.x),\#(gyro.y),\#(gyro.z)],"#
            + #""accel":[\#(accel.x),\#(accel.y),\#(accel.z)],"#
            + #""joints":[\#(joints.yaw),\#(joints.roll),\#(joints.pitch)]}"#
    }

    /// Applies the daemon's reply to the simulated motors. Returns the angle between the true and
    /// the estimated vertical, rad; nil if the line is not a reply.
    mutating func take(_ reply: JSONValue) -> Double? {
        func numbers(_ key: String) -> [Double]? { reply[key]?.array?.compactMap(\.number) }
        guard let torque = numbers("torque"), torque.count == 3,
            let q = numbers("attitude"), q.count == 4
        else { return nil }
        gimbal.apply(
            MotorOutput(
                enabled: reply["enabled"]?.bool == true,
                torque: AxisVector(yaw: torque[0], roll: torque[1], pitch: torque[2]),
                power: AxisVector(repeating: 1)), at: now)
        let believed = Quaternion(w: q[0], x: q[1], y: q[2], z: q[3])
        let down = Vector3(0, 0, 1)
        let seen = believed.conjugate.rotate(down)
        return seen.cross(gimbal.attitude.conjugate.rotate(down)).norm
    }
}
