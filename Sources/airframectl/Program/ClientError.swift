import Wire

/// Errors between this program and the daemon, with the exit code for scripts.
enum ClientError: Error, Equatable {
    /// The daemon refused the request.
    case refused(RequestError)
    /// There is no daemon to talk to, or it went away.
    case unreachable(String)
    /// It did not answer in time.
    case timeout(String)
    /// It answered something that this version does not understand.
    case notUnderstood(String)

    /// A file on this side cannot be read, written or understood.
    case file(String, field: String)

    var exitCode: Int32 {
        switch self {
        case .refused, .notUnderstood: ExitCodes.refused
        case .unreachable: ExitCodes.unreachable
        case .timeout: ExitCodes.timeout
        case .file: ExitCodes.file
        }
    }

    var requestError: RequestError {
        switch self {
        case .refused(let refusal): refusal
        case .unreachable(let message): RequestError("unreachable", message)
        case .timeout(let message): RequestError("timeout", message)
        case .notUnderstood(let message): RequestError("not_understood", message)
        case .file(let message, let field): RequestError("file", message, field: field)
        }
    }
}
