import CInference

/// Error of the library or a model, with a message that states the remedy.
public struct InferenceError: Error, Sendable, CustomStringConvertible {
    /// The problem, as a sentence.
    public let problem: String
    /// The remedy, as a sentence; empty if there is none.
    public let remedy: String

    /// Remedy of missing or unusable files.
    public static let reinstallation = "Run make deps-eyes, or install airframe-eyes again."

    /// Message that states the problem and the remedy.
    public var description: String { remedy.isEmpty ? problem : "\(problem) \(remedy)" }

    /// Creates an error with its remedy.
    public init(_ problem: String, remedy: String = "") {
        self.problem = problem
        self.remedy = remedy
    }
}

/// The LiteRT library, loaded from a file at run time. Any thread can use the library.
final class InferenceLibrary: @unchecked Sendable {
    // The type is `@unchecked Sendable`, because the C library protects its data with locks.
    fileprivate let handle: OpaquePointer

    /// Loads the library.
    ///
    /// - Parameter path: Path of the library's file.
    /// - Throws: The reason why the library cannot be used.
    init(path: String) throws(InferenceError) {
        let (handle, text) = withErrorText { ci_library_open(path, $0) }
        guard let handle else {
            throw InferenceError(
                "The library for inference cannot be loaded: \(text).",
                remedy: InferenceError.reinstallation)
        }
        self.handle = handle
    }

    deinit { ci_library_close(handle) }
}

/// Model with one input and several outputs. A `Model` is used by one thread only.
final class Model {
    private let library: InferenceLibrary
    private let handle: OpaquePointer
    /// Values of the model's input; set them before `run`.
    var input: [Float]
    /// Values of the model's outputs after `run`; empty for an unused output.
    let outputs: [UnsafeMutableBufferPointer<Float>]

    /// Reads and prepares a model.
    ///
    /// - Parameters:
    ///   - library: Library that executes the model.
    ///   - path: Path of the model's file.
    ///   - threads: Number of threads that execute the model, at least 1.
    ///   - inputCount: Expected number of values in the input.
    ///   - outputCounts: Expected number of values in each output; 0 for an unused output.
    /// - Throws: The reason why the model cannot be used.
    init(
        _ library: InferenceLibrary, path: String, threads: Int, inputCount: Int,
        outputCounts: [Int]
    ) throws(InferenceError) {
        let (handle, text) = withErrorText {
            ci_model_open(library.handle, path, Int32(threads), $0)
        }
        guard let handle else {
            throw InferenceError(
                "The model cannot be used: \(text).", remedy: InferenceError.reinstallation)
        }
        self.library = library
        self.handle = handle
        input = Array(repeating: 0, count: inputCount)
        outputs = outputCounts.map { count in
            let buffer = UnsafeMutableBufferPointer<Float>.allocate(capacity: count)
            buffer.initialize(repeating: 0)
            return buffer
        }
        let sizes = outputCounts.indices.map { ci_model_output_size(handle, $0) }
        let fits = zip(sizes, outputCounts).allSatisfy { $1 == 0 || $0 == $1 }
        guard fits, ci_model_input_size(handle) == inputCount,
            ci_model_output_count(handle) == outputCounts.count
        else {
            throw InferenceError(
                "\(path) is not the model for which this program was made.",
                remedy: InferenceError.reinstallation)
        }
    }

    deinit {
        ci_model_close(handle)
        for output in outputs { output.deallocate() }
    }

    /// Computes the outputs from `input`.
    ///
    /// - Throws: The reason why the library cannot execute the model.
    func run() throws(InferenceError) {
        let pointers = outputs.map { $0.isEmpty ? nil : $0.baseAddress }
        let (isDone, text) = withErrorText { ci_model_run(handle, input, pointers, $0) }
        guard isDone else { throw InferenceError("The inference failed: \(text).") }
    }
}

/// Calls a function of CInference that returns an error text if it fails.
///
/// - Returns: The result of the function, and the error text; the text is empty after success.
private func withErrorText<Result>(
    _ body: (UnsafeMutablePointer<CChar>) -> Result
) -> (Result, String) {
    var buffer = [CChar](repeating: 0, count: Int(CI_TEXT))
    let result = buffer.withUnsafeMutableBufferPointer { bytes in
        guard let base = bytes.baseAddress else { fatalError("The buffer has no base address.") }
        return body(base)
    }
    let text = String(
        decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return (result, text)
}
