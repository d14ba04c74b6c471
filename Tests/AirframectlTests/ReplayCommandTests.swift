import ArgumentParser
import Client
import GimbalCore
import Glibc
import Recording
import SystemPackage
import Testing

@testable import airframectl

@Suite("airframectl replay")
struct ReplayCommandTests {
    /// Runs the command in a temporary directory, with a recording that `change` has modified.
    private func replay(
        _ options: String..., change: (inout IMULog) -> Void = { _ in }
    ) throws -> (directory: FilePath, csv: String, svg: String) {
        var log = try IMULog(path: source.appending("broad_16_cut.imu"))
        log.records.removeSubrange(2857...)
        change(&log)
        return try replay(bytes: log.encoded(), options)
    }

    private func replay(
        bytes: [UInt8], _ options: [String]
    ) throws -> (directory: FilePath, csv: String, svg: String) {
        var template = Array("/tmp/airframe-replay-XXXXXX".utf8CString)
        let name = try #require(mkdtemp(&template).map { String(cString: $0) })
        let directory = FilePath(name)
        defer {
            for file in ["trial.imu", "est.csv", "est.svg"] {
                unlink(directory.appending(file).string)
            }
            rmdir(name)
        }
        let file = try FileDescriptor.open(
            directory.appending("trial.imu"), .writeOnly, options: .create,
            permissions: .ownerReadWrite)
        try file.closeAfter { _ = try file.writeAll(bytes) }
        var words = ["replay", "\(name)/trial.imu", "--output", "\(name)/est.csv"] + options
        if let index = words.firstIndex(of: "--plot") {
            words.insert("\(name)/est.svg", at: index + 1)
        }
        var command = try Airframectl.parseAsRoot(words)
        try command.run()
        return (directory, text("\(name)/est.csv"), text("\(name)/est.svg"))
    }

    private var source: FilePath {
        var path = FilePath(#filePath)
        path.removeLastComponent()
        path.removeLastComponent()
        return path.appending("Fixtures/broad")
    }

    private func text(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 {
            bytes += chunk[0..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("the table has a row for each record, and a plot is made only on request")
    func rows() throws {
        let result = try replay()
        let lines = result.csv.split(separator: "\n")
        #expect(lines.first == "t,qw,qx,qy,qz,bx,by,bz")
        #expect(lines.count == 2858)
        #expect(result.svg.isEmpty)
    }

    @Test("the plot shows attitude, error relative to the reference, bias and weight, with units")
    func picture() throws {
        let result = try replay("--plot")
        for label in [
            "angle, °", "error, °", "bias, °/s", ">weight; sigmas<", "time, s", "at rest",
            "trial.imu",
        ] { #expect(result.svg.contains(label)) }
        #expect(!result.svg.contains("record not used"))
        #expect(!result.svg.contains("nan"))
    }

    @Test("without a reference the plot shows no error; unused records are marked")
    func withoutReference() throws {
        let result = try replay("--plot") { log in
            for index in log.records.indices {
                log.records[index].reference = Quaternion(w: .nan, x: .nan, y: .nan, z: .nan)
            }
            for index in 500..<520 { log.records[index].gyro.x = .nan }
        }
        #expect(!result.svg.contains("error, °"))
        #expect(result.svg.contains("record not used"))
        #expect(result.svg.contains("every sensor: 20<"))
    }

    @Test("a setting on the command line reaches the estimator")
    func setting() throws {
        let plain = try replay()
        let undelayed = try replay("--set", "imu.filter_delay_ms=0")
        #expect(plain.csv != undelayed.csv)
        #expect(plain.csv.count > 1000 && undelayed.csv.count > 1000)
    }

    @Test(
        "options of .imu logs are refused for a recording of the flight recorder, with the remedy",
        arguments: [["--config", "/nonexistent.toml"], ["--magnetometer"]])
    func recorderOptions(options: [String]) throws {
        _ = try Airframectl.parseAsRoot(["replay", "flight.mcap", "--set", "loop.rate_hz=500"])
        do {
            _ = try Airframectl.parseAsRoot(["replay", "flight.mcap"] + options)
            Issue.record("\(options) was accepted")
        } catch {
            #expect(Airframectl.exitCode(for: error).rawValue == 64)
            #expect(Airframectl.message(for: error).contains("use --set KEY=VALUE"))
        }
    }

    @Test("a log without the requested data, or with damage, is refused with the reason")
    func refusals() throws {
        func expect(_ part: String, _ options: String..., change: (inout [UInt8]) -> Void) throws {
            var log = try IMULog(path: source.appending("broad_16_cut.imu"))
            log.records.removeSubrange(10...)
            var bytes = log.encoded()
            change(&bytes)
            let error = #expect(throws: ClientError.self) { try replay(bytes: bytes, options) }
            guard case .file(let message, let field) = error else {
                Issue.record("expected an error about the file, not \(String(describing: error))")
                return
            }
            #expect(message.contains(part) && field == "log")
        }
        try expect("no magnetometer in this log", "--magnetometer") { $0[12] = 0 }
        try expect("truncated: the header states 10 records") { $0.removeLast(70) }
        try expect("IMU log of version 2; this program reads version 1") { $0[4] = 2 }
        try expect("not an IMU log") { $0[0] = 0 }
    }
}
