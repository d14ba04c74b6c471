import Aerie
import CVideo
import Client
import GimbalCore
import Glibc
import People
import PlainText
import Synchronization
import Wire

/// Service that follows a person. The service finds people in the feed's pictures, and sends the
/// camera's set-point direction to airframed. The service has its own thread and connection, so a
/// slow model or an unresponsive airframed cannot stop the stream.
final class PeopleService: Sendable {
    private struct State {
        var settings: EyesSettings
        var isActive = false
    }

    /// Interval of the reports to airframed, ns. Each reply names the person to be followed.
    static let interval: Int64 = 200_000_000

    private let state: Mutex<State>
    private let log: @Sendable (String) -> Void
    /// Positions of the people that phones detect; nil if there is no server for phones.
    let phones: LocalPages?
    let feed = SharedFeed()
    private let thread = CompanionThread()

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - settings: Settings of airframe-eyes.
    ///   - phones: Source of the positions of people that phones detect.
    ///   - log: Function that writes a sentence to the log.
    init(
        _ settings: EyesSettings, phones: LocalPages? = nil,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.phones = phones
        state = Mutex(State(settings: settings))
        self.log = log
        thread.start("eyes-people") { [self] in
            var run = PeopleRun(service: self)
            while !thread.mustEnd { run.step() }
            run.loader?.stop()
        }
    }

    /// True if the camera must run, because the service follows or searches for a person.
    var isActive: Bool { state.withLock { $0.isActive } }

    /// Applies new settings of airframe-eyes.
    func apply(_ settings: EyesSettings) { state.withLock { $0.settings = settings } }

    /// Changes the source of pictures, see `SharedFeed.replace`.
    func use(_ feed: Feed?) { self.feed.replace(feed) }

    /// Stops the service's thread.
    func stop() { thread.stop() }

    // MARK: For the thread

    var settings: EyesSettings { state.withLock { $0.settings } }
    func note(isActive: Bool) { state.withLock { $0.isActive = isActive } }
    func write(_ sentence: String) { log(sentence) }
}
