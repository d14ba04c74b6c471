import FakeBlueZ
import GimbalCore
import Glibc
import Realtime
import Wire

/// Latency from a phone's write on D-Bus to the tick of the loop that uses the written value. The
/// real daemon runs on a private bus, on which a fake bluetoothd sends the writes of an app that
/// tracks a person.
enum PhoneBench {
    private static let rateHz = 1000.0
    /// Number of writes from which the results are computed. The app AirLink sends 60 writes per
    /// second.
    private static let writes = 2000
    /// Range of the random interval between two writes, µs. The rate of the writes is therefore
    /// below the limit for one phone.
    private static let betweenWrites: ClosedRange<UInt32> = 12_000...20_000
    /// D-Bus paths of the AirOS service's characteristics for mode and control.
    private static let mode = "/org/airframe/service0/char04"
    private static let control = "/org/airframe/service0/char05"

    static func run(options: Options, report: inout BenchReport) throws {
        guard let daemon = DaemonProcess.program(options, &report) else { return }
        let settings = ["hardware.simulation.motion=still", "loop.rate_hz=\(Int(rateHz))"]
        guard let rig = try RadioRig(daemon, settings: settings, &report) else { return }
        let (radio, process) = (rig.radio, rig.process)
        radio.connect(FakeBlueZ.phone, true)
        var trips: [Double] = []
        func write(_ path: String, _ bytes: [UInt8]) -> Bool {
            let replies = radio.replies
            let sent = MonotonicClock.now
            radio.write(path, bytes)
            guard radio.serve(until: { radio.replies > replies }) else { return false }
            trips.append(MonotonicClock.now.seconds(since: sent) * 1000)
            return radio.errors == 0
        }
        for number in 0..<writes {
            let pan = Array("track_pan:\(number % 2 == 0 ? "5.00" : "-5.00")".utf8)
            let isTaken = number == 0 ? write(mode, [4]) : write(control, pan)
            guard isTaken else {
                return report.fail("write \(number): \(radio.error) \(radio.message)")
            }
            usleep(UInt32.random(in: betweenWrites))
        }
        guard let status = process.status(where: { _ in true }),
            let stage = status["loop"]?["stages"]?.array?.first(where: {
                $0["name"]?.string == Stage.request.rawValue
            }), let p50 = stage["p50_us"]?.number, let p99 = stage["p99_us"]?.number
        else { return report.fail("the status contains no timing of requests") }
        let period = 1000 / rateHz
        trips.sort()
        report.show("writes", Double(writes), "")
        report.show("receipt to tick, p50", p50 / 1000, "ms")
        report.check("receipt to tick, p99", p99 / 1000, atMost: period + 2, "ms")
        report.show("write to reply over D-Bus, p99", trips[trips.count * 99 / 100], "ms")
    }
}
