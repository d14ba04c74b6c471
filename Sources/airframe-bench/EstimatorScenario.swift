import GimbalCore
import Glibc
import Recording

/// A recorded log made harder in one way.
struct EstimatorScenario {
    /// What the table calls it.
    var name: String
    /// What VQF 2.1.2 reaches on the ten trials with its defaults, degrees.
    var peer: String
    /// Turns a log into the harder one.
    var apply: (inout IMULog) -> Void

    /// All of them, the untouched log first.
    static var all: [EstimatorScenario] {
        [
            EstimatorScenario(name: "as recorded", peer: "0.64") { _ in },
            EstimatorScenario(name: "started in motion", peer: "0.83", apply: keepMotion),
            startedInMotion(degreesPerSecond: 1, peer: "1.27"),
            startedInMotion(degreesPerSecond: 3, peer: "2.80"),
            EstimatorScenario(name: "every 6th sample", peer: "1.38") { log in
                log.records = log.records.enumerated().filter { $0.offset % 6 == 0 }.map(\.element)
                log.sampleRate /= 6
            },
            EstimatorScenario(name: "gyroscope scale +1 %", peer: "1.29") { log in
                for index in log.records.indices {
                    log.records[index].gyro = log.records[index].gyro * 1.01
                }
            },
            EstimatorScenario(name: "accelerometer +0.2 m/s² on x", peer: "1.20") { log in
                for index in log.records.indices { log.records[index].accel.x += 0.2 }
            },
            EstimatorScenario(name: "accelerometer + 5 m/s² sines", peer: "0.66", apply: addSines),
        ]
    }

    private static func startedInMotion(
        degreesPerSecond: Double, peer: String
    ) -> EstimatorScenario {
        EstimatorScenario(
            name: "started in motion, bias +\(Int(degreesPerSecond)) deg/s", peer: peer
        ) { log in
            keepMotion(&log)
            addBias(&log, degreesPerSecond: degreesPerSecond)
        }
    }

    /// Adds a constant bias to the gyroscope.
    static func addBias(_ log: inout IMULog, degreesPerSecond: Double) {
        let bias = Vector3(0.6, -0.64, 0.48) * (degreesPerSecond * .pi / 180)
        for index in log.records.indices { log.records[index].gyro += bias }
    }

    /// The first motion phase alone: no rest is ever seen.
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
