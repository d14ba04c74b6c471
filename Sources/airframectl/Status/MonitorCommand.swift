import Client
import PlainText
import ArgumentParser
import Glibc
import Wire

struct MonitorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Watch the gimbal live.",
        discussion: """
            On a terminal, this command shows a live view; if the daemon stops, the view waits for it. Otherwise, \
            and with --json, the command prints lines.
            Keys:
            space  emergency stop, latched: airframectl stop --reset ends it
            c  centre: turn the camera to level, in the handle's direction
            l p f n r i  mode locked, pan_follow, fpv, neutral, retract, inactive
            q  quit; the gimbal continues its motion
            """)

    @OptionGroup var options: GlobalOptions
    @Option(help: "Updates per second, 0.1 to 50; default 10 on a terminal, otherwise 1.")
    var rate: Double?

    func validate() throws {
        if let rate, !(0.1...50).contains(rate) {
            throw ValidationError("--rate must be 0.1 to 50.")
        }
    }

    func run() throws {
        if options.json || isatty(STDOUT_FILENO) == 0 {
            try printLines(rate: rate ?? 1)
        } else {
            showLive(rate: rate ?? 10)
        }
    }

    private func printLines(rate: Double) throws {
        let client = try options.connect()
        let signals = SignalQueue([SIGINT, SIGTERM])
        repeat {
            if options.json {
                Output.line(try client.json(.status).text)
            } else {
                Output.line(Self.line(try client.request(.status)))
            }
        } while signals.next(within: 1 / rate) == nil
    }

    /// Summary of the status in one line.
    static func line(_ status: Status) -> String {
        func axes(_ yaw: Number, _ roll: Number, _ pitch: Number, _ decimals: Int) -> String {
            [yaw, roll, pitch].map { Format.fixed($0.value, decimals, signed: true) }
                .joined(separator: " ")
        }
        let (attitude, error) = (status.attitude, status.errorDeg)
        let state = MotionState(status)
        let names = status.inhibitions.map(\.name)
        return
            "t \(Format.fixed(status.t.value, 3)) s  \(state.headline.lowercased())  \(status.mode)"
            + "  attitude \(axes(attitude.yawDeg, attitude.rollDeg, attitude.pitchDeg, 2))°"
            + "  error \(axes(error.yaw, error.roll, error.pitch, 3))°"
            + "  \(Format.fixed(status.loop.achievedHz.value, 1)) Hz"
            + (names.isEmpty ? "" : "  " + names.joined(separator: " "))
    }

    /// Time for which the answer to a key press is displayed, s.
    private static let answerSeconds = 4.0

    /// Draws the monitor until Ctrl-C, SIGTERM or the key `q`. The monitor continues after a
    /// restart of the daemon.
    private func showLive(rate: Double) {
        // The signals are blocked before the terminal's mode changes. Therefore every exit calls
        // `leave()`.
        let signals = SignalQueue([SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP])
        let terminal = Terminal()
        var feed = StatusFeed(options: options)
        var view = MonitorView(status: Status(), rate: rate, style: .forOutput())
        var answered = -Double.infinity
        func draw() { terminal.show(view.render(terminal.size)) }
        terminal.enter()
        defer { terminal.leave() }
        while true {
            let begin = DaemonClient.now()
            switch feed.next() {
            case .success(let status):
                view.status = status
                view.trouble = nil
                view.history.add(status.errorDeg)
            case .failure(let error):
                view.trouble = error.requestError.message
            }
            draw()
            repeat {
                for key in terminal.pressedKeys() {
                    if MonitorKey.leaving.contains(key) { return }
                    guard let request = MonitorKey.request(key) else { continue }
                    view.answer = feed.ask(request.method, request.params)
                    answered = DaemonClient.now()
                    // At a low rate, the next status arrives after the answer has expired.
                    draw()
                }
                if view.answer != nil, DaemonClient.now() - answered > Self.answerSeconds {
                    view.answer = nil
                    draw()
                }
                let rest = begin + 1 / rate - DaemonClient.now()
                switch signals.next(within: min(max(rest, 0), 0.1)) {
                case nil: break
                case SIGWINCH: draw()
                case SIGTSTP:
                    pause(terminal)
                    draw()
                default: return
                }
            } while DaemonClient.now() < begin + 1 / rate
        }
    }

    /// Restores the terminal for the shell after Ctrl-Z, until the monitor continues.
    private func pause(_ terminal: Terminal) {
        terminal.leave()
        kill(getpid(), SIGSTOP)
        terminal.enter()
    }
}

/// Source of the status. The source repeats the request, and reconnects after a restart of the
/// daemon.
struct StatusFeed {
    /// Interval between attempts to connect, s.
    private static let retryPeriod = 0.5

    let options: GlobalOptions
    private var client: DaemonClient?
    private var lastAttempt = -Double.infinity
    private var lastError = ClientError.unreachable("Connecting.")

    init(options: GlobalOptions) { self.options = options }

    mutating func next() -> Result<Status, ClientError> {
        do {
            return .success(try connected().request(.status))
        } catch {
            client = nil
            lastError = error
            return .failure(error)
        }
    }

    /// Sends a request, and returns the text of the daemon's answer or refusal. If the connection
    /// is lost, an emergency stop connects again immediately, and is sent once more.
    mutating func ask(_ method: Method, _ params: [String: JSONValue]) -> String {
        do {
            return try answer(method, params)
        } catch {
            guard method == .stop, client == nil else { return error.requestError.message }
        }
        lastAttempt = -.infinity
        do {
            return try answer(method, params)
        } catch {
            return error.requestError.message
        }
    }

    private mutating func answer(
        _ method: Method, _ params: [String: JSONValue]
    ) throws(ClientError) -> String {
        do throws(ClientError) {
            let result = try connected().json(method, params)
            return result["sentence"]?.string ?? result.text
        } catch {
            // After a refusal, the connection still works.
            if case .refused = error { throw error }
            client = nil
            lastError = error
            throw error
        }
    }

    private mutating func connected() throws(ClientError) -> DaemonClient {
        if let client { return client }
        guard DaemonClient.now() - lastAttempt >= Self.retryPeriod else { throw lastError }
        lastAttempt = DaemonClient.now()
        // The timeout is at most 1 s, so an unresponsive daemon cannot block the display for long.
        let client = try DaemonClient(path: options.socket, timeout: min(options.timeout, 1))
        self.client = client
        return client
    }
}
