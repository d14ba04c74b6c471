internal import CMathShim

/// How long a stride takes of whoever carries the handle.
///
/// Two steps make a stride: the left one and the right one differ, so that walking repeats itself after both. The period is
/// where the autocorrelation of the handle's rate, forgotten over a few seconds, is largest.
/// Loop thread only; constant time, of which most passes once in 20 ms.
struct StrideEstimator: Sendable, BitwiseCopyable {
    /// Seconds of a stride; nil = the handle's motion does not repeat itself.
    var period: Double? {
        @_noLocks @_noAllocation @inline(__always) get {
            likeness > Self.leastLikeness ? foundPeriod : nil
        }
    }
    /// How much one stride is like the one before, at most 1.
    private(set) var likeness = 0.0

    private static var leastLikeness: Double { @_noLocks @inline(__always) get { 0.6 } }
    /// Between two samples that are compared, s.
    private static var spacing: Double { @_noLocks @inline(__always) get { 0.02 } }
    /// Strides of 0.64...1.7 s: from running (2.8 steps a second) to strolling.
    private static var shortest: Int { @_noLocks @inline(__always) get { 32 } }
    private static var lags: Int { @_noLocks @inline(__always) get { 54 } }
    /// Over which what was is forgotten, s.
    private static var memory: Double { @_noLocks @inline(__always) get { 2 } }

    private var foundPeriod = 1.0
    /// Mean time between two samples, s: a loop that is held up for once changes no period.
    private var interval = StrideEstimator.spacing
    private var found = 0
    private var sum = Vector3.zero
    private var elapsed = 0.0
    private var slow = Vector3.zero
    private var past = InlineArray<128, Vector3>(repeating: .zero)
    private var next = 0
    private var power = 0.0
    private var products = InlineArray<54, Double>(repeating: 0)
    private var powers = InlineArray<54, Double>(repeating: 0)

    @_noLocks
    init() {}

    /// Takes one period of the loop.
    ///
    /// - Parameters:
    ///   - rate: Of the handle, rad/s.
    ///   - dt: Seconds since the previous call, more than 0.
    @_noLocks @_noAllocation
    mutating func update(rate: Vector3, dt: Double) {
        sum += rate * dt
        elapsed += dt
        // Half a period early or late, but not always late.
        guard elapsed + 0.5 * dt >= Self.spacing else { return }
        take(sum / elapsed, spacing: elapsed)
        sum = .zero
        elapsed = 0
    }

    private mutating func take(_ rate: Vector3, spacing: Double) {
        // A turn that lasts repeats itself after any time.
        slow += (rate - slow) * (spacing / (1 + spacing))
        let new = rate - slow
        past[next] = new
        let share = spacing / Self.memory
        interval += (spacing - interval) * share
        power += (new.dot(new) - power) * share
        var best = 0
        var most = -1.0
        var i = 0
        while i < Self.lags {
            let old = past[(next - i - Self.shortest) & 127]
            products[i] += (new.dot(old) - products[i]) * share
            powers[i] += (old.dot(old) - powers[i]) * share
            let value = correlation(i)
            // Two strides are as alike as one.
            if value - 1e-3 * Double(i) > most - 1e-3 * Double(best) || i == 0 {
                best = i
                most = value
            }
            i += 1
        }
        next = (next + 1) & 127
        // Another period must be clearly better than what lies next to the present one.
        climb()
        if correlation(best) > correlation(found) + 0.03 { found = best }
        likeness = correlation(found)
        foundPeriod = (Double(Self.shortest + found) + vertex(found)) * interval
    }

    /// The present peak, wherever it has moved.
    private mutating func climb() {
        var steps = 0
        while steps < 3, found + 1 < Self.lags, correlation(found + 1) > correlation(found) {
            found += 1
            steps += 1
        }
        while steps < 3, found > 0, correlation(found - 1) > correlation(found) {
            found -= 1
            steps += 1
        }
    }

    /// How far the top of the parabola through three lags lies from the middle one, -0.5...0.5.
    private func vertex(_ i: Int) -> Double {
        guard i > 0, i + 1 < Self.lags else { return 0 }
        let (left, middle, right) = (correlation(i - 1), correlation(i), correlation(i + 1))
        let bend = left - 2 * middle + right
        guard bend < 0 else { return 0 }
        return min(max(0.5 * (left - right) / bend, -0.5), 0.5)
    }

    private func correlation(_ i: Int) -> Double {
        let both = power * powers[i]
        // A handle that stands, rad²/s².
        guard both > 1e-8 else { return 0 }
        return products[i] / cm_sqrt(both)
    }
}
