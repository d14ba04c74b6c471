public import Wire

/// Result of the command `photo` of airframe-eyes.
public enum PhotoOutcome: Hashable, Sendable {
    /// The photo is saved.
    case taken
    /// The photo failed; the associated value is the reason that airframe-eyes reports.
    case failed(String)

    /// Result of a command; nil while airframe-eyes has not reported it.
    ///
    /// - Parameters:
    ///   - order: Sequence number of the command.
    ///   - photos: Number of photos taken before the command.
    ///   - state: Newest state that airframe-eyes has reported.
    public init?(of order: Int, before photos: Int, in state: CaptureState) {
        guard state.order >= order else { return nil }
        // The problem can be that of a recording.
        if state.photos > photos {
            self = .taken
        } else if let problem = state.problem {
            self = .failed(problem)
        } else {
            return nil
        }
    }
}
