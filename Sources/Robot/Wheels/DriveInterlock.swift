public import GimbalCore

/// Interlock that keeps the wheels stopped. The interlock becomes active when the board cannot
/// drive: the cable is unplugged, the board is silent, or the robot has fallen. A request with
/// speed 0, or the end of the newest request, releases the interlock. Therefore the robot does not
/// start while a person still holds the stick.
public struct DriveInterlock: Sendable, BitwiseCopyable {
    /// True if the wheels must not turn.
    public private(set) var isClosed = false

    /// Creates an interlock that is not active.
    public init() {}

    /// Evaluates the newest request.
    ///
    /// - Parameters:
    ///   - request: The newest request.
    ///   - isReady: True if the board can drive.
    ///   - now: Present time.
    /// - Returns: The given request, or a request with speed 0 while the interlock is active.
    public mutating func pass(
        _ request: DriveModel.Request, isReady: Bool, now: Instant
    ) -> DriveModel.Request {
        if !isReady {
            isClosed = true
        } else if isClosed {
            let isAtRest = request.left == 0 && request.right == 0
            if isAtRest || now >= request.validUntil { isClosed = false }
        }
        return isClosed ? .none : request
    }
}
