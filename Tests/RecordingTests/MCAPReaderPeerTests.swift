import GimbalCore
import Glibc
import Realtime
import Simulation
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Recording

/// Reads recordings with the MCAP reader of another project.
@Suite("Recordings in the mcap reader from PyPI") struct MCAPReaderPeerTests {
    private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()
    private static let python = root.appending(".build/peers/venv/bin/python").string
    private static let isThere = access(root.appending(".build/peers/venv/mcap").string, F_OK) == 0

    /// Report of `read_mcap.py` about a file.
    private static func read(_ bytes: [UInt8], _ options: String = "") throws -> JSONValue {
        var result = JSONValue.null
        try withTemporaryDirectory { directory in
            let path = directory.appending("rig.mcap")
            try write(bytes, to: path)
            let script = root.appending("Tests/Peers/read_mcap.py")
            let output = directory.appending("out")
            let status = system(
                "\(python) \(script) \(path) \(options) > \(output) 2> \(directory)/err")
            let errors = try TestSupport.bytes(of: directory.appending("err"))
            try #require(status == 0, "\(String(decoding: errors, as: UTF8.self))")
            result = try JSONValue(parsing: try TestSupport.bytes(of: output))
        }
        return result
    }

    @Test(
        "every message matches its schema, every checksum is correct, and the summary has the correct counts",
        .enabled(if: isThere, "the reader is not installed: make .build/peers/venv/mcap"))
    func whole() throws {
        var rig = FlightRig(.walking)
        rig.run(2)
        rig.loop.ask(.point(target: .zero, duration: 0.5))
        rig.loop.tuning.publish(FlightRig.tuning())
        rig.run(1)
        let report = try Self.read(rig.file())
        for topic in ["/tick", "/sample", "/command", "/parameters", "/state", "/event"] {
            #expect(report["counts"]?[topic] == report["statistics"]?[topic], "\(topic)")
        }
        #expect(report["counts"]?["/tick"]?.int == 3000)
        #expect(report["counts"]?["/command"]?.int == 1)
        #expect(report["counts"]?["/parameters"]?.int == 1)
        #expect((report["counts"]?["/sample"]?.int ?? 0) >= 2950)
        #expect((report["counts"]?["/state"]?.int ?? 0) == 3)
        #expect(report["disorder"]?.int == 0)
        #expect(report["compression"] == .array([.string("zstd")]))
        #expect(report["attachments"]?["settings.toml"]?.int == 22)
        #expect(report["metadata"]?["airframe"]?["version"]?.string == "test")
        let fields = report["fields"]?["/tick"]?.array?.compactMap(\.string) ?? []
        #expect(fields.contains("attitude_pitch_deg"))
        #expect(fields.contains("torque_yaw_nm"))
    }

    @Test(
        "an unfinished file is read up to its last complete chunk",
        .enabled(if: isThere, "the reader is not installed: make .build/peers/venv/mcap"))
    func unfinished() throws {
        var rig = FlightRig(.still)
        rig.run(3)
        let whole = FlightRig.file(rig.chunks[...], isEnded: false)
        let report = try Self.read(Array(whole.dropLast(1000)), "--unfinished")
        let lost = rig.chunks.last?.counts[FlightChannels.tick] ?? 0
        let all = rig.chunks.compactMap { $0.counts[FlightChannels.tick] }.reduce(0, +)
        #expect(report["counts"]?["/tick"]?.int ?? 0 >= all - lost)
    }
}
