/// Limits of a change that reverts unless it is saved.
public enum Rollback {
    /// Range of the time until the change reverts, s.
    public static let seconds = 1.0...3600
}
