import ArgumentParser
import CVideo
import Client
import Configuration
import Glibc
import WebServing
import Wire

/// Command that serves the stream until SIGTERM or SIGINT.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve the stream (default).")

    @OptionGroup var options: EyesOptions

    @Flag(help: "Print the effective settings as a configuration file, and exit.")
    var printConfig = false

    @Flag(help: "Check the configuration, and exit.")
    var checkConfig = false

    func run() throws {
        let settings = try options.load()
        if printConfig {
            for setting in EyesSchema.settings {
                print("\(setting.rule.key) = \(setting.read(settings).tomlText)")
            }
            return
        }
        if checkConfig { return print("The configuration is good.") }
        // The signals are blocked before the first thread starts, because threads inherit the
        // signal mask.
        let signals = SignalQueue([SIGTERM, SIGINT, SIGHUP])
        signal(SIGPIPE, SIG_IGN)
        do {
            try VideoLibrary.start()
            var service = try EyesService(settings, options.configuration, signals)
            service.run()
        } catch {
            Log.write(error.description)
            throw ExitCode(69)
        }
    }
}

/// Parts of the running program: server, supervisor of the feed, connection to the daemon.
struct EyesService {
    private var settings: EyesSettings
    /// Settings of the file and the command line, as last read without an error.
    private var loaded: EyesSettings
    private let configuration: EyesConfiguration
    private let signals: SignalQueue
    private let server: StreamServer
    private let supervisor: FeedSupervisor
    private let link: DaemonLink?
    /// Present address of the stream; the computer can get another network address at any time.
    private var address: String {
        let host = NetworkInterface.reachable(loaded.rtsp.endpoint.host)
        return "rtsp://\(host):\(server.port)\(loaded.rtsp.path)"
    }
    private let phones: PhoneService?
    private let people: PeopleService
    private let pictures: PictureService?
    private let commands: CameraCommandExecutor
    /// Settings from users' commands, as `KEY=VALUE`, until the file is read again.
    private var ordered: [String] = []
    private var problem: String?
    /// Action of the latest command.
    private var latest: CameraOrder.Action?
    private let manager = SystemManager()

    /// Opens the server's port, and starts the threads.
    init(
        _ settings: EyesSettings, _ configuration: EyesConfiguration, _ signals: SignalQueue
    ) throws(VideoError) {
        self.settings = settings
        loaded = settings
        self.configuration = configuration
        self.signals = signals
        let (host, port) = settings.rtsp.endpoint
        server = try StreamServer(
            host: host, port: port, path: settings.rtsp.path,
            maximumClients: settings.rtsp.maxClients)
        let link =
            settings.gimbal.socket == "off" ? nil : DaemonLink(socket: settings.gimbal.socket)
        self.link = link
        var dependencies = FeedSupervisor.Dependencies()
        dependencies.attitude = { link?.attitude }
        dependencies.recording = { link?.record($0) }
        dependencies.log = { Log.write($0) }
        phones =
            settings.aerie.listen == "off"
            ? nil
            : try PhoneService(settings.aerie, models: settings.people.models) { Log.write($0) }
        let people = PeopleService(settings, phones: phones?.pages) { Log.write($0) }
        self.people = people
        let pictures = Self.pictures(settings)
        self.pictures = pictures
        commands = CameraCommandExecutor(pictures)
        dependencies.isWanted = { people.isActive || pictures?.isWanted == true }
        dependencies.feed = {
            people.use($0)
            pictures?.use($0)
        }
        supervisor = FeedSupervisor(settings.feedVideo, server, dependencies)
        if let phones {
            Log.write(
                "Phones can connect to port \(phones.port) (\(settings.aerie.listen)).")
        }
    }

    /// Server for single pictures. The stream does not need this server, so a failure is only
    /// logged.
    private static func pictures(_ settings: EyesSettings) -> PictureService? {
        guard settings.pictures.socket != "off" else { return nil }
        do throws(WebServerError) {
            return try PictureService(
                path: settings.pictures.socket, isEnabled: settings.video.enabled)
        } catch {
            Log.write(
                "airframe-web will show no video (pictures.socket): \(error.description)")
            return nil
        }
    }

