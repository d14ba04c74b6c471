import Glibc
import Synchronization

/// What an answer that takes its time says, within ten seconds.
///
/// - Parameter start: Begins, and is given where the answer goes.
/// - Returns: The answer.
/// - Throws: The refusal, or that nothing came.
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

/// Nothing came.
struct NoAnswer: Error {}
