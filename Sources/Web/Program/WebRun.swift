import Client
import Glibc
import WebServing
import Wire

/// Components of the running program airframe-web.
struct WebRun {
    /// Lifetime of the pairing code that is printed at the start, s.
    static let firstCodeSeconds = 600.0

    private let site: Site
    private let server: WebServer
    private let control: ControlSocket?
    private let link: HealthLink
    private let manager = SystemManager()

    /// Opens the sockets and starts the threads.
    ///
    /// - Parameters:
    ///   - settings: Valid settings of airframe-web.
    ///   - files: The page's files.
    ///   - pair: True if the program prints a pairing code at its start.
    /// - Throws: An error with a message if an address or the control socket cannot be used.
    init(_ settings: WebSettings, _ files: PageFiles, pair: Bool) throws {
        let web = settings.web
        let book = PairedBrowsers(directory: web.stateDirectory, days: web.tokenDays)
        let gateway = Gateway(path: settings.gimbal.socket, limit: web.maxTabs)
        let site = Site(settings, files, book, gateway)
        let server = try WebServer(Self.options(web, files: files.count), site)
        self.site = site
        self.server = server
        // The computer can get another network address at any time.
        let address: @Sendable () -> String = { Self.address(web, port: server.port) }
        let isPlain = web.tls == nil && !web.listen.hasPrefix("127.")
        control =
            web.control == "off"
            ? nil : try ControlSocket(path: web.control, site: site, address: address)
        link = HealthLink(socket: settings.gimbal.socket) {
            Self.report(site, server, address(), isPlain: isPlain)
        } noteDirectory: {
            site.recordings.note(directory: $0)
        }
        Log.write("The page is at \(address()).")
        if pair {
            let code = site.codes.open(seconds: Self.firstCodeSeconds, now: DaemonClient.now())
            print("Open \(address())/#pair=\(code)")
            fflush(nil)
        }
    }

    private static func options(_ web: WebSettings.Web, files: Int) -> WebOptions {
        var options = WebOptions(listen: web.listen)
        if web.names != "none" {
            options.hosts = web.names.split(separator: " ").map(String.init)
        }
        options.tls = web.tls
        // Each page has two WebSockets, for requests and for the video. In addition, a browser
        // opens up to six connections for a page's files.
        options.limits.connections = 2 * web.maxTabs + 32
        options.limits.connectionsPerAddress = 2 * web.maxTabs + 16
        // A browser can load all its tabs at the same time, for example when it starts, and reload
        // them. Each tab also requests its session and two WebSockets.
        options.limits.requestBurst = 2 * web.maxTabs * (files + 3)
        return options
    }

    private static func address(_ web: WebSettings.Web, port: Int) -> String {
        var host = String(web.listen[..<(web.listen.lastIndex(of: ":") ?? web.listen.endIndex)])
        host.removeAll { $0 == "[" || $0 == "]" }
        let scheme = web.tls == nil ? "http" : "https"
        return "\(scheme)://\(NetworkInterface.reachable(host)):\(port)"
    }

    /// Health report of this program, for airframed's `status` and `doctor`.
    private static func report(
        _ site: Site, _ server: WebServer, _ address: String, isPlain: Bool
    ) -> CompanionReport {
        var report = CompanionReport(name: "web")
        let (counters, browsers) = (server.counters, site.book.browsers.count)
        func number(_ value: Int) -> Number { Number(Double(value)) }
        report.finding =
            "\(address), open pages: \(site.gateway.count), paired browsers: \(browsers)"
            + (isPlain ? ", not encrypted" : "")
        report.values = [
            "tabs": number(site.gateway.count), "video_pages": number(site.pictures.count),
            "browsers": number(browsers),
            "connections": number(counters.connections),
            "refused": number(counters.refusals.values.reduce(0, +)),
            "pairings_refused": number(site.codes.refused), "replaced": number(counters.replaced),
        ]
        report.note(certificateProblem: server.certificateProblem)
        return report
    }

    /// Runs until a signal ends the program.
    func run(until signals: SignalQueue) {
        manager.notify("READY=1")
        var beat = site.gateway.beat()
        var (linkProblems, certificateProblems) = (ProblemLog(), ProblemLog())
        while true {
            switch signals.next(within: 1) {
            case nil, SIGHUP: break
            default:
                manager.notify("STOPPING=1")
                link.stop()
                site.tools.shots.stop()
                server.stop()
                control?.stop()
                site.gateway.stop()
                return
            }
            // A token can expire while its page is connected.
            site.endPagesOfForgotten()
            let now = site.gateway.beat()
            if now != beat { manager.notify("WATCHDOG=1") }
            beat = now
            linkProblems.note(link.problem)
            certificateProblems.note(server.renewCertificate())
        }
    }
}

extension WebSettings.Web {
    /// Certificate and key; nil if the server uses HTTP. `WebSchema` ensures that either both files
    /// or none are set.
    fileprivate var tls: WebOptions.TLS? {
        certificate == "off" ? nil : WebOptions.TLS(certificate: certificate, key: key)
    }
}
