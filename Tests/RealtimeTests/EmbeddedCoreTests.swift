import Foundation
import Testing

@Suite(
    "GimbalCore as Embedded Swift",
    .enabled(if: Compiler.path != nil, "swiftc is not in PATH"))
struct EmbeddedCoreTests {
    private var flags: [String] {
        ["-enable-experimental-feature", "Embedded", "-module-name", "GimbalCore"]
            + ["InternalImportsByDefault", "ExistentialAny", "MemberImportVisibility"]
            .flatMap { ["-enable-upcoming-feature", $0] } + Compiler.modules.suffix(2)
            + ["-emit-sil", "-o", "/dev/null"]
    }

    private var sources: [String] {
        let folder = CompilerCase.repository.appending(path: "Sources/GimbalCore")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (files?.compactMap { $0 as? URL } ?? [])
            .filter { $0.pathExtension == "swift" }.map(\.path).sorted()
    }

    @Test("the whole core compiles without the full runtime")
    func core() throws {
        let files = sources
        #expect(files.contains { $0.hasSuffix("Stabilizer.swift") })
        let result = try Compiler.run(flags + files)
        #expect(result.succeeded, "\(result.said)")
    }

    @Test("a file with reflection does not compile, so the check is effective")
    func reflection() throws {
        let file = FileManager.default.temporaryDirectory
            .appending(path: "Reflection-\(ProcessInfo.processInfo.processIdentifier).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        let text = "func f() -> Int { Mirror(reflecting: 1).children.count }"
        try text.write(to: file, atomically: true, encoding: .utf8)
        let result = try Compiler.run(flags + sources + [file.path])
        #expect(!result.succeeded, "invalid code compiled, so the first test is ineffective")
    }
}
