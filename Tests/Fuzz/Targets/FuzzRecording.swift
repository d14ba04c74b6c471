import GimbalCore
import Recording
import SystemPackage

extension FuzzTargets {
    /// Reads a recording as `airframectl record info`, `plot` and `export` do, and its states and
    /// tunings as a replay does. The target does not run the replay's arithmetic, because `replay`
    /// explains a trap there.
    public static func recording(_ bytes: [UInt8]) {
        guard let file = try? FlightFile(bytes: bytes, path: "fuzzed.mcap") else { return }
        _ = FlightReplay.parameters(in: file, fallback: Stabilizer.Parameters())
        let series = FlightSeries(file)
        precondition(
            series.times.count == series.torque.count, "the columns have different lengths")
        precondition(
            series.outcome.readBytes <= bytes.count,
            "the reader returned more data than the file contains")
        for channel in FlightTable.Channel.allCases {
            _ = FlightTable.write(channel, of: file) { (_: [UInt8]) throws(Never) in }
        }
    }
}
