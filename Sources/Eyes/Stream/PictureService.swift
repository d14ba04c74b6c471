import CLinuxShim
import CVideo
import Client
import Glibc
import Synchronization
import WebServing

/// HTTP server on a UNIX socket. The server provides the stream's pictures as JPEG to programs on
/// the same computer. `GET /picture.jpg` returns the next picture. `GET /picture.jpg?after=N`
/// returns a picture with a number other than N, immediately if one exists; the numbers begin again
/// when airframe-eyes is restarted. The response's header contains the picture's number
/// (`x-number`) and its time of exposure (`x-exposed`, ns on CLOCK_MONOTONIC).
///
/// Clients must request each picture separately. Therefore a slow client gets fewer pictures, and
/// no queue grows. Pictures are encoded only while a client requests pictures. A separate thread
/// takes the pictures from the feed, so clients and the encoder cannot delay the stream.
final class PictureService: WebApplication {
    /// Timeout of a request that waits for a picture, s. Some cameras need several seconds to open.
    static let patience = 5.0
    /// Time for which pictures are still encoded after the last request, s.
    static let interest = 2.0
    /// Largest age of a picture for an immediate response, s.
    static let freshness = 1.0
    /// Largest number of connections.
    static let connections = 8
    /// Largest size of a picture, bytes.
    static let capacity = 2_000_000

    private struct Picture {
        var number: Int
        /// Time of exposure, and time of delivery by the encoder, ns on CLOCK_MONOTONIC.
        var exposed: Int64, taken: Int64
        var bytes: [UInt8]
    }

    private struct Waiter {
        /// Deadline of the request, ns on CLOCK_MONOTONIC; after this time the request is refused.
        var deadline: Int64
        /// Earliest time of exposure of a suitable picture, ns on CLOCK_MONOTONIC.
        var earliest = Int64.min
        var receive: @Sendable (Result<Picture, VideoError>) -> Void
    }

    private struct State {
        var isEnabled: Bool
        var newest: Picture?
        var waiters: [Waiter] = []
        /// Time of the newest request, ns on CLOCK_MONOTONIC; 0 before the first request.
        var asked: Int64 = 0
        var given = 0
    }

    private static let keyless =
        "The camera has sent no key frame for \(Int(patience)) s, so its H.264 cannot be decoded. "
        + "Shorten the camera's key frame interval, or change video.width to use another format."
    private static let off = VideoError("The video is off (video.enabled).")

    private let path: String
    private let state: Mutex<State>
    private let feed = SharedFeed()
    private let thread = CompanionThread()
    private let server = Mutex<WebServer?>(nil)

    /// Opens the socket and starts the thread.
    ///
    /// - Parameters:
    ///   - path: Path of the socket. A socket of an earlier process is replaced.
    ///   - isEnabled: True if there is a stream (`video.enabled`).
    /// - Throws: The reason why the socket cannot be created.
    init(path: String, isEnabled: Bool) throws(WebServerError) {
        self.path = path
        state = Mutex(State(isEnabled: isEnabled))
        var options = WebOptions(listen: "unix:" + path)
        options.limits.connections = Self.connections
        options.limits.connectionsPerAddress = Self.connections
        let opened = try WebServer(options, self)
        server.withLock { $0 = opened }
        thread.start("eyes-pictures") { [self] in
            var buffer = [UInt8](repeating: 0, count: Self.capacity)
            while !thread.mustEnd { step(&buffer) }
        }
    }

    /// True if the camera must run, because a client requests pictures.
    var isWanted: Bool {
        state.withLock { state in
            state.asked > 0
                && (!state.waiters.isEmpty
                    || cv_now() - state.asked < Int64(Self.interest * 1e9))
        }
    }

    /// Number of delivered pictures.
    var given: Int { state.withLock { $0.given } }

    /// Applies the setting `video.enabled`.
    func apply(isEnabled: Bool) { state.withLock { $0.isEnabled = isEnabled } }

    /// Replaces the source of pictures, see `SharedFeed.replace`.
    func use(_ feed: Feed?) { self.feed.replace(feed) }

    /// Sets the socket's group to that of another socket. Afterwards the members of this group can
    /// use the socket. If the other socket does not exist, if the process lacks the permission, or
    /// if another process has replaced the socket's file, for example with a symbolic link, the
    /// group does not change.
    func adoptGroup(of other: String) {
        var (own, wanted) = (Glibc.stat(), Glibc.stat())
        guard lstat(path, &own) == 0, stat(other, &wanted) == 0, own.st_gid != wanted.st_gid else {
            return
        }
        _ = cl_socket_give(path, uid_t.max, wanted.st_gid)
    }

