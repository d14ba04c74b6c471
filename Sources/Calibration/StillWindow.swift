internal import CMathShim
public import GimbalCore
internal import PlainText

/// Kind of motion that shows that a sensor is not at rest.
public enum Motion: Sendable, Equatable, CustomStringConvertible {
    /// The rate varies quickly; the associated value is the root mean square of its variation,
    /// rad/s.
    case shaking(Double)
    /// The mean rate drifts; the associated value is the change within the window, rad/s.
    case turning(Double)
    /// The mean rate exceeds the offset of a healthy gyroscope; the associated value is the mean
    /// rate, rad/s.
    case turningSteadily(Double)
    /// The camera is moved or tilted; the associated value is the change of the specific force,
    /// m/s².
    case accelerating(Double)

    /// Description, as a sentence.
    public var description: String {
        switch self {
        case .shaking(let rate):
            "The camera shakes (\(Format.fixed(rate * 180 / .pi, 1)) °/s)."
        case .turning(let rate):
            "The camera turns (its rate changed by \(Format.fixed(rate * 180 / .pi, 1)) °/s)."
        case .turningSteadily(let rate):
            "The camera turns at a constant rate (\(Format.fixed(rate * 180 / .pi, 1)) °/s)."
        case .accelerating(let force):
            "The camera is being moved or tilted (its acceleration changed by \(Format.fixed(force, 1)) m/s²)."
        }
    }
}

/// Mean rate and specific force over a still window.
public struct StillMean: Sendable, Equatable {
    /// Mean measured rate, sensor frame, rad/s.
    public var gyro: Vector3
    /// Standard error of `gyro` on each axis, rad/s.
    public var gyroError: Vector3
    /// Mean measured specific force, sensor frame, m/s².
    public var accel: Vector3
}

/// Collector that averages samples until the sensor has been still for a given time. The collection
/// starts again after each motion.
///
/// Samples are summed in blocks of a quarter of a second. The variance within a block detects
/// shaking. The differences between the means of the blocks detect slow motion, and give a standard
/// error that is also valid for correlated noise.
public struct StillWindow: Sendable {
    /// Criterion of stillness. The default thresholds are above the noise of a good MEMS sensor at
    /// rest (BMI088: 0.3 °/s and 0.03 m/s² RMS at 1 kHz), and below the motion of a trembling hand.
    public struct Parameters: Sendable, Equatable {
        /// Required duration without motion, s; at least two blocks.
        public var seconds = 3.0
        /// Length of a block, s.
        public var blockSeconds = 0.25
        /// Largest permitted RMS variation of the rate within a block, rad/s.
        public var shaking = 1.0 * Double.pi / 180
        /// Largest permitted difference between the mean rates of two blocks, rad/s.
        public var turning = 0.25 * Double.pi / 180
        /// Largest permitted mean rate on each axis, rad/s: the worst offset of a healthy
        /// gyroscope, with a margin. The default suits a BMI088.
        public var largestRate = 5.0 * Double.pi / 180
        /// Largest permitted RMS variation of the specific force within a block, m/s².
        public var trembling = 0.5
        /// Largest permitted difference between the mean specific forces of two blocks, m/s².
        public var tilting = 0.08

        /// Creates the default criterion.
        public init() {}
    }

    /// Criterion of stillness.
    public let parameters: Parameters
    /// Kind of motion that last caused the window to start again; nil if there was no motion.
    public private(set) var motion: Motion?
    /// Motion of the last second; nil if the sensor has been still for a second.
    public var presentMotion: Motion? {
        Double(stillBlocks) * parameters.blockSeconds < Self.memory ? motion : nil
    }
    /// Time for which a motion is reported after its end, s. In a hand, still blocks alternate with
    /// blocks that contain motion.
    private static let memory = 1.0
    /// Number of successive blocks without motion.
    private var stillBlocks = 0
    private var block = Block()
    private var blocks: [BlockMean] = []

    private struct Block {
        var duration = 0.0
        var count = 0.0
        var first: (gyro: Vector3, accel: Vector3)?
        var gyro = Vector3.zero
        var accel = Vector3.zero
        var gyroSquare = 0.0
        var accelSquare = 0.0
    }

