/// Trend of a value over a long run: the value's medians in the second tenth and in the last tenth
/// of the run. The first tenth is ignored, because the daemon's resources still grow in this time.
struct SoakTrend {
    /// Median of the values in the second tenth of the run.
    let beginning: Double
    /// Median of the values in the last tenth of the run.
    let end: Double

    /// Creates a trend.
    ///
    /// - Parameter values: Values in the order of time.
    init(_ values: [Double]) {
        let tenth = max(1, values.count / 10)
        beginning = median(Array(values.dropFirst(tenth).prefix(tenth)))
        end = median(Array(values.suffix(tenth)))
    }

    var growth: Double { end - beginning }
    var ratio: Double { end / beginning }
}

/// System resources of a process at a given instant.
struct ProcessLook {
    var megabytes: Double
    var descriptors: Int
    var threads: Int

    init(_ process: DaemonProcess) {
        megabytes = process.megabytes("VmRSS")
        descriptors = process.descriptors
        threads = process.threads
    }

    /// Checks that the resource usage of the process does not grow.
    static func judge(_ looks: [ProcessLook], _ report: inout BenchReport) {
        let memory = SoakTrend(looks.map(\.megabytes))
        report.show("resident memory at the end", memory.end, "MB")
        report.check("resident memory, growth", memory.growth, atMost: 1, "MB")
        report.check(
            "descriptors, growth", SoakTrend(looks.map { Double($0.descriptors) }).growth,
            atMost: 0, "")
        // The number of threads in Swift's thread pool varies by one.
        report.check(
            "threads, growth", SoakTrend(looks.map { Double($0.threads) }).growth, atMost: 2, "")
    }
}
