import Recording
import SystemPackage

extension FuzzTargets {
    /// A recording, as `airframectl record info`, `plot` and `export` read it. A replay is left out: it takes a state from memory
    /// as it is, and the layout's mark is no guard against malice.
    public static func recording(_ bytes: [UInt8]) {
        guard let file = try? FlightFile(bytes: bytes, path: "fuzzed.mcap") else { return }
        let series = FlightSeries(file)
        precondition(series.times.count == series.torque.count, "columns of different lengths")
        precondition(series.outcome.readBytes <= bytes.count, "more was read than there is")
        for channel in FlightTable.Channel.allCases {
            _ = FlightTable.write(channel, of: file) { (_: [UInt8]) throws(Never) in }
        }
    }
}
