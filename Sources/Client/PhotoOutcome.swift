public import Wire

/// Result of the command `photo` of airframe-eyes.
public enum PhotoOutcome: Hashable, Sendable {
    /// The photo is saved.
    case taken
    /// airframe-eyes reports this reason.
    case failed(String)

    /// Result of a command; nil while airframe-eyes has not reported it.
    ///
    /// - Parameters:
    ///   - order: Number of the command.
    ///   - photos: Number of photos before the command.
    ///   - state: Newest state that airframe-eyes has reported.
    public init?(of order: Int, before photos: Int, in state: CaptureState) {
        guard state.order >= order else { return nil }
        if let problem = state.problem {
            self = .failed(problem)
        } else if state.photos > photos {
            self = .taken
        } else {
            return nil
        }
    }
}
