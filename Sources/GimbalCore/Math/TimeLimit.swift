/// Limits of times that several controllers and estimators have in common.
enum TimeLimit {
    /// Longest period that filters and controllers use, s. The input of a longer period is too old
    /// for an integration, so it is skipped or limited.
    static var longestPeriod: Double { @_noLocks @_noAllocation get { 0.1 } }
    /// Shortest delay or ramp by which a formula divides, s. A setting can be zero; no loop has a
    /// delay below one period at the usual 1 kHz.
    static var shortest: Double { @_noLocks @_noAllocation get { 1e-3 } }
}
