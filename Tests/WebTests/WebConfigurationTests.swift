import Configuration
import SystemPackage
import TestSupport
import Testing

@testable import Web

@Suite("Settings of airframe-web") struct WebConfigurationTests {
    private func load(_ text: String?, _ overrides: [String] = []) throws -> WebSettings {
        let files = ConfigurationFiles(
            read: { (path: FilePath) throws(Errno) in
                guard let text, path == "/etc/airframe/airframe-web.toml" else {
                    throw .noSuchFileOrDirectory
                }
                return Array(text.utf8)
            }, list: { (_: FilePath) throws(Errno) in [] })
        return try CompanionConfiguration(
            WebSchema.table, file: nil, overrides: overrides, example: "a=b"
        ).load(files: files)
    }

    @Test("the defaults listen only on the loopback interface, and keep a token for 30 days")
    func defaults() throws {
        let settings = try load(nil)
        #expect(settings == WebSettings())
        #expect(settings.web.listen == "127.0.0.1:8088")
        #expect(settings.web.tokenDays == 30)
    }

    @Test(
        "an error in a setting is reported with place, allowed values and remedy",
        arguments: [
            (
                "[web]\nmax_tabs = 500\n",
                "airframe-web.toml:2: web.max_tabs = 500 is outside 1...40"
            ),
            ("[web]\nlisen = \"x\"\n", "Did you mean web.listen?"),
            ("[web]\nlisten = \"localhost\"\n", "ADDRESS:PORT with a numeric address"),
            ("[web]\nlisten = \"off\"\n", "is not ADDRESS:PORT with a numeric address"),
            (
                "[web]\ncertificate = \"/etc/ssl/gimbal.pem\"\n",
                "web.key = off is necessary because web.certificate is set. Set both, or neither."
            ),
            (
                "[web]\nkey = \"/etc/ssl/gimbal.key\"\n",
                "web.certificate = off is necessary because web.key is set."
            ),
        ])
    func mistakes(_ text: String, _ sentence: String) throws {
        let failure = try #require(throws: ConfigurationFailure.self) { try load(text) }
        #expect(failure.description.contains(sentence), "\(failure)")
    }

    @Test("a control socket that cannot be created is reported with its path and the reason")
    func controlSocket() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appending("missing").appending("control.sock").string
            let settings = [
                "web.listen=127.0.0.1:\(Rig.freePort())", "web.page=\"\(Rig.page)\"",
                "web.control=\"\(path)\"", "web.state_directory=\"\(directory)\"",
            ]
            let program = try RunningProgram(
                "airframe-web", settings.flatMap { ["--set", $0] }, in: directory)
            #expect(program.wait(seconds: 5) == 69)
            let sentence = "Cannot listen on \(path): No such file or directory. Does its directory"
            #expect(program.log.contains(sentence), "\(program.log)")
        }
    }

    @Test("every setting can be read and written")
    func roundTrip() throws {
        for setting in WebSchema.table.settings {
            var settings = WebSettings()
            #expect(setting.read(settings) == setting.rule.defaultValue)
            let text = setting.rule.defaultValue.tomlText
            setting.write(&settings, try setting.rule.value(of: text, at: nil))
            #expect(settings == WebSettings())
        }
    }

    @Test("etc/airframe-web.toml matches the declared settings, and contains only default values")
    func sampleFile() throws {
        let file = CommittedFile("etc/airframe-web.toml")
        if let drift = try file.drift(from: WebSchema.sampleFile) { Issue.record("\(drift)") }
        #expect(try load(file.text()) == WebSettings())
    }
}
