import FuzzTargets
import Glibc
import Testing

/// Runs the inputs of the fuzzers' corpora as ordinary tests. No input may end the process.
@Suite("Corpora of the fuzzers")
struct CorpusTests {
    @Test("no input of a corpus ends the process", arguments: FuzzTargets.all.map(\.name))
    func corpus(name: String) throws {
        let target = try #require(FuzzTargets.all.first { $0.name == name })
        let folder = "\(#filePath.dropLast("CorpusTests.swift".count))../Fuzz/Corpora/\(name)"
        let files = try Self.files(in: folder)
        #expect(files.count >= 10)
        for file in files { target.run(file) }
    }

    @Test("no truncated, doubled or bit-flipped input of a corpus ends the process")
    func mutations() throws {
        for target in FuzzTargets.all {
            let folder =
                "\(#filePath.dropLast("CorpusTests.swift".count))../Fuzz/Corpora/\(target.name)"
            for file in try Self.files(in: folder).prefix(40) {
                target.run(file + file)
                for index in file.indices {
                    target.run(Array(file[..<index]))
                    var changed = file
                    changed[index] ^= 1 << UInt8(index % 8)
                    target.run(changed)
                }
            }
        }
    }

    private static func files(in folder: String) throws -> [[UInt8]] {
        let directory = try #require(opendir(folder))
        defer { closedir(directory) }
        var result: [[UInt8]] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard !name.hasPrefix(".") else { continue }
            let file = try #require(fopen("\(folder)/\(name)", "r"))
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = fread(&bytes, 1, bytes.count, file)
            result.append(Array(bytes.prefix(count)))
        }
        return result
    }
}