    /// Stops the thread and closes the socket.
    func stop() {
        thread.stop()
        refuse("airframe-eyes is stopping.") { _ in true }
        server.withLock { $0 }?.stop()
        unlink(path)
    }

    // MARK: Requests

    func respond(to request: WebRequest, answer: @escaping @Sendable (WebResponse) -> Void) {
        guard request.method == "GET", request.path == "/picture.jpg" else {
            return answer(WebResponse(404, text: "The picture is at /picture.jpg.\n"))
        }
        let after = request.query["after"].flatMap { Int($0) }
        let now = cv_now()
        let response = state.withLock { state -> WebResponse? in
            guard state.isEnabled else { return Self.refusal(Self.off) }
            state.asked = now
            if let after, let newest = state.newest, newest.number != after,
                now - newest.taken < Int64(Self.freshness * 1e9)
            {
                state.given += 1
                return Self.response(newest)
            }
            state.waiters.append(
                Waiter(deadline: now + Int64(Self.patience * 1e9)) { outcome in
                    switch outcome {
                    case .success(let picture): answer(Self.response(picture))
                    case .failure(let error): answer(Self.refusal(error))
                    }
                })
            return nil
        }
        if let response { answer(response) }
    }

    func decide(on request: WebRequest) -> WebSocketDecision {
        .refuse(WebResponse(404, text: "The picture is at /picture.jpg.\n"))
    }

    /// Takes the first picture that is exposed after this call. Pictures that are still in the
    /// pipeline can show the camera during an earlier motion.
    ///
    /// - Parameter receive: Function that receives the JPEG bytes, or the reason why there is no
    ///   picture. The function is called once, on any thread.
    func photo(_ receive: @escaping @Sendable (Result<[UInt8], VideoError>) -> Void) {
        let now = cv_now()
        let isWaiting = state.withLock { state in
            guard state.isEnabled else { return false }
            state.asked = now
            state.waiters.append(
                Waiter(deadline: now + Int64(Self.patience * 1e9), earliest: now) { outcome in
                    receive(outcome.map(\.bytes))
                })
            return true
        }
        if !isWaiting { receive(.failure(Self.off)) }
    }

    private static func refusal(_ error: VideoError) -> WebResponse {
        WebResponse(503, text: error.description + "\n")
    }

    private static func response(_ picture: Picture) -> WebResponse {
        WebResponse(
            200,
            headers: [
                ("content-type", "image/jpeg"), ("cache-control", "no-store"),
                ("x-number", String(picture.number)), ("x-exposed", String(picture.exposed)),
            ], body: .bytes(picture.bytes))
    }

    private func refuse(_ sentence: String, _ isDue: (Waiter) -> Bool) {
        let due = state.withLock { state in
            defer { state.waiters.removeAll(where: isDue) }
            return state.waiters.filter(isDue)
        }
        for waiter in due { waiter.receive(.failure(VideoError(sentence))) }
    }

    // MARK: On the thread

    /// Executes one iteration of the thread's loop, which takes at most 50 ms.
    private func step(_ buffer: inout [UInt8]) {
        let isWanted = isWanted
        var info = cv_still()
        let isTaken =
            feed.withFeed { feed in
                feed.set("shutter", "drop", isWanted ? "false" : "true")
                return isWanted
                    && buffer.withUnsafeMutableBufferPointer { feed.still(into: $0, &info) }
            } ?? false
        if isTaken {
            publish(Array(buffer[..<info.size]), exposed: info.exposed)
        } else {
            usleep(10_000)
        }
        let now = cv_now()
        let needsKey = feed.withFeed { $0.counters.stills_need_key } ?? false
        refuse(needsKey ? Self.keyless : "The camera sends no pictures.") { $0.deadline < now }
    }

    private func publish(_ bytes: [UInt8], exposed: Int64) {
        let (picture, waiters) = state.withLock { state in
            let picture = Picture(
                number: (state.newest?.number ?? 0) + 1, exposed: exposed, taken: cv_now(),
                bytes: bytes)
            state.newest = picture
            // A time of exposure below 0 is unknown.
            let suited = state.waiters.filter { exposed < 0 || exposed >= $0.earliest }
            state.waiters.removeAll { exposed < 0 || exposed >= $0.earliest }
            state.given += suited.count
            return (picture, suited)
        }
        for waiter in waiters { waiter.receive(.success(picture)) }
    }
}
