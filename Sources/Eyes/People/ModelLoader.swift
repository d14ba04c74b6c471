import Client
import People
import Synchronization

/// Thread that loads the models for finding people. During the loading, the thread of
/// `PeopleService` continues to hold the camera's direction. A small board needs more time to load
/// the models than the dead-man timeout of the mode `tracking`.
final class ModelLoader: Sendable {
    /// The loaded models. The type is `@unchecked Sendable`, because the loader does not use the
    /// models after it has passed them on.
    private struct Result: @unchecked Sendable {
        let models: Swift.Result<PersonFinder, InferenceError>
    }

    private let result = Mutex<Result?>(nil)
    private let thread = CompanionThread()

    /// Starts loading the models from a directory.
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

    /// The models, or the reason why they cannot be used; nil until the loading is complete.
    var models: Swift.Result<PersonFinder, InferenceError>? { result.withLock { $0 }?.models }

    /// Waits until the thread has ended.
    func stop() { thread.stop() }
}
