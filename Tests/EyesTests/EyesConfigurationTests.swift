import Configuration
import SystemPackage
import TestSupport
import Testing

@testable import Eyes

@Suite("Settings of airframe-eyes")
struct EyesConfigurationTests {
    private func load(_ text: String?, _ overrides: [String] = []) throws -> EyesSettings {
        let files = ConfigurationFiles(
            read: { (path: FilePath) throws(Errno) in
                guard let text, path == EyesConfiguration.defaultFile else {
                    throw .noSuchFileOrDirectory
                }
                return Array(text.utf8)
            }, list: { (_: FilePath) throws(Errno) in [] })
        return try EyesConfiguration(overrides: overrides).load(files: files)
    }

    private func problem(_ text: String?, _ overrides: [String] = []) throws -> String {
        let failure = try #require(throws: ConfigurationFailure.self) {
            try load(text, overrides)
        }
        return failure.description
    }

    @Test("without a file the defaults apply, and every port listens only on this computer")
    func defaults() throws {
        let settings = try load(nil)
        #expect(settings == EyesSettings())
        #expect(settings.rtsp.listen == "127.0.0.1:8554")
        #expect(settings.rtsp.path == "/stream")
    }

    @Test("the command line takes precedence over the file")
    func layers() throws {
        let settings = try load(
            "[video]\nwidth = 800\nheight = 600\nsource = \"test\"\n",
            ["video.width=320", "video.encoder=x264"])
        #expect(settings.video.width == 320)
        #expect(settings.video.height == 600)
        #expect(settings.video.source == .test)
        #expect(settings.video.encoder == .x264)
    }

    @Test("an odd size becomes even, because encoders process pairs of pixels")
    func even() throws {
        let settings = try load(nil, ["video.width=641", "video.height=481"])
        #expect(settings.video.width == 640)
        #expect(settings.video.height == 480)
    }

    @Test(
        "an error in the file is reported with its place, the expected value or a suggestion",
        arguments: [
            (
                "[video]\nrate_hz = 500\n",
                "airframe-eyes.toml:2: video.rate_hz = 500 is outside 5...60"
            ),
            (
                "[video]\nwidht = 640\n",
                "video.widht = 640 is not a known key. Did you mean video.width?"
            ),
            ("[video]\nsource = \"tset\"\n", "Did you mean test?"),
            ("[video]\nenabled = 1\n", "where true or false is expected"),
            ("[rtsp]\nlisten = \"localhost\"\n", "ADDRESS:PORT with a numeric address"),
            ("[video\n", "not valid TOML"),
        ])
    func mistakes(_ text: String, _ sentence: String) throws {
        let problem = try problem(text)
        #expect(problem.contains(sentence), "\(problem)")
    }

    @Test(
        "a stream path that no player can request is refused",
        arguments: [
            "/my stream", "/vidéo", "/cam?1", "/cam#1", "stream", "/stream/", "/cam//1", "//",
        ])
    func streamPath(path: String) throws {
        let problem = try problem("[rtsp]\npath = \"\(path)\"\n")
        #expect(
            problem.contains(
                "ASCII characters without spaces, question marks, number signs, double slashes and a slash at the end (/ alone is allowed)"
            ), "\(problem)")
        for path in ["/cam-1/a@b%20c", "/"] {
            #expect(try load("[rtsp]\npath = \"\(path)\"\n").rtsp.path == path)
        }
    }

    @Test("all errors of a file are reported at once")
    func allAtOnce() throws {
        let problem = try problem("[video]\nwidth = 1\nheight = 1\n", ["video.rate_hz"])
        #expect(problem.split(separator: "\n").count == 3)
        #expect(problem.contains("Write --set KEY=VALUE"))
    }

    @Test("a command changes loaded settings without the file, and a wrong value changes nothing")
    func applied() throws {
        let configuration = EyesConfiguration(file: "/missing/eyes.toml")
        var loaded = EyesSettings()
        loaded.video.height = 600
        let new = try configuration.applying(["video.width=321", "video.record=true"], to: loaded)
        loaded.video.width = 320
        loaded.video.record = true
        #expect(new == loaded)
        let failure = #expect(throws: ConfigurationFailure.self) {
            try configuration.applying(["video.width=9"], to: loaded)
        }
        #expect(failure?.description.contains("outside 160...1920") == true)
    }

    @Test(
        "a problem of a command names no option, and suggests a key for a short name",
        arguments: [
            (
                "rate=30",
                "rate = 30 is not a known key. Did you mean video.rate_hz or people.rate_hz or pictures.rate_hz?"
            ),
            ("width=640", "width = 640 is not a known key. Did you mean video.width or pictures"),
            ("rate", "rate has no value. Write KEY=VALUE, such as"),
        ])
    func command(_ text: String, _ sentence: String) {
        let configuration = EyesConfiguration(file: "/missing/eyes.toml")
        let failure = #expect(throws: ConfigurationFailure.self) {
            try configuration.applying([text], to: EyesSettings())
        }
        #expect(failure?.description.hasPrefix(sentence) == true, "\(failure?.description ?? "")")
    }

    @Test("every setting can be read and written", arguments: EyesSchema.settings)
    func roundTrip(_ setting: EyesSetting) throws {
        var settings = EyesSettings()
        #expect(setting.read(settings) == setting.rule.defaultValue)
        let text = setting.rule.defaultValue.tomlText
        setting.write(&settings, try setting.rule.value(of: text, at: nil))
        #expect(settings == EyesSettings())
    }

    @Test("etc/airframe-eyes.toml matches the declared settings, and loading it gives the defaults")
    func sampleFile() throws {
        let file = CommittedFile("etc/airframe-eyes.toml")
        if let drift = try file.drift(from: EyesSchema.sampleFile) { Issue.record("\(drift)") }
        #expect(try load(file.text()) == EyesSettings())
    }
}
