import GimbalCore
import Recording
import Testing

@Suite("Replay of a recorded IMU log")
struct AttitudeReplayTests {
    @Test(
        "the RMS error of the inclination against the optical reference is below the limit",
        arguments: [
            // Fast translation and fast rotation; the measured errors were 0.44° and 0.82°.
            (name: "broad_16_cut.imu", degrees: 0.55), (name: "broad_07_cut.imu", degrees: 1.0),
        ])
    func inclination(name: String, degrees: Double) throws {
        let log = try IMULog(path: fixture(name))
        var squares = 0.0
        var count = 0
        var index = 0
        AttitudeReplay.run(log, parameters: .init()) { row in
            let record = log.records[index]
            index += 1
            guard record.isMoving, record.reference.isFinite else { return }
            let up = Vector3(0, 0, 1)
            let error = row.attitude.inverseRotate(up)
                .cross(record.reference.normalized.inverseRotate(up))
            squares += error.squaredNorm
            count += 1
        }
        #expect(count > 4000)
        let rms = (squares / Double(count)).squareRoot() * 180 / .pi
        #expect(rms < degrees)
    }

    @Test("the RMS error of the attitude including heading is below 1.2° with a magnetometer")
    func north() throws {
        let log = try IMULog(path: fixture("broad_16_cut.imu"))
        var squares = 0.0
        var count = 0
        var index = 0
        AttitudeReplay.run(log, parameters: .init(), magnetometer: true) { row in
            let record = log.records[index]
            index += 1
            guard record.isMoving, record.reference.isFinite else { return }
            squares += row.attitude.error(to: record.reference.normalized).squaredNorm
            count += 1
        }
        #expect((squares / Double(count)).squareRoot() * 180 / .pi < 1.2)
    }

    @Test("the replay estimates the gyroscope bias of a resting sensor within two seconds")
    func bias() throws {
        let log = try IMULog(path: fixture("broad_16_cut.imu"))
        let truth = Vector3(0.236, 0.122, -0.254) * (.pi / 180)
        AttitudeReplay.run(log, parameters: .init()) { row in
            if row.time > 2 && row.time < 6 {
                #expect((row.bias - truth).norm < 0.1 * .pi / 180)
            }
        }
    }

    @Test(
        "the replay writes one CSV line with exact numbers for each record, and every run writes the same bytes"
    )
    func csv() throws {
        var log = try IMULog(path: fixture("broad_07_cut.imu"))
        log.records.removeSubrange(1500...)
        var bytes: [UInt8] = []
        AttitudeReplay.writeCSV(log, parameters: .init()) { bytes += $0 }
        var again: [UInt8] = []
        AttitudeReplay.writeCSV(log, parameters: .init()) { piece in
            #expect(piece.last == UInt8(ascii: "\n") && piece.count <= 1 << 16)
            again += piece
        }
        #expect(bytes == again)
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 1501)
        #expect(lines.first.map { String(decoding: $0, as: UTF8.self) } == "t,qw,qx,qy,qz,bx,by,bz")
        var index = 0
        AttitudeReplay.run(log, parameters: .init()) { row in
            index += 1
            let fields = String(decoding: lines[index], as: UTF8.self).split(separator: ",")
            let q = row.attitude
            let expected = [row.time, q.w, q.x, q.y, q.z, row.bias.x, row.bias.y, row.bias.z]
            #expect(fields.map { Double($0) } == expected.map { Optional($0) })
        }
    }

    @Test("an error of the writer ends the replay, and the caller receives the error")
    func failingWriter() throws {
        struct Full: Error {}
        let log = try IMULog(path: fixture("broad_07_cut.imu"))
        var pieces = 0
        #expect(throws: Full.self) {
            try AttitudeReplay.writeCSV(log, parameters: .init()) { (_: [UInt8]) throws(Full) in
                pieces += 1
                throw Full()
            }
        }
        #expect(pieces == 1)
    }
}
