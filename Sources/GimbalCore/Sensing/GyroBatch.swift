/// The newest gyroscope samples of one tick, at most 16: as many as the bus thread reads in one
/// period. The snapshot contains the batch; spectra therefore include every sample.
public struct GyroBatch: Sendable, BitwiseCopyable {
    /// Number of samples, 0...16.
    public private(set) var count = 0
    private var rates = InlineArray<16, Vector3>(repeating: .zero)

    /// Largest number of samples: the size of `rates`.
    private static var capacity: Int { @_noLocks @_noAllocation get { 16 } }

    /// Creates an empty batch.
    @_noLocks
    public init() {}

    /// Adds the newest sample. If the batch is full, the oldest is discarded.
    ///
    /// - Parameter rate: Rate, camera frame, rad/s; the bias is not subtracted.
    @_noLocks @_noAllocation
    public mutating func append(_ rate: Vector3) {
        if count == Self.capacity {
            var index = 1
            while index < Self.capacity {
                rates[index - 1] = rates[index]
                index += 1
            }
            count -= 1
        }
        rates[count] = rate
        count += 1
    }

    /// Removes all samples.
    @_noLocks @_noAllocation
    mutating func removeAll() { count = 0 }

    /// The sample at an index; index 0 is the oldest sample.
    public subscript(index: Int) -> Vector3 { rates[index] }
}
