/// The samples of one tick, so that a spectrum sees every one of them: at most four, the newest.
public struct GyroBatch: Sendable, BitwiseCopyable {
    /// How many samples of this tick are here, 0...4.
    public private(set) var count = 0
    private var first = Vector3.zero
    private var second = Vector3.zero
    private var third = Vector3.zero
    private var fourth = Vector3.zero

    /// No sample.
    @_noLocks
    public init() {}

    /// Adds the newest; a fifth one drops the oldest.
    ///
    /// - Parameter rate: Camera frame, rad/s, corrected, bias included.
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

    /// One of them, oldest first.
    public subscript(index: Int) -> Vector3 {
        switch index {
        case 0: first
        case 1: second
        case 2: third
        default: fourth
        }
    }
}
