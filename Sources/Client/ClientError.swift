public import Wire

/// Error in the communication with the daemon, with an exit code for scripts.
public enum ClientError: Error, Equatable {
    /// The daemon refused the request.
    case refused(RequestError)
    /// The daemon does not run, or the connection was lost.
    case unreachable(String)
    /// The daemon did not answer in time.
    case timeout(String)
    /// The daemon's answer does not have the format that this program expects.
    case notUnderstood(String)

    /// A local file cannot be read, written or parsed.
    case file(String, field: String)

    /// The error as a JSON object, in the socket's format for refusals.
    public var requestError: RequestError {
        switch self {
        case .refused(let refusal): refusal
        case .unreachable(let message): RequestError("unreachable", message)
        case .timeout(let message): RequestError("timeout", message)
        case .notUnderstood(let message): RequestError("not_understood", message)
        case .file(let message, let field): RequestError("file", message, field: field)
        }
    }
}
