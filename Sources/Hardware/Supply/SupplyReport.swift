public import GimbalCore
import Synchronization

/// Supply voltage of the motors, and the scale factor for their voltages. Each value is one machine
/// word with a single writing thread; no thread waits for another thread.
public final class SupplyReport: Sendable {
    private let batteryBits = Atomic(Double.nan.bitPattern)
    private let batteryTime = Atomic(Int64.min / 2)
    /// The two readings of the battery before the newest one.
    private let olderBits = Atomic(Double.nan.bitPattern)
    private let oldBits = Atomic(Double.nan.bitPattern)
    private let voltageBits = Atomic(Double.nan.bitPattern)
    private let factorBits = Atomic(Double(1).bitPattern)

    /// Maximum age of the battery voltage, s: five reading intervals.
    private static let staleSeconds = 10.0

    /// Creates a report without a voltage.
    public init() {}

    /// Smoothed supply voltage, V; NaN if it is unknown.
    public var voltage: Double { Double(bitPattern: voltageBits.load(ordering: .relaxed)) }

    /// Scale factor for the voltages of voltage-driven motors, 0.5...1.5.
    public var factor: Double { Double(bitPattern: factorBits.load(ordering: .relaxed)) }

    /// Stores a reading of the battery's voltage, V; NaN if it is unknown. The median of three
    /// readings counts, because a reading applies for 2 s: a short drop or a wrong bit in one reading
    /// would retract the camera. Only the battery's thread calls the method.
    public func note(battery voltage: Double, now: Instant) {
        let older = Double(bitPattern: olderBits.load(ordering: .relaxed))
        let old = Double(bitPattern: oldBits.load(ordering: .relaxed))
        olderBits.store(old.bitPattern, ordering: .relaxed)
        oldBits.store(voltage.bitPattern, ordering: .relaxed)
        let median = max(min(older, old), min(max(older, old), voltage))
        let isKnown = older.isFinite && old.isFinite && voltage.isFinite
        batteryBits.store((isKnown ? median : voltage).bitPattern, ordering: .relaxed)
        batteryTime.store(now.nanoseconds, ordering: .relaxed)
    }

    /// Voltage of the battery, V; NaN if it is unknown or more than 10 s old.
    func batteryVoltage(now: Instant) -> Double {
        let time = Instant(nanoseconds: batteryTime.load(ordering: .relaxed))
        guard now.seconds(since: time) <= Self.staleSeconds else { return .nan }
        return Double(bitPattern: batteryBits.load(ordering: .relaxed))
    }

    /// Stores the smoothed voltage and the scale factor. Only the sensors' thread calls the method.
    func note(voltage: Double, factor: Double) {
        voltageBits.store(voltage.bitPattern, ordering: .relaxed)
        factorBits.store(factor.bitPattern, ordering: .relaxed)
    }
}
