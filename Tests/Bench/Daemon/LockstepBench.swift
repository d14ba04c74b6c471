import GimbalCore
import Glibc
import Realtime
import Simulation
import Wire

/// Highest speed of lockstep, as a multiple of real time. The daemon runs as a separate process.
/// The bench acts as a simulator that needs no computing time. All lines are prepared in advance.
/// The bench sends each line when the reply to the previous line arrives.
enum LockstepBench {
    private static let rateHz = 1000
    private static let simulatedSeconds = 20

    static func run(options: Options, report: inout BenchReport) throws {
        guard let daemon = DaemonProcess.program(options, &report) else { return }
        let process = try DaemonProcess(daemon, settings: ["hardware.backend=lockstep"])
        guard process.status(where: { _ in true }) != nil,
            let simulator = BenchClient(process.simulatorPath)
        else {
            return report.fail("the daemon does not answer: \(process.log)")
        }
        let lines = lines
        var roundTrips: [Double] = []
        roundTrips.reserveCapacity(lines.count)
        let began = MonotonicClock.now
        for line in lines {
            let sent = MonotonicClock.now
            guard simulator.send(line), simulator.line(waitMilliseconds: 1000) != nil else {
                return report.fail("a message was not answered: \(process.log)")
            }
            roundTrips.append(MonotonicClock.now.seconds(since: sent))
        }
        let elapsed = MonotonicClock.now.seconds(since: began)
        guard process.status(where: { $0["enabled"]?.bool == true }) != nil else {
            return report.fail("the outputs are not switched on: \(process.log)")
        }
        let speed = Double(simulatedSeconds) / elapsed
        report.check("lockstep at \(rateHz) Hz, times real time", speed, atLeast: 5, "x")
        report.show("messages per second", Double(lines.count) / elapsed, "1/s")
        report.show("message to reply, median", median(roundTrips) * 1e6, "us")
    }

    /// Lines that a simulator sends for a camera at rest, with joint angles and the sensor noise of
    /// a BMI088.
    private static var lines: [String] {
        var random = RandomSource(seed: 1, stream: 1)
        func noise(_ sigma: Double) -> Double { sigma * random.gaussian() }
        return (0..<rateHz * simulatedSeconds).map { tick in
            let gyro = (0..<3).map { _ in noise(5e-3) }
            let accel = [noise(0.04), noise(0.04), -9.81 + noise(0.04)]
            let joints = (0..<3).map { _ in noise(1e-4) }
            return
                #"{"t":\#(Double(tick) / Double(rateHz)),"gyro":\#(gyro),"accel":\#(accel),"joints":\#(joints)}"#
        }
    }
}