    private struct BlockMean {
        var gyro: Vector3
        var accel: Vector3
    }

    /// Creates an empty window.
    public init(parameters: Parameters = Parameters()) { self.parameters = parameters }

    /// Fraction of the required still time that has passed, 0...1.
    public var progress: Double {
        let still = Double(blocks.count) * parameters.blockSeconds + block.duration
        return min(still / parameters.seconds, 1)
    }

    /// Adds one sample.
    ///
    /// - Parameters:
    ///   - gyro: Measured rate, sensor frame, rad/s.
    ///   - accel: Measured specific force, sensor frame, m/s².
    ///   - dt: Seconds since the previous sample. A value that is not positive, or is longer than a
    ///     block, restarts the window.
    /// - Returns: Means over a full window; nil while the window is not full. After a full window
    ///   the collection starts again.
    public mutating func add(gyro: Vector3, accel: Vector3, dt: Double) -> StillMean? {
        guard dt > 0, dt < parameters.blockSeconds, gyro.isFinite, accel.isFinite else {
            restart()
            return nil
        }
        // Samples are summed as differences from the first sample of the block. In sums of the
        // squares of large values, rounding errors would exceed the sensor's noise.
        let first = block.first ?? (gyro, accel)
        block.first = first
        let rate = gyro - first.gyro
        let force = accel - first.accel
        block.count += 1
        block.duration += dt
        block.gyro += rate
        block.accel += force
        block.gyroSquare += rate.squaredNorm
        block.accelSquare += force.squaredNorm
        guard block.duration >= parameters.blockSeconds else { return nil }
        closeBlock(first)
        guard Double(blocks.count) * parameters.blockSeconds >= parameters.seconds - 1e-9 else {
            return nil
        }
        defer { restart() }
        return mean
    }

    /// Removes all samples, but keeps `motion`.
    public mutating func restart() {
        block = Block()
        blocks.removeAll(keepingCapacity: true)
    }

    private mutating func closeBlock(_ first: (gyro: Vector3, accel: Vector3)) {
        let rate = block.gyro / block.count
        let force = block.accel / block.count
        let shaking = cm_sqrt(max(0, block.gyroSquare / block.count - rate.squaredNorm))
        let trembling = cm_sqrt(max(0, block.accelSquare / block.count - force.squaredNorm))
        let mean = BlockMean(gyro: first.gyro + rate, accel: first.accel + force)
        block = Block()
        if let found = self.motion(of: mean, shaking: shaking, trembling: trembling) {
            motion = found
            stillBlocks = 0
            restart()
        } else {
            stillBlocks += 1
            blocks.append(mean)
        }
    }

    private func motion(of mean: BlockMean, shaking: Double, trembling: Double) -> Motion? {
        if shaking > parameters.shaking { return .shaking(shaking) }
        if trembling > parameters.trembling { return .accelerating(trembling) }
        let largest = max(abs(mean.gyro.x), max(abs(mean.gyro.y), abs(mean.gyro.z)))
        if largest > parameters.largestRate { return .turningSteadily(mean.gyro.norm) }
        for other in blocks {
            let change = (mean.gyro - other.gyro).norm
            if change > parameters.turning { return .turning(change) }
            let tilt = (mean.accel - other.accel).norm
            if tilt > parameters.tilting { return .accelerating(tilt) }
        }
        return nil
    }

    private var mean: StillMean {
        let count = Double(blocks.count)
        let gyro = blocks.reduce(Vector3.zero) { $0 + $1.gyro } / count
        let accel = blocks.reduce(Vector3.zero) { $0 + $1.accel } / count
        func error(_ deviation: (BlockMean) -> Vector3) -> Vector3 {
            let sum = blocks.reduce(Vector3.zero) { sum, block in
                let d = deviation(block)
                return sum + Vector3(d.x * d.x, d.y * d.y, d.z * d.z)
            }
            let scale = 1 / (max(count - 1, 1) * count)
            return Vector3(
                cm_sqrt(sum.x * scale), cm_sqrt(sum.y * scale), cm_sqrt(sum.z * scale))
        }
        return StillMean(
            gyro: gyro, gyroError: error { $0.gyro - gyro }, accel: accel)
    }
}
