/// Filters of the measured rate on each axis: up to four notches and a low-pass.
///
/// A change of the filters does not cause a jump of the output. The new filters start as if the
/// last input had been constant. The difference between new and old output decays with a time
/// constant of 20 ms.
///
/// Runs on the loop thread only, in constant time and without allocation.
public struct RateFilter: Sendable, BitwiseCopyable {
    /// The filters of one axis, with their coefficients.
    public struct Axis: Sendable, BitwiseCopyable {
        /// True if the axis has a filter.
        public private(set) var isActive = false
        private(set) var first = Biquad.Coefficients()
        private(set) var second = Biquad.Coefficients()
        private(set) var third = Biquad.Coefficients()
        private(set) var fourth = Biquad.Coefficients()
        private(set) var lowPass = Biquad.Coefficients()
        private var samplePeriod = 0.001

        /// Creates an axis without filters.
        @_noLocks
        public init() {}

        /// Creates the rate filters of one axis. The loop thread must not call this initializer.
        ///
        /// - Parameters:
        ///   - notches: Notches of the axis, at most four; further notches are ignored.
        ///   - lowPassHz: Corner frequency of the low-pass, Hz; 0 means no low-pass.
        ///   - order: Order of the low-pass, 1 or 2.
        ///   - sampleRate: Sample rate of the loop, Hz.
        public init(notches: [Notch], lowPassHz: Double, order: Int, sampleRate: Double) {
            func coefficients(_ index: Int) -> Biquad.Coefficients {
                index < notches.count
                    ? .notch(notches[index], sampleRate: sampleRate) : Biquad.Coefficients()
            }
            first = coefficients(0)
            second = coefficients(1)
            third = coefficients(2)
            fourth = coefficients(3)
            if lowPassHz > 0 {
                lowPass = .lowPass(hz: lowPassHz, order: order, sampleRate: sampleRate)
            }
            isActive = lowPassHz > 0 || !notches.isEmpty
            samplePeriod = 1 / sampleRate
        }

        /// Total frequency response of all filters at `omega`, rad/s.
        public func response(omega: Double) -> Complex {
            guard isActive else { return Complex(1) }
            let angle = min(omega * samplePeriod, .pi)
            return [first, second, third, fourth, lowPass]
                .reduce(Complex(1)) { $0 * $1.response(angle: angle) }
        }

        @_noLocks
        static func areSame(_ a: Axis, _ b: Axis) -> Bool {
            Biquad.Coefficients.areSame(a.first, b.first)
                && Biquad.Coefficients.areSame(a.second, b.second)
                && Biquad.Coefficients.areSame(a.third, b.third)
                && Biquad.Coefficients.areSame(a.fourth, b.fourth)
                && Biquad.Coefficients.areSame(a.lowPass, b.lowPass)
        }
    }

    /// The filters of all axes.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Filters of the rate about the camera's z axis.
        public var yaw = Axis()
        /// Filters of the rate about the camera's x axis.
        public var roll = Axis()
        /// Filters of the rate about the camera's y axis.
        public var pitch = Axis()

        /// Creates parameters without filters.
        public init() {}

        /// The filters of one axis.
        public subscript(axis: GimbalAxis) -> Axis {
            switch axis {
            case .yaw: yaw
            case .roll: roll
            case .pitch: pitch
            }
        }

        /// True if two sets of filters are equal.
        public static func == (a: Parameters, b: Parameters) -> Bool {
            Axis.areSame(a.yaw, b.yaw) && Axis.areSame(a.roll, b.roll)
                && Axis.areSame(a.pitch, b.pitch)
        }
    }

    /// Time constant of the output difference after a change of the filters, s.
    private static var fadingTime: Double { @_noLocks get { 0.02 } }

    private var yaw: Channel
    private var roll: Channel
    private var pitch: Channel

    /// Creates filters at rest.
    public init(parameters: Parameters) {
        yaw = Channel(parameters.yaw)
        roll = Channel(parameters.roll)
        pitch = Channel(parameters.pitch)
    }

    /// Changes the filters between two steps, without a jump.
    @_noLocks @_noAllocation
    public mutating func apply(_ parameters: Parameters) {
        yaw.change(to: parameters.yaw)
        roll.change(to: parameters.roll)
        pitch.change(to: parameters.pitch)
    }

    /// The filtered rate.
    ///
    /// - Parameters:
    ///   - rate: Measured rate, body frame, rad/s. If the rate is not finite, it is returned
    ///     unchanged, and the filters' state does not change.
    ///   - dt: Seconds since the previous step.
    /// - Returns: Filtered rate, body frame, rad/s.
    @_noLocks @_noAllocation
    public mutating func step(_ rate: Vector3, dt: Double) -> Vector3 {
        guard rate.isFinite else { return rate }
        let keep = max(0, 1 - dt / RateFilter.fadingTime)
        return Vector3(
            roll.step(rate.x, keep: keep), pitch.step(rate.y, keep: keep),
            yaw.step(rate.z, keep: keep))
    }

    private struct Channel: Sendable, BitwiseCopyable {
        private var filters: Axis
        private var first = Biquad()
        private var second = Biquad()
        private var third = Biquad()
        private var fourth = Biquad()
        private var lowPass = Biquad()
        private var input = 0.0
        private var output = 0.0
        /// Decaying output difference after a change of the filters, rad/s.
        private var rest = 0.0

        init(_ filters: Axis) { self.filters = filters }

        @_noLocks @_noAllocation
        mutating func change(to new: Axis) {
            guard !Axis.areSame(new, filters) else { return }
            filters = new
            first.settle(at: input, new.first)
            second.settle(at: input, new.second)
            third.settle(at: input, new.third)
            fourth.settle(at: input, new.fourth)
            lowPass.settle(at: input, new.lowPass)
            rest = output - input
        }

        /// Difference of the outputs after a change of the filters that counts as zero, rad/s.
        private static var faded: Double { @_noLocks get { 1e-9 } }

        @_noLocks @_noAllocation
        mutating func step(_ x: Double, keep: Double) -> Double {
            input = x
            output = x
            if filters.isActive {
                output = first.step(output, filters.first)
                output = second.step(output, filters.second)
                output = third.step(output, filters.third)
                output = fourth.step(output, filters.fourth)
                output = lowPass.step(output, filters.lowPass)
            }
            if rest != 0 {
                rest = abs(rest) < Self.faded ? 0 : rest * keep
                output += rest
            }
            return output
        }
    }
}
