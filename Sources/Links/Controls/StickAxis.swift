import GimbalCore

/// One axis of a stick. The type measures the centre of the axis while the stick is at rest, and
/// converts the axis's value to a deflection. The type reads no clock; callers pass the time as an
/// argument.
struct StickAxis {
    /// Time for which the value must be steady before the value becomes the centre, s.
    private static let restSeconds = 0.5
    /// Largest distance of the initial centre from the middle of the range, as a fraction of the
    /// travel.
    private static let firstCentre = 0.2
    /// Largest change at which a value still counts as steady, as a fraction of the travel.
    private static let steady = 0.02
    /// Time of rest in the dead zone after which half of the value's distance from the centre is
    /// corrected, s.
    private static let driftSeconds = 3.0

    private let middle: Double
    private let lower: Double
    private let upper: Double
    private var value: Double
    /// The measured centre; nil until the stick has rested near the middle of its range.
    private(set) var centre: Double?
    private var steadyValue: Double
    private var steadySince: Instant
    /// Time of the last change of the value, however small.
    private var changedAt: Instant
    private var isStuck = false
    /// True if the value was in the dead zone at the last `advance`.
    private var isCentred = false
    /// Time until which the rest in the dead zone has corrected the centre.
    private var taughtUntil: Instant

    /// Creates an axis.
    ///
    /// - Parameters:
    ///   - value: Present value, in the units of the device.
    ///   - range: Range of the values; an empty range makes every deflection zero.
    ///   - now: Present time.
    init(value: Int32, range: ClosedRange<Int32>, now: Instant) {
        lower = Double(range.lowerBound)
        upper = Double(range.upperBound)
        middle = (lower + upper) / 2
        self.value = min(max(Double(value), lower), upper)
        steadyValue = self.value
        steadySince = now
        changedAt = now
        taughtUntil = now
    }

    private var travel: Double { max((upper - lower) / 2, 1) }

    /// Handles a new value of the axis. Values outside the range are clamped to the range.
    mutating func move(to raw: Int32, now: Instant) {
        correctCentre(now: now)
        let before = value
        value = min(max(Double(raw), lower), upper)
        if value != before { changedAt = now }
        guard abs(value - steadyValue) > Self.steady * travel else { return }
        steadyValue = value
        steadySince = now
    }

    /// Moves the centre towards the value at which the stick has rested since the last call. The
    /// centre of a stick drifts with its temperature and its age. Only values inside the dead zone
    /// correct the centre. Otherwise a small deflection could become the centre.
    private mutating func correctCentre(now: Instant) {
        let start = max(taughtUntil, steadySince.advanced(bySeconds: Self.restSeconds))
        guard let centre, isCentred, now > start else { return }
        let rest = now.seconds(since: start)
        self.centre = centre + rest / (rest + Self.driftSeconds) * (value - centre)
        taughtUntil = now
    }

    /// Updates the state of the axis after time has passed without a new value. If the stick rests
    /// near its centre, the centre is corrected. If a deflected stick does not change within the
    /// timeout, the axis counts as stuck until the stick returns to the centre.
    ///
    /// - Returns: True if the axis has become stuck.
    mutating func advance(now: Instant, deadZone: Double, timeout: Double) -> Bool {
        let resting = now.seconds(since: steadySince)
        if let centre {
            isCentred = abs(value - centre) <= max(deadZone, Self.steady) * travel
            if isCentred {
                isStuck = false
                correctCentre(now: now)
            } else if now.seconds(since: changedAt) >= timeout, !isStuck {
                isStuck = true
                return true
            }
        } else if resting >= Self.restSeconds, abs(value - middle) <= Self.firstCentre * travel {
            centre = value
        }
        return false
    }

    /// Next time at which `advance` has an effect; nil if no such time is known.
    func due(deadZone: Double, timeout: Double) -> Instant? {
        guard let centre else {
            return abs(value - middle) <= Self.firstCentre * travel
                ? steadySince.advanced(bySeconds: Self.restSeconds) : nil
        }
        if isStuck || abs(value - centre) <= max(deadZone, Self.steady) * travel { return nil }
        return changedAt.advanced(bySeconds: timeout)
    }

    /// Deflection of the stick beyond the dead zone.
    ///
    /// - Parameter deadZone: Dead zone to either side of the centre, as a fraction of the travel,
    ///   0...0.5.
    /// - Returns: The deflection, -1...1; zero until the centre is known, and while the axis is stuck.
    func deflection(deadZone: Double) -> Double {
        guard let centre, !isStuck else { return 0 }
        let offset = value - centre
        let reach = offset >= 0 ? upper - centre : centre - lower
        guard reach > 0 else { return 0 }
        let fraction = min(abs(offset) / reach, 1)
        guard fraction > deadZone else { return 0 }
        let beyond = (fraction - deadZone) / (1 - deadZone)
        return offset >= 0 ? beyond : -beyond
    }

    /// Requested rate for a deflection, as a fraction of the full rate. The fraction is a weighted
    /// mean of the deflection and the deflection's cube.
    static func rate(_ deflection: Double, expo: Double) -> Double {
        (1 - expo) * deflection + expo * deflection * deflection * deflection
    }
}
