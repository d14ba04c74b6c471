import Configuration
import TOMLKit
import TestSupport
import Testing

@Suite("The sample file etc/airframed.toml")
struct SampleFileTests {
    private static let file = CommittedFile("etc/airframed.toml")

    let text: String

    init() throws {
        text = try Self.file.text()
    }

    /// The file without the # in front of each setting; other comments have a space after the #.
    private var uncommented: String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix("#") && !line.hasPrefix("# ") ? String(line.dropFirst()) : String(line)
        }.joined(separator: "\n")
    }

    @Test("the sample file matches the schema")
    func matchesSchema() throws {
        if let drift = try Self.file.drift(from: SampleFile.text) { Issue.record("\(drift)") }
    }

    @Test("the delivered file changes no setting")
    func asDelivered() throws {
        let files = ConfigurationFiles.memory(["/etc/airframe/airframed.toml": text])
        let loaded = try ConfigurationLoader.load(ConfigurationSource(), files: files)
        #expect(loaded.settings == Settings())
        #expect(Schema.settings.allSatisfy { loaded.origin(of: $0.key) == .builtIn })
    }

    @Test("the file contains every setting with its default")
    func defaults() throws {
        let files = ConfigurationFiles.memory(["/etc/airframe/airframed.toml": uncommented])
        let loaded = try ConfigurationLoader.load(ConfigurationSource(), files: files)
        #expect(loaded.settings == Settings())
        for setting in Schema.settings {
            #expect(loaded.origin(of: setting.key) != .builtIn, "\(setting.key) is not shown")
        }
    }

    @Test(
        "the comment above each setting contains its range, unit and meaning",
        arguments: Schema.settings)
    func facts(of setting: Setting) throws {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let table = try #require(lines.firstIndex(of: "[\(setting.table)]"))
        let line = try #require(
            lines[table...].firstIndex { $0.hasPrefix("#\(setting.name) = ") })
        var comment = ""
        for above in lines[..<line].reversed() {
            guard above.hasPrefix("# ") else { break }
            comment = above.dropFirst(2) + " " + comment
        }
        #expect(comment.contains(setting.summary))
        #expect(comment.contains(setting.allowed))
        if let unit = setting.unit { #expect(comment.contains(unit)) }
        #expect(comment.contains("default \(setting.defaultValue.tomlText)."))
        #expect(comment.contains(setting.applies == .live ? "live" : "restart"))
    }
}
