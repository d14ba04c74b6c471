import Client
import People
import Synchronization

/// Thread that loads the models for finding people. The thread of `PeopleService` continues to hold
/// the camera meanwhile, because a small board needs more time for the models than the dead-man
/// timeout of mode `tracking`.
final class ModelLoader: Sendable {
    /// The loaded models. The type is `@unchecked Sendable`, because the loader does not use the
    /// models after it has passed them on.
    private struct Result: @unchecked Sendable {
        let models: Swift.Result<PersonFinder, InferenceError>
    }

    private let result = Mutex<Result?>(nil)
    private let thread = CompanionThread()

    /// Starts to load the models in a directory.
    init(directory: String) {
        thread.start("eyes-models") { [self] in
            let loaded: Swift.Result<PersonFinder, InferenceError>
            do throws(InferenceError) {
                loaded = .success(try PersonFinder(directory: directory))
            } catch {
                loaded = .failure(error)
            }
            let result = Result(models: loaded)
            self.result.withLock { $0 = result }
        }
    }

    /// The models, or the reason why they cannot be used; nil while they are loaded.
    var models: Swift.Result<PersonFinder, InferenceError>? { result.withLock { $0 }?.models }

    /// Waits until the thread has ended.
    func stop() { thread.stop() }
}
