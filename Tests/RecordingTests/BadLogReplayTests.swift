import GimbalCore
import Recording
import Testing

@Suite("Replay of a log with faults")
struct BadLogReplayTests {
    /// Replays six seconds of rest and four of fast translation, changed by the closure. Checks
    /// that each estimate is finite.
    private func replay(
        doubtPatience: Double = 6, _ change: (inout IMULog) -> Void
    ) throws -> (report: ReplayReport, rows: [AttitudeReplay.Row], log: IMULog) {
        var log = try IMULog(path: fixture("broad_16_cut.imu"))
        log.records.removeSubrange(2857...)
        change(&log)
        var rows: [AttitudeReplay.Row] = []
        var parameters = AttitudeEstimator.Parameters()
        parameters.gravityDoubtPatience = doubtPatience
        let report = AttitudeReplay.run(log, parameters: parameters) { row in
            #expect(row.attitude.isFinite && row.bias.isFinite && row.biasSigma.isFinite)
            rows.append(row)
        }
        #expect(rows.count == log.records.count && report.records == rows.count)
        return (report, rows, log)
    }

    /// Angle between the estimated and the true vertical after the last record, degrees.
    private func lastInclinationError(
        _ run: (report: ReplayReport, rows: [AttitudeReplay.Row], log: IMULog)
    ) throws -> Double {
        let up = Vector3(0, 0, 1)
        let row = try #require(run.rows.last)
        let record = try #require(run.log.records.last)
        return row.attitude.inverseRotate(up)
            .cross(record.reference.normalized.inverseRotate(up)).norm * 180 / .pi
    }

    @Test("a valid log produces no remarks")
    func good() throws {
        let run = try replay { _ in }
        #expect(run.report.remarks.isEmpty)
        #expect(run.rows.allSatisfy { $0.isUsed })
        #expect(try lastInclinationError(run) < 1)
    }

    @Test(
        "samples that are not finite or out of range are skipped and counted",
        arguments: [Double.nan, .infinity, -.infinity, 1e30])
    func notFinite(value: Double) throws {
        let run = try replay { log in
            for index in stride(from: 0, to: 2800, by: 40) { log.records[index].gyro.y = value }
            for index in stride(from: 20, to: 2800, by: 40) { log.records[index].accel.z = value }
        }
        #expect(run.report.unusableSamples == 140)
        #expect(run.rows.count { !$0.isUsed } == 140)
        #expect(
            run.report.remarks == [
                "records skipped: a value is not a number, or is beyond the range of every sensor: 140"
            ])
        #expect(try lastInclinationError(run) < 1.5)
    }

    @Test("a record whose timestamp is not later than the previous one is skipped and counted")
    func disorder() throws {
        let run = try replay { log in
            log.records[100].time = log.records[99].time
            log.records.swapAt(2000, 2001)
            log.records[2500].time = .nan
        }
        #expect(run.report.disorderedTimes == 3)
        #expect(run.report.clockRestarts == 0 && run.report.gaps == 0)
        #expect(run.rows.indices.filter { !run.rows[$0].isUsed } == [100, 2001, 2500])
        #expect(
            run.report.remarks == [
                "records skipped: the timestamp is not later than the previous record's timestamp: 3"
            ])
        #expect(try lastInclinationError(run) < 1)
    }

    @Test("after a restart of the sensor clock, every record is still used")
    func restart() throws {
        let run = try replay { log in
            for index in 2000..<log.records.count { log.records[index].time -= 7 }
        }
        #expect(run.report.clockRestarts == 1 && run.report.disorderedTimes == 0)
        #expect(run.rows.allSatisfy { $0.isUsed })
        #expect(try lastInclinationError(run) < 1)
    }

    @Test("a gap is reported, and the inclination recovers")
    func gap() throws {
        let run = try replay { $0.records.removeSubrange(1800..<1900) }
        #expect(run.report.gaps == 1)
        #expect(
            run.report.remarks.first?.hasSuffix(
                "took the inclination from the accelerometer: 1") == true)
        #expect(try lastInclinationError(run) < 5)
    }

    @Test("the start time of a log does not change the replay")
    func lateStart() throws {
        let early = try replay { _ in }
        let late = try replay { log in
            for index in log.records.indices { log.records[index].time += 4_194_304 }
        }
        #expect(late.report.remarks.isEmpty)
        let error = try #require(early.rows.last).attitude
            .error(to: try #require(late.rows.last).attitude).norm
        #expect(error < 1e-6)
    }

    @Test("a swapped sensor in another orientation is reported, and the estimate stays finite")
    func swapped() throws {
        let run = try replay(doubtPatience: 0.5) { log in
            // The sensor lies on its side, and has another bias.
            for index in 700..<1700 {
                let (gyro, accel) = (log.records[index].gyro, log.records[index].accel)
                log.records[index].gyro =
                    Vector3(gyro.x, -gyro.z, gyro.y) + Vector3(0.03, -0.02, 0.04)
                log.records[index].accel = Vector3(accel.x, -accel.z, accel.y)
            }
        }
        #expect(run.rows[700..<1700].contains { $0.accelerationWeight < 0.5 })
        #expect(run.report.gravityMismatches >= 1)
        #expect(run.report.remarks.contains { $0.contains("gravity contradicted") })
    }
}
