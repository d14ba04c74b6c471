import Glibc
import Synchronization

/// Waits up to ten seconds for the result of an asynchronous request.
///
/// - Parameter start: Starts the request. The closure receives a callback for the result.
/// - Returns: The result of the request.
/// - Throws: The error of the request, or `NoAnswer` after the timeout.
@discardableResult
public func awaited<Value: Sendable, Failure: Error>(
    _ start: (@escaping @Sendable (Result<Value, Failure>) -> Void) throws -> Void
) throws -> Value {
    let answer = Answer<Value, Failure>()
    try start { result in answer.kept.withLock { $0 = result } }
    for _ in 0..<20_000 {
        if let result = answer.kept.withLock({ $0 }) { return try result.get() }
        usleep(500)
    }
    throw NoAnswer()
}

private final class Answer<Value: Sendable, Failure: Error>: Sendable {
    let kept = Mutex<Result<Value, Failure>?>(nil)
}

/// No result came within the timeout.
struct NoAnswer: Error {}
