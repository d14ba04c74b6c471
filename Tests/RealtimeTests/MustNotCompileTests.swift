import Foundation
import Testing

/// A file that the compiler must accept or refuse; see `Tests/MustNotCompile/README.md`.
struct CompilerCase: Sendable, CustomTestStringConvertible {
    var file: URL
    /// Part of the expected error message; nil: the file must compile.
    var message: String?
    /// True if the file is compiled together with the real root of the checked code.
    var replacesLoop: Bool

    var testDescription: String { file.lastPathComponent }

    static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// All cases in a folder, sorted by name.
    static func all(in folder: String, replacesLoop: Bool) -> [CompilerCase] {
        let directory = repository.appending(path: folder)
        let files =
            (try? FileManager.default.contentsOfDirectory(
                at: directory, includingPropertiesForKeys: nil)) ?? []
        return files.filter { $0.pathExtension == "swift" }
            .sorted { $0.path < $1.path }
            .map { file in
                let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
                let first = text.prefix { $0 != "\n" }
                let expectation = first.split(separator: "expect: ").last.map(String.init)
                return CompilerCase(
                    file: file, message: expectation == "success" ? nil : expectation,
                    replacesLoop: replacesLoop)
            }
    }

    static let standalone = all(in: "Tests/MustNotCompile", replacesLoop: false)
    static let root = all(in: "Tests/MustNotCompile/Root", replacesLoop: true)
}

/// The compiler that built this test.
enum Compiler {
    static let path: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { "\($0)/swiftc" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// The directory of the built modules, which is that of this test's executable.
    static var products: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

    /// Compiler arguments for the modules of the build.
    static var modules: [String] {
        let moduleMap = products.appending(path: "CMathShim.build/module.modulemap").path
        return [
            "-I", products.appending(path: "Modules").path,
            "-Xcc", "-fmodule-map-file=\(moduleMap)",
        ]
    }

    /// Compiles to SIL, because the checker works on SIL: type checking alone finds no violation.
    ///
    /// - Returns: Whether the compilation succeeded, and the compiler's messages.
    static func run(_ item: CompilerCase, optimized: Bool) throws -> (succeeded: Bool, said: String)
    {
        var arguments = [
            optimized ? "-O" : "-Onone", "-emit-sil", "-o", "/dev/null", item.file.path,
        ]
        if item.replacesLoop {
            arguments.append(
                CompilerCase.repository.appending(path: "Sources/Realtime/Loop/RealtimeRoot.swift")
                    .path)
            arguments += modules
        }
        return try run(arguments)
    }

    /// Runs swiftc over a whole module.
    static func run(_ arguments: [String]) throws -> (succeeded: Bool, said: String) {
        let process = Process()
        process.executableURL = URL(filePath: try #require(path))
        process.arguments =
            ["-swift-version", "6", "-parse-as-library", "-whole-module-optimization"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus == 0, String(decoding: said, as: UTF8.self))
    }
}

@Suite(
    "Refusals by the compiler in checked ticks", .serialized,
    .enabled(if: Compiler.path != nil, "swiftc is not in PATH"))
struct MustNotCompileTests {
    @Test("there are cases that must compile and cases that must not")
    func cases() {
        #expect(CompilerCase.standalone.contains { $0.message == nil })
        #expect(CompilerCase.standalone.count { $0.message != nil } >= 5)
        #expect(CompilerCase.root.contains { $0.message == nil })
        #expect(CompilerCase.root.contains { $0.message != nil })
    }

    @Test(
        "the compiler refuses each forbidden construct in a checked tick, and accepts an allowed tick",
        arguments: CompilerCase.standalone)
    func construct(item: CompilerCase) throws { try check(item, optimized: false) }

    @Test("an optimised build gives the same verdicts", arguments: CompilerCase.standalone)
    func optimisedConstruct(item: CompilerCase) throws { try check(item, optimized: true) }

    @Test(
        "the real root refuses a loop that breaks the rules, and accepts one that keeps them",
        arguments: CompilerCase.root)
    func root(item: CompilerCase) throws { try check(item, optimized: false) }

    private func check(_ item: CompilerCase, optimized: Bool) throws {
        let result = try Compiler.run(item, optimized: optimized)
        if let message = item.message {
            #expect(
                !result.succeeded,
                "invalid code compiled, so the compiler no longer checks the tick")
            #expect(result.said.contains("error: \(message)"), "\(result.said)")
        } else {
            #expect(result.succeeded, "\(result.said)")
        }
    }
}
