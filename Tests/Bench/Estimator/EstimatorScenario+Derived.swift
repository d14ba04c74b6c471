import GimbalCore
import Glibc
import Recording

/// Scenarios that derive the data of other sensors from recorded data. The optical reference of the
/// recording remains valid.
extension EstimatorScenario {
    /// Scenarios with other sample rates, a less accurate sensor, another position of the sensor,
    /// and a smaller range of the gyroscope.
    static var derived: [EstimatorScenario] {
        [
            EstimatorScenario(name: "means of 3 samples", folder: "mean-of-3") { average(&$0, 3) },
            EstimatorScenario(name: "poorer sensor, means of 3", folder: "second") { log in
                impoverish(&log)
                average(&log, 3)
            },
            EstimatorScenario(name: "1 m from the pivot", folder: "lever") { log in
                moveSensor(&log, to: Vector3(1, 0, 0))
            },
            EstimatorScenario(name: "gyroscope cut off", folder: "cut-off", apply: cutOff),
            EstimatorScenario(name: "poorer, 0.85 m away, cut off, means of 3", folder: "swung") {
                log in
                moveSensor(&log, to: Vector3(0.8, 0, 0.3))
                cutOff(&log)
                impoverish(&log)
                average(&log, 3)
            },
        ]
    }

    /// Replaces each group of `count` samples by their mean, with the time and the reference of the
    /// group's last sample.
    private static func average(_ log: inout IMULog, _ count: Int) {
        let records = log.records
        log.records = stride(from: 0, to: records.count - count + 1, by: count).map { first in
            let part = records[first..<first + count]
            var mean = records[first + count - 1]
            mean.gyro = part.reduce(.zero) { $0 + $1.gyro } / Double(count)
            mean.accel = part.reduce(.zero) { $0 + $1.accel } / Double(count)
            mean.magneticField = part.reduce(.zero) { $0 + $1.magneticField } / Double(count)
            return mean
        }
        log.sampleRate /= Double(count)
    }

    /// Adds scale and cross-axis errors of half a percent, offsets, and noise of 0.07 °/s/√Hz and 9
    /// mm/s²/√Hz.
    private static func impoverish(_ log: inout IMULog) {
        var noise = Noise(seed: UInt64(log.records.count))
        let (turnX, turnY, turnZ) = (noise.vector(), noise.vector(), noise.vector())
        let (pullX, pullY, pullZ) = (noise.vector(), noise.vector(), noise.vector())
        let (rate, force) = (noise.vector() * 0.005, noise.vector() * 0.05)
        for index in log.records.indices {
            let gyro = log.records[index].gyro
            let accel = log.records[index].accel
            log.records[index].gyro +=
                Vector3(turnX.dot(gyro), turnY.dot(gyro), turnZ.dot(gyro)) * 0.006 + rate
                + noise.vector() * 0.02
            log.records[index].accel +=
                Vector3(pullX.dot(accel), pullY.dot(accel), pullZ.dot(accel)) * 0.003 + force
                + noise.vector() * 0.15
        }
    }

    /// Moves the sensor to another position on the rigid body: adds the specific force that the
    /// rotation causes at the position `lever`, m.
    private static func moveSensor(_ log: inout IMULog, to lever: Vector3) {
        let bias = EstimatorBench.restRate(log)
        // The angular rate is smoothed over seven samples before it is differentiated.
        let weights = (1...7).map { 0.5 - 0.5 * cos(2 * .pi * Double($0) / 8) }
        let total = weights.reduce(0, +)
        let rates = log.records.indices.map { index in
            var sum = Vector3.zero
            for (k, weight) in weights.enumerated() {
                let near = min(max(index + k - 3, 0), log.records.count - 1)
                sum += (log.records[near].gyro - bias) * (weight / total)
            }
            return sum
        }
        for index in 1..<log.records.count - 1 {
            let change = (rates[index + 1] - rates[index - 1]) * (0.5 * log.sampleRate)
            log.records[index].accel +=
                change.cross(lever) + rates[index].cross(rates[index].cross(lever))
        }
    }

    /// Limits the gyroscope's range to a value that the fastest 0.7 % of the moving samples exceed.
    private static func cutOff(_ log: inout IMULog) {
        let sizes = log.records.filter(\.isMoving)
            .map { max(abs($0.gyro.x), abs($0.gyro.y), abs($0.gyro.z)) }.sorted()
        guard !sizes.isEmpty else { return }
        let range = sizes[Int(0.993 * Double(sizes.count - 1))]
        func limited(_ x: Double) -> Double { min(max(x, -range), range) }
        for index in log.records.indices {
            let gyro = log.records[index].gyro
            log.records[index].gyro = Vector3(limited(gyro.x), limited(gyro.y), limited(gyro.z))
        }
    }

    /// Generator of Gaussian random numbers with a fixed seed.
    private struct Noise {
        private var state: UInt64

        init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

        private mutating func uniform() -> Double {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Double(state >> 11) * 0x1p-53
        }

        private mutating func normal() -> Double {
            (-2 * log(uniform() + 1e-18)).squareRoot() * cos(2 * .pi * uniform())
        }

        mutating func vector() -> Vector3 { Vector3(normal(), normal(), normal()) }
    }
}
