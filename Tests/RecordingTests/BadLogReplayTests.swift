import GimbalCore
import Recording
import Testing

@Suite("Replay of a log that is not in order")
struct BadLogReplayTests {
    /// Six seconds of rest and four of fast translation, changed, replayed; each estimate is
    /// finite.
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

    /// Degrees between estimated and true vertical after the last record.
    private func lastInclinationError(
        _ run: (report: ReplayReport, rows: [AttitudeReplay.Row], log: IMULog)
    ) throws -> Double {
        let up = Vector3(0, 0, 1)
        let row = try #require(run.rows.last)
        let record = try #require(run.log.records.last)
        return row.attitude.inverseRotate(up)
            .cross(record.reference.normalized.inverseRotate(up)).norm * 180 / .pi
    }

    @Test("a good log has no remarks")
    func good() throws {
        let run = try replay { _ in }
        #expect(run.report.remarks.isEmpty)
        #expect(run.rows.allSatisfy { $0.isUsed })
        #expect(try lastInclinationError(run) < 1)
    }

    @Test(
        "values that are no number are bridged and counted",
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

    @Test("a time that stands still or goes a little back is not used, and counted")
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

    @Test("a clock that starts anew is followed; nothing is lost")
    func restart() throws {
        let run = try replay { log in
            for index in 2000..<log.records.count { log.records[index].time -= 7 }
        }
        #expect(run.report.clockRestarts == 1 && run.report.disorderedTimes == 0)
        #expect(run.rows.allSatisfy { $0.isUsed })
        #expect(try lastInclinationError(run) < 1)
    }

    @Test("a gap is named, and the inclination comes back")
    func gap() throws {
        let run = try replay { $0.records.removeSubrange(1800..<1900) }
        #expect(run.report.gaps == 1)
        #expect(
            run.report.remarks.first?.hasSuffix(
                "took the inclination from the accelerometer: 1") == true)
        #expect(try lastInclinationError(run) < 5)
    }

    @Test("a log that starts at any time is replayed as one that starts at zero")
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

    @Test("a sensor that is swapped for one mounted otherwise shows, and the estimate stays finite")
    func swapped() throws {
        let run = try replay(doubtPatience: 0.5) { log in
            // On its side, and with another bias.
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
