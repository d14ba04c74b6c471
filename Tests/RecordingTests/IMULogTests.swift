import GimbalCore
import Recording
import SystemPackage
import Testing

/// Path of a recorded fixture, independent of the working directory.
func fixture(_ name: String) -> FilePath {
    var path = FilePath(#filePath)
    path.removeLastComponent()
    path.removeLastComponent()
    return path.appending("Fixtures/broad").appending(name)
}

@Suite("IMU log")
struct IMULogTests {
    private let path = FilePath("test.imu")

    /// Bytes of a log of three samples.
    private func golden() -> [UInt8] {
        var bytes = Array("IMU1".utf8)
        append(UInt32(1), to: &bytes)
        append(UInt32(3), to: &bytes)
        append(UInt32(1), to: &bytes)
        append((100.0).bitPattern, to: &bytes)
        bytes += [UInt8](repeating: 0, count: 40)
        for index in 0..<3 {
            append((Double(index) * 0.01).bitPattern, to: &bytes)
            for value in 1...14 { append(Float(value + index).bitPattern, to: &bytes) }
        }
        return bytes
    }

    private func append<Integer: FixedWidthInteger>(_ value: Integer, to bytes: inout [UInt8]) {
        for byte in 0..<(Integer.bitWidth / 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> (8 * byte)))
        }
    }

    @Test("the decoder reads every field of a record")
    func decodes() throws {
        let log = try IMULog(bytes: golden(), path: path)
        #expect(log.sampleRate == 100)
        #expect(log.hasMagnetometer)
        #expect(log.records.count == 3)
        let record = log.records[2]
        #expect(record.time == 0.02)
        #expect(record.gyro == Vector3(3, 4, 5))
        #expect(record.accel == Vector3(6, 7, 8))
        #expect(record.magneticField == Vector3(9, 10, 11))
        #expect(record.reference == Quaternion(w: 12, x: 13, y: 14, z: 15))
        #expect(record.isMoving)
    }

    @Test("a truncated log is refused, and the error states the counts")
    func truncations() {
        let bytes = golden()
        for length in 0..<bytes.count {
            let expected: IMULogError =
                length < 64
                ? .truncatedHeader(path: path, bytes: length)
                : .wrongLength(path: path, bytes: length, records: 3, expected: 256)
            #expect(throws: expected) { try IMULog(bytes: Array(bytes[0..<length]), path: path) }
        }
        let error = IMULogError.wrongLength(path: path, bytes: 200, records: 3, expected: 256)
        #expect(
            error.description
                == "test.imu: truncated: the header states 3 records (256 bytes), "
                + "but the file has 2 complete records (200 bytes)")
    }

    @Test("bytes after the last record are an error")
    func trailing() {
        #expect(
            throws: IMULogError.wrongLength(path: path, bytes: 257, records: 3, expected: 256)
        ) { try IMULog(bytes: golden() + [0], path: path) }
    }

    @Test("a wrong magic number, version or rate is refused, and the error names it")
    func header() {
        var bytes = golden()
        bytes[3] = UInt8(ascii: "2")
        #expect(throws: IMULogError.notAnIMULog(path: path, magic: Array("IMU2".utf8))) {
            try IMULog(bytes: bytes, path: path)
        }
        bytes = golden()
        bytes[4] = 7
        #expect(throws: IMULogError.unknownVersion(path: path, version: 7)) {
            try IMULog(bytes: bytes, path: path)
        }
        for rate in [0, 1e-12, 0.9, 1e6, .infinity] {
            bytes = golden()
            var field: [UInt8] = []
            append(rate.bitPattern, to: &field)
            bytes.replaceSubrange(16..<24, with: field)
            #expect(throws: IMULogError.impossibleRate(path: path, hertz: rate)) {
                try IMULog(bytes: bytes, path: path)
            }
        }
    }

    @Test(
        "a record whose time is not later than the previous one is kept; the replay decides about it"
    )
    func time() throws {
        var bytes = golden()
        bytes.replaceSubrange(192..<200, with: bytes[128..<136])
        let log = try IMULog(bytes: bytes, path: path)
        #expect(log.records.map(\.time) == [0, 0.01, 0.01])
    }

    @Test("encoding a decoded log produces the same bytes")
    func roundTrip() throws {
        var bytes = golden()
        for end in [128, 192, 256] {
            // The writer writes 1 for "moving"; the reader accepts every value above 0.5.
            bytes.replaceSubrange(end - 4..<end, with: [0, 0, 0x80, 0x3F])
        }
        #expect(try IMULog(bytes: bytes, path: path).encoded() == bytes)
        let log = try IMULog(path: fixture("broad_16_cut.imu"))
        let again = try IMULog(bytes: log.encoded(), path: path)
        #expect(again.encoded() == log.encoded())
        #expect(again.records.count == log.records.count)
        #expect(again.records.last?.gyro == log.records.last?.gyro)
        #expect(again.hasMagnetometer && again.sampleRate == log.sampleRate)
    }

    @Test("the error names the sensor that was not recorded")
    func missingSensors() throws {
        let log = try IMULog(path: fixture("broad_16_cut.imu"))
        try log.requireSensors(magnetometer: true, path: path)
        func expect(_ sensor: String, _ change: (inout IMULog) -> Void) {
            var changed = log
            changed.records.removeSubrange(100...)
            change(&changed)
            let error = #expect(throws: IMULogError.self) {
                try changed.requireSensors(magnetometer: true, path: path)
            }
            #expect(error?.description.contains("test.imu: no \(sensor) in this log") == true)
        }
        let nothing = Vector3(.nan, .nan, .nan)
        expect("magnetometer") { $0.hasMagnetometer = false }
        expect("magnetometer") { log in
            for index in log.records.indices { log.records[index].magneticField = .zero }
        }
        expect("gyroscope") { log in
            for index in log.records.indices { log.records[index].gyro = nothing }
        }
        expect("accelerometer") { log in
            for index in log.records.indices { log.records[index].accel = .zero }
        }
        var partly = log
        partly.records[0].gyro = nothing
        partly.hasMagnetometer = false
        try partly.requireSensors(magnetometer: false, path: path)
    }

    @Test("a missing file is an error with the path and the cause")
    func missing() {
        let absent = fixture("absent.imu")
        #expect(throws: IMULogError.unreadable(path: absent, cause: .noSuchFileOrDirectory)) {
            try IMULog(path: absent)
        }
    }

    @Test("a directory is an error with the path and the cause")
    func directory() {
        let path = fixture("absent.imu").removingLastComponent()
        #expect(throws: IMULogError.unreadable(path: path, cause: .isDirectory)) {
            try IMULog(path: path)
        }
    }

    @Test("a recorded log can be read")
    func recorded() throws {
        let log = try IMULog(path: fixture("broad_16_cut.imu"))
        #expect(log.records.count == 8572)
        #expect(abs(log.sampleRate - 285.714) < 0.001)
        #expect(log.hasMagnetometer)
    }
}
