/// Log of a problem that can last: a problem is written once, when it begins or changes.
public struct ProblemLog {
    private var last: String?

    /// Creates the log of a problem that has not occurred yet.
    public init() {}

    /// Writes the present problem to the log, unless the last call has noted the same problem.
    ///
    /// - Parameter problem: The present problem; nil if there is none.
    public mutating func note(_ problem: String?) {
        if let problem, problem != last { Log.write(problem) }
        last = problem
    }
}
