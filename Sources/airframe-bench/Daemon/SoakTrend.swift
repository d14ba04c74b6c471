/// A figure over a long run: the second tenth against the last, because what warms up has done so
/// by then.
struct SoakTrend {
    /// Median of the second tenth.
    let beginning: Double
    /// Median of the last tenth.
    let end: Double

    /// - Parameter values: In the order of time.
    init(_ values: [Double]) {
        let tenth = max(1, values.count / 10)
        beginning = median(Array(values.dropFirst(tenth).prefix(tenth)))
        end = median(Array(values.suffix(tenth)))
    }

    var growth: Double { end - beginning }
    var ratio: Double { end / beginning }
}

/// What a process has of the system's, at one moment.
struct ProcessLook {
    var megabytes: Double
    var descriptors: Int
    var threads: Int

    init(_ process: DaemonProcess) {
        megabytes = process.megabytes("VmRSS")
        descriptors = process.descriptors
        threads = process.threads
    }

    /// Nothing of it may grow.
    static func judge(_ looks: [ProcessLook], _ report: inout BenchReport) {
        let memory = SoakTrend(looks.map(\.megabytes))
        report.show("resident memory at the end", memory.end, "MB")
        report.check("resident memory, growth", memory.growth, atMost: 1, "MB")
        report.check(
            "descriptors, growth", SoakTrend(looks.map { Double($0.descriptors) }).growth,
            atMost: 0, "")
        // The pool of Swift's concurrency has one more or less, as it likes.
        report.check(
            "threads, growth", SoakTrend(looks.map { Double($0.threads) }).growth, atMost: 2, "")
    }
}
