import GimbalCore
import Glibc
import Recording

/// One change that makes a recorded log harder for the estimator.
struct EstimatorScenario {
    /// Name of the scenario in the table.
    var name: String
    /// Folder of the scenario's exported logs.
    var folder: String
    /// Function that changes a recorded log into the log of the scenario.
    var apply: (inout IMULog) -> Void

    /// All scenarios.
    static var all: [EstimatorScenario] {
        [
            EstimatorScenario(name: "started in motion", folder: "motion-0", apply: keepMotion),
            startedInMotion(degreesPerSecond: 1),
            startedInMotion(degreesPerSecond: 3),
            EstimatorScenario(name: "every 6th sample", folder: "every-6th") { log in
                log.records = log.records.enumerated().filter { $0.offset % 6 == 0 }.map(\.element)
                log.sampleRate /= 6
            },
            EstimatorScenario(name: "gyroscope scale +1 %", folder: "gyro-scale") { log in
                for index in log.records.indices {
                    log.records[index].gyro = log.records[index].gyro * 1.01
                }
            },
            EstimatorScenario(name: "accelerometer +0.2 m/s² on x", folder: "accel-offset") { log in
                for index in log.records.indices { log.records[index].accel.x += 0.2 }
            },
            EstimatorScenario(
                name: "accelerometer + 5 m/s² sines", folder: "accel-sines", apply: addSines),
        ] + derived
    }

    /// Scenarios that are exported for the comparison with other estimators: the unchanged logs,
    /// logs with a bias from the start, and all harder logs.
    static var exported: [EstimatorScenario] {
        [
            EstimatorScenario(name: "as recorded", folder: "recorded") { _ in },
            fromRest(degreesPerSecond: 1), fromRest(degreesPerSecond: 3),
        ] + all
    }

    private static func fromRest(degreesPerSecond: Double) -> EstimatorScenario {
        EstimatorScenario(
            name: "from rest, bias +\(Int(degreesPerSecond)) deg/s",
            folder: "rest-\(Int(degreesPerSecond))"
        ) { log in addBias(&log, degreesPerSecond: degreesPerSecond) }
    }

    private static func startedInMotion(degreesPerSecond: Double) -> EstimatorScenario {
        EstimatorScenario(
            name: "started in motion, bias +\(Int(degreesPerSecond)) deg/s",
            folder: "motion-\(Int(degreesPerSecond))"
        ) { log in
            keepMotion(&log)
            addBias(&log, degreesPerSecond: degreesPerSecond)
        }
    }

    /// Adds a constant bias of this magnitude to the gyroscope; all three axes are affected.
    static func addBias(_ log: inout IMULog, degreesPerSecond: Double) {
        let bias = Vector3(0.6, -0.64, 0.48) * (degreesPerSecond * .pi / 180)
        for index in log.records.indices { log.records[index].gyro += bias }
    }

    /// Keeps only the first motion phase; the log then contains no rest.
    private static func keepMotion(_ log: inout IMULog) {
        let motion = log.records.drop { !$0.isMoving }.prefix { $0.isMoving }
        log.records = Array(motion)
    }

    private static func addSines(_ log: inout IMULog) {
        for index in log.records.indices {
            let angle = 2 * Double.pi * log.records[index].time
            log.records[index].accel +=
                Vector3(sin(37 * angle), sin(53 * angle), sin(71 * angle)) * 5
        }
    }
}
