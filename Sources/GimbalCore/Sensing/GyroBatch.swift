/// The newest gyroscope samples of one tick, at most four. The recorder stores the batch; spectra
/// therefore include every sample.
public struct GyroBatch: Sendable, BitwiseCopyable {
    /// Number of samples, 0...4.
    public private(set) var count = 0
    private var first = Vector3.zero
    private var second = Vector3.zero
    private var third = Vector3.zero
    private var fourth = Vector3.zero

    /// Creates an empty batch.
    @_noLocks
    public init() {}

    /// Adds the newest sample. If the batch already has four samples, the oldest is discarded.
    ///
    /// - Parameter rate: Rate, camera frame, rad/s; the bias is not subtracted.
    @_noLocks @_noAllocation
    public mutating func append(_ rate: Vector3) {
        switch count {
        case 0: first = rate
        case 1: second = rate
        case 2: third = rate
        case 3: fourth = rate
        default:
            first = second
            second = third
            third = fourth
            fourth = rate
            return
        }
        count += 1
    }

    /// The sample at an index; index 0 is the oldest sample.
    public subscript(index: Int) -> Vector3 {
        switch index {
        case 0: first
        case 1: second
        case 2: third
        default: fourth
        }
    }
}