    /// Executes commands immediately and reports the stream's health once a second, until a signal
    /// ends the program.
    mutating func run() {
        Log.write("The stream is at \(address).")
        manager.notify("READY=1")
        var before = counters()
        var rounds = supervisor.rounds
        var (linkProblems, certificateProblems) = (ProblemLog(), ProblemLog())
        var report = CompanionReport(name: "eyes")
        while true {
            switch signals.next(within: 0.1) {
            case SIGHUP: reload()
            case nil: break
            default:
                manager.notify("STOPPING=1")
                supervisor.stop()
                people.stop()
                pictures?.stop()
                commands.finish()
                phones?.stop()
                link?.stop()
                return
            }
            for order in link?.takeOrders() ?? [] {
                execute(order)
                link?.executed(order)
            }
            if cv_now() - before.t > 1_000_000_000 {
                // Each reading of the counters begins a new interval for the largest latency.
                let now = counters()
                report = health(from: before, to: now)
                before = now
                let certificate = phones?.renewCertificate()
                report.note(certificateProblem: certificate)
                certificateProblems.note(certificate)
                manager.status(report.finding)
                // The watchdog is notified only while the supervisor's thread makes progress. Therefore
                // systemd detects a hang, for example while a camera is opened.
                if supervisor.rounds != rounds { manager.notify("WATCHDOG=1") }
                rounds = supervisor.rounds
                linkProblems.note(link?.problem)
            }
            report.capture = commands.state(
                supervisor.report, directory: settings.video.recordDirectory, latest: latest,
                problem: problem)
            if !report.finding.isEmpty { link?.report(report) }
        }
    }

    private func counters() -> StreamHealth.Counters {
        StreamHealth.Counters(t: cv_now(), feed: supervisor.report, server: server.counters())
    }

    private func health(from before: StreamHealth.Counters, to now: StreamHealth.Counters)
        -> CompanionReport
    {
        var report = StreamHealth(from: before, to: now).report(settings.video, address: address)
        for (name, value) in phones?.values ?? [:] { report.values[name] = Number(value) }
        if let pictures {
            pictures.adoptGroup(of: settings.gimbal.socket)
            report.values["pictures"] = Number(Double(pictures.given))
        }
        return report
    }

    // MARK: Orders and settings

    /// Executes a user's command.
    private mutating func execute(_ order: CameraOrder) {
        latest = order.action
        switch order.action {
        case .photo: problem = commands.photo(in: settings.video.recordDirectory)
        case .record:
            supervisor.repeatRecording()
            problem = set(["video.record=true"])
        case .stop: problem = set(["video.record=false"])
        case .set: problem = set(order.settings)
        }
        let end = problem.map { ", refused: \($0)" } ?? ""
        Log.write("Order: \(order.action.rawValue)\(end)\(end.hasSuffix(".") ? "" : ".")")
    }

    /// Changes live settings until the file is read again. Changes of the file have no effect here.
    ///
    /// - Returns: Reason why no setting has changed.
    private mutating func set(_ texts: [String]) -> String? {
        let keys = texts.map { $0.prefix { $0 != "=" } }
        let later = ordered.filter { old in !keys.contains { old.hasPrefix($0 + "=") } } + texts
        do throws(ConfigurationFailure) {
            let new = try configuration.applying(later, to: loaded)
            if let key = waiting(for: new).first(where: { keys.contains($0[...]) }) {
                return
                    "\(key) takes effect only after a restart: change this setting in the configuration file."
            }
            ordered = later
            apply(new)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Reads the configuration file again, and applies the live settings. If a value is invalid, no
    /// setting changes.
    private mutating func reload() {
        do throws(ConfigurationFailure) {
            let new = try configuration.load()
            loaded = new
            ordered = []
            problem = nil
            apply(new)
            let waiting = waiting(for: new)
            let suffix = waiting.map { " " + $0 }.joined(separator: ",")
            Log.write(
                "The settings have been read again."
                    + (waiting.isEmpty ? "" : " These need a restart:\(suffix)."))
        } catch {
            Log.write("\(error)\nNo setting has changed.")
        }
    }

    /// Keys of changed settings that need a restart.
    private func waiting(for new: EyesSettings) -> [String] {
        EyesSchema.settings.filter {
            $0.rule.applies == .restart && $0.read(new) != $0.read(settings)
        }.map(\.rule.key)
    }

    private mutating func apply(_ new: EyesSettings) {
        settings.video = new.video
        settings.people = new.people
        settings.framing = new.framing
        (settings.pictures.rateHz, settings.pictures.width, settings.pictures.quality) = (
            new.pictures.rateHz, new.pictures.width, new.pictures.quality
        )
        supervisor.apply(settings.feedVideo)
        pictures?.apply(isEnabled: settings.video.enabled)
        people.apply(settings)
    }
}
