import ArgumentParser
import CLinuxShim
import CVideo
import Configuration
import Glibc
import Wire

/// Command that serves the stream until SIGTERM or SIGINT.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve the stream (default).")

    @OptionGroup var options: EyesOptions

    @Flag(help: "Show the settings in force as a configuration file, and end.")
    var printConfig = false

    @Flag(help: "Check the configuration, and end.")
    var checkConfig = false

    func run() throws {
        let settings = try options.load()
        if printConfig {
            for setting in EyesSchema.settings {
                print("\(setting.rule.key) = \(setting.read(settings).tomlText)")
            }
            return
        }
        if checkConfig { return }
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

/// Signals that the main thread receives with sigtimedwait(2).
struct SignalQueue {
    private var set = sigset_t()

    /// Blocks the signals in the calling thread and in all threads that it starts.
    init(_ signals: [Int32]) {
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits at most `seconds` for a signal; nil after the timeout.
    func next(within seconds: Double) -> Int32? {
        var set = set
        var time = timespec(
            tv_sec: Int(seconds), tv_nsec: Int((seconds - Double(Int(seconds))) * 1e9))
        let signal = sigtimedwait(&set, nil, &time)
        return signal > 0 ? signal : nil
    }
}

/// The running program: server, keeper of the feed, connection to the daemon.
struct EyesService {
    private var settings: EyesSettings
    private let configuration: EyesConfiguration
    private let signals: SignalQueue
    private let server: StreamServer
    private let keeper: FeedKeeper
    private let link: DaemonLink?
    private let address: String
    private let manager = getenv("NOTIFY_SOCKET").map { String(cString: $0) }

    /// Opens the server's port, and starts the threads.
    init(
        _ settings: EyesSettings, _ configuration: EyesConfiguration, _ signals: SignalQueue
    ) throws(VideoError) {
        self.settings = settings
        self.configuration = configuration
        self.signals = signals
        let (host, port) = settings.rtsp.endpoint
        server = try StreamServer(
            host: host, port: port, path: settings.rtsp.path,
            maximumClients: settings.rtsp.maxClients)
        address = "rtsp://\(NetworkInterface.reachable(host)):\(server.port)\(settings.rtsp.path)"
        let link =
            settings.gimbal.socket == "off" ? nil : DaemonLink(socket: settings.gimbal.socket)
        self.link = link
        var world = FeedKeeper.World()
        world.attitude = { link?.attitude }
        world.recording = { link?.record($0) }
        world.log = { Log.write($0) }
        keeper = FeedKeeper(settings.video, server, world)
    }

    /// Reports the stream's health once a second, until a signal ends the program.
    mutating func run() {
        Log.write("The stream is at \(address).")
        notify("READY=1")
        var before = counters()
        var rounds = keeper.rounds
        var lastProblem: String?
        while true {
            switch signals.next(within: 1) {
            case SIGHUP: reload()
            case nil: break
            default:
                notify("STOPPING=1")
                keeper.stop()
                link?.stop()
                return
            }
            let now = counters()
            guard now.t - before.t > 500_000_000 else { continue }
            let report = StreamHealth(from: before, to: now).report(
                settings.video, address: address)
            before = now
            link?.report(report)
            notify("STATUS=\(report.finding)")
            // If a timer fed the watchdog, systemd would not detect a camera that never opens.
            if keeper.rounds != rounds { notify("WATCHDOG=1") }
            rounds = keeper.rounds
            if let problem = link?.problem, problem != lastProblem { Log.write(problem) }
            lastProblem = link?.problem
        }
    }

    private func counters() -> StreamHealth.Counters {
        StreamHealth.Counters(t: cv_now(), feed: keeper.report, server: server.counters())
    }

    /// Reads the configuration file again, and applies the settings that can change while the
    /// program runs. If a value is invalid, no setting changes.
    private mutating func reload() {
        do throws(ConfigurationFailure) {
            let new = try configuration.load()
            keeper.apply(new.video)
            settings.video = new.video
            let waiting = EyesSchema.settings.filter {
                $0.rule.applies == .restart && $0.read(new) != $0.read(settings)
            }
            let suffix = waiting.map { " " + $0.rule.key }.joined(separator: ",")
            Log.write(
                "The settings have been read again."
                    + (waiting.isEmpty ? "" : " These need a restart:\(suffix)."))
        } catch {
            Log.write("\(error)\nNo setting has changed.")
        }
    }

    /// Sends a notification to systemd (sd_notify(3)). A missing systemd is not an error.
    private func notify(_ text: String) {
        guard let manager else { return }
        _ = cl_notify(manager, text)
    }
}

/// Network addresses of this computer.
enum NetworkInterface {
    /// Find the address at which other computers reach a server on this computer.
    ///
    /// - Parameter host: Address on which the server listens; 0.0.0.0 means all addresses.
    /// - Returns: The address for clients. For 0.0.0.0 it is the computer's address in the first
    ///   network. An IPv6 address is in brackets.
    static func reachable(_ host: String) -> String {
        guard host == "0.0.0.0" || host == "::" else {
            return host.contains(":") ? "[\(host)]" : host
        }
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return "127.0.0.1" }
        defer { freeifaddrs(list) }
        var entry = list
        while let present = entry {
            defer { entry = present.pointee.ifa_next }
            let flags = Int32(bitPattern: present.pointee.ifa_flags)
            guard let address = present.pointee.ifa_addr, address.pointee.sa_family == AF_INET,
                flags & Int32(IFF_UP) != 0, flags & Int32(IFF_LOOPBACK) == 0
            else { continue }
            var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let result = getnameinfo(
                address, socklen_t(MemoryLayout<sockaddr_in>.size), &name, socklen_t(name.count),
                nil, 0, NI_NUMERICHOST)
            guard result == 0 else { continue }
            return String(
                decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return "127.0.0.1"
    }
}

extension EyesSettings.RTSP {
    /// Address and port of the server. The schema guarantees that the setting contains both.
    var endpoint: (host: String, port: UInt16) {
        guard let endpoint = NetworkEndpoint(listen) else { return ("127.0.0.1", 8554) }
        return (endpoint.host, endpoint.port)
    }
}
