import Synchronization

/// How the sensor's set-up went, written by the bus thread, read by others. Never waits: two words.
public final class SensorReport: Sendable {
    private let resets = Atomic(UInt64(0))
    /// Where the words of the last failure begin, 0: none. They are static and end with a zero, so the address says all.
    private let failure = Atomic(UInt(0))

    /// A sensor that nobody has tried yet.
    public init() {}

    /// How often it lost its configuration in flight.
    public var lostConfigurations: UInt64 { resets.load(ordering: .relaxed) }

    /// Why its last set-up failed: "is no gyroscope of a BMI088 (chip id)"; nil: it did not.
    public var lastFailure: String? {
        UnsafePointer<UInt8>(bitPattern: failure.load(ordering: .relaxed))
            .map { String(cString: $0) }
    }

    func isUp() { failure.store(0, ordering: .relaxed) }

    func lostConfiguration() { resets.wrappingAdd(1, ordering: .relaxed) }

    func failed(_ words: StaticString) {
        failure.store(UInt(bitPattern: words.utf8Start), ordering: .relaxed)
    }
}
