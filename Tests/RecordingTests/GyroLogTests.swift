import GimbalCore
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Recording

@Suite("Log of the camera's motion for Gyroflow") struct GyroLogTests {
    private static let header = GyroLog.Header(
        video: "a.mp4", start: 10, date: 1_795_616_885, recording: "b.mcap")

    private static func sample(_ time: Double, _ size: Double = 1) -> GyroLog.Sample {
        GyroLog.Sample(
            time: time, rate: Vector3(1, 2, 3) * size,
            force: Vector3(0.1, 0.2, -1) * (size * 9.80665))
    }

    @Test(
        "the first line has the time of the first video frame, interpolated between the neighbouring samples"
    )
    func begin() {
        var log = GyroLog(Self.header)
        #expect(log.lines(for: Self.sample(9.998, 1)) == "")
        #expect(
            log.lines(for: Self.sample(10.006, 3)) == """
                0,150000,300000,450000,15000,30000,-150000
                6000,300000,600000,900000,30000,60000,-300000

                """)
        #expect(
            log.lines(for: Self.sample(10.007)) == "7000,100000,200000,300000,10000,20000,-100000\n"
        )
    }

    @Test("a sample exactly at the time of the first video frame is written once")
    func exact() {
        var log = GyroLog(Self.header)
        #expect(log.lines(for: Self.sample(10)).hasPrefix("0,"))
        #expect(log.lines(for: Self.sample(10.001)).hasPrefix("1000,"))
    }

    @Test("a sample that is not later than the previous one is skipped")
    func order() {
        var log = GyroLog(Self.header)
        _ = log.lines(for: Self.sample(10.005))
        #expect(log.lines(for: Self.sample(10.005, 2)) == "")
        #expect(log.lines(for: Self.sample(10.004, 2)) == "")
        #expect(log.lines(for: Self.sample(10.006)).hasPrefix("6000,"))
    }

    @Test("a sample with a value that is not finite or too large is skipped")
    func impossible() {
        var log = GyroLog(Self.header)
        _ = log.lines(for: Self.sample(9.998))
        #expect(log.lines(for: Self.sample(10.001, .nan)) == "")
        #expect(log.lines(for: Self.sample(10.002, 1e30)) == "")
        #expect(log.lines(for: Self.sample(.infinity)) == "")
        #expect(
            log.lines(for: Self.sample(10.003)) == """
                0,100000,200000,300000,10000,20000,-100000
                3000,100000,200000,300000,10000,20000,-100000

                """)
    }

    @Test(
        "a header whose start is not a possible time is not a log", arguments: ["-1e30", "nan"])
    func impossibleStart(_ start: String) {
        var log = GyroLog(Self.header)
        let text = (Self.header.text + log.lines(for: Self.sample(10.001)))
            .replacing("loop_clock_s,10.000000", with: "loop_clock_s,\(start)")
        #expect(text.contains("loop_clock_s,\(start)\n"))
        #expect(GyroLog.Header.read(text) == nil)
    }

    @Test("the header and the time of the last sample can be read back, even from a truncated file")
    func readBack() throws {
        var log = GyroLog(Self.header)
        let text =
            Self.header.text + log.lines(for: Self.sample(10))
            + log.lines(for: Self.sample(12.5)) + "25010"
        let (header, end) = try #require(GyroLog.Header.read(text))
        #expect(header == Self.header)
        #expect(abs(end - 12.5) < 1e-9)
        #expect(GyroLog.Header.read(Self.header.text) == nil)
        #expect(GyroLog.Header.read("t,gx,gy,gz,ax,ay,az\n0,0,0,0,0,0,0\n") == nil)
    }

    @Test("a recording becomes a log with one sample for each tick during the video")
    func recording() throws {
        var rig = FlightRig(.walking)
        rig.run(3)
        let file = try FlightFile(bytes: rig.file(), path: "rig.mcap")
        var log = GyroLog(.init(video: "a.mp4", start: 6.0005, date: 0))
        var text = ""
        let result = log.convert(file, until: 7.5) { text += $0 }
        let rows = text.split(separator: "\n").map { $0.split(separator: ",").map { Int($0) } }
        // The ticks from 6.001 s to 7.5 s, and the interpolated first line.
        #expect(result.samples == 1500)
        #expect(rows.count == 1501)
        #expect(rows.first?.first == 0)
        #expect(rows.last?.first == 1_499_500)
        let up = rows.compactMap { $0[6] }.reduce(0, +) / rows.count
        #expect(abs(up + 100_000) < 3000, "mean specific force downwards, 1e-5 g")
    }
}

/// Reads the logs with telemetry-parser, the reader that Gyroflow uses.
@Suite("Gyroflow log in Gyroflow's own reader") struct GyroLogPeerTests {
    private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()
    private static let python = root.appending(".build/peers/venv/bin/python").string
    private static let isThere =
        access(root.appending(".build/peers/venv/gyroflow").string, F_OK) == 0

    @Test(
        "time 0 is the first video frame; the units and axes are those of Gyroflow: up, left, back",
        .enabled(if: isThere, "the reader is not installed: make .build/peers/venv/gyroflow"))
    func axes() throws {
        let header = GyroLog.Header(video: "a.mp4", start: 10, date: 0, recording: "b.mcap")
        var log = GyroLog(header)
        var text = header.text
        for index in 0..<100 {
            text += log.lines(
                for: .init(
                    time: 9.9968 + Double(index) * 0.005, rate: Vector3(0.1, 0.2, 0.3),
                    force: Vector3(1, 2, -9.5)))
        }
        try withTemporaryDirectory { directory in
            let path = directory.appending("a.gcsv")
            try write(Array(text.utf8), to: path)
            let (output, errors) = (directory.appending("out"), directory.appending("err"))
            let script = Self.root.appending("Tests/Peers/read_gcsv.py")
            let status = system("\(Self.python) \(script) \(path) > \(output) 2> \(errors)")
            let complaint = String(decoding: try TestSupport.bytes(of: errors), as: UTF8.self)
            try #require(status == 0, "\(complaint)")
            let report = try JSONValue(parsing: try TestSupport.bytes(of: output))
            #expect(report["camera"]?.string == "airframe")
            let times = report["t"]?.array?.compactMap(\.number) ?? []
            #expect(times.count == 100)
            #expect(times.first == 0)
            #expect(abs((times.dropFirst().first ?? 0) - 0.0018) < 1e-9)
            #expect(vector(report["rate"]) ~= [-0.3, -0.2, -0.1])
            #expect(vector(report["force"]) ~= [9.5, -2, -1])
        }
    }

    private func vector(_ value: JSONValue?) -> [Double] {
        value?.array?.last?.array?.compactMap(\.number) ?? []
    }
}

extension [Double] {
    fileprivate static func ~= (a: [Double], b: [Double]) -> Bool {
        a.count == b.count && zip(a, b).allSatisfy { abs($0 - $1) < 1e-3 }
    }
}
