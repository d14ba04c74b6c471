import Client
import Dispatch
import Synchronization
import SystemPackage
import WebServing
import Wire

/// Application that answers browsers' requests for pages, recordings and connections.
final class Site: WebApplication {
    let settings: WebSettings
    let book: PairedBrowsers
    let codes = PairingCodes()
    let gateway: Gateway
    let recordings: RecordingFiles
    let pictures: PictureRelay
    let tools: ToolRequests
    private let files: PageFiles
    /// Queue for changes of the list of browsers; each change waits for the disk. Recordings have
    /// other queues, so that requests for recordings do not delay the pairing.
    private let disk = DispatchQueue(label: "web-disk")
    /// True while the dates of the paired browsers, corrected with the clock, wait for the disk.
    private let isCorrecting = Mutex(false)

    init(_ settings: WebSettings, _ files: PageFiles, _ book: PairedBrowsers, _ gateway: Gateway) {
        self.settings = settings
        self.files = files
        self.book = book
        self.gateway = gateway
        recordings = RecordingFiles(scratch: settings.web.stateDirectory)
        pictures = PictureRelay(path: settings.eyes.socket, group: gateway.group)
        tools = ToolRequests(
            ControlTool(socket: settings.gimbal.socket), directory: settings.web.stateDirectory)
    }

    private func access(_ request: WebRequest) -> Access {
        Access(request, book, readWithoutToken: settings.web.readWithoutToken)
    }

    func respond(to request: WebRequest, answer: @escaping @Sendable (WebResponse) -> Void) {
        let answer: @Sendable (WebResponse) -> Void = { answer($0.guarded) }
        switch (request.method, request.path) {
        case ("GET", "/session"): answer(session(request))
        case ("POST", "/pair"): pair(request, answer)
        case ("POST", "/unpair"): unpair(request, answer)
        case ("POST", "/stop"): stop(request, answer)
        case ("GET", "/recordings"):
            guard access(request).canRead else { return answer(.refusal(401, Self.unpaired)) }
            recordings.respondWithList(answer)
        case ("GET", let path) where path.hasPrefix("/recordings/"):
            // Files are large, and tables and plots take seconds of processor time. Therefore only
            // paired browsers can request files, tables and plots, even if other browsers have
            // read-only access.
            guard access(request).browser != nil else {
                return answer(.refusal(401, Self.unpaired))
            }
            recordings.respond(to: request, answer)
        case ("GET", "/shot"), ("GET", "/shot/keys"):
            guard access(request).canRead else { return answer(.refusal(401, Self.unpaired)) }
            answer(.json(200, request.path == "/shot" ? tools.shots.report : ShotText.keys))
        case (_, let path) where ToolRequests.paths.contains(path):
            let access = access(request)
            guard let browser = access.browser else { return answer(.refusal(401, Self.unpaired)) }
            let owner = ShotHost.Owner(name: name(access, request), browser: browser.id)
            tools.respond(to: request, from: owner, answer)
        case ("GET", _), ("HEAD", _):
            answer(files.response(to: request) ?? .refusal(404, "There is no such page."))
        default: answer(.refusal(405, "The server does not support this request."))
        }
    }

    /// Paired browsers are trusted, so other browsers cannot use all connections.
    func trusts(_ request: WebRequest) -> Bool { access(request).browser != nil }

    private static let unpaired =
        "This browser is not paired. Run `airframectl pair web`, and type the code that this command shows."

    func decide(on request: WebRequest) -> WebSocketDecision {
        let access = access(request)
        if request.path == "/pictures" { return video(request, access) }
        guard request.path == "/socket" else {
            return .refuse(.refusal(404, "The WebSocket is at /socket.").guarded)
        }
        guard access.canRead else { return .refuse(.refusal(401, Self.unpaired).guarded) }
        // Browsers that are not paired must not lock out the paired ones.
        guard gateway.admits(isPaired: access.canWrite) else {
            return .refuse(.refusal(503, gateway.refusal).guarded)
        }
        let tab = Tab(
            gateway, name: name(access, request), canWrite: access.canWrite,
            browser: access.browser?.id)
        // The request can be incomplete. The connection is kept as soon as the page is open, because
        // the number of open pages is limited, and the number of requests is not.
        return .accept(tab, headers: Self.chosenProtocol(request), isKept: false)
    }

    /// Header field that selects the protocol `airframe`; empty if the client does not offer this
    /// protocol, because a client closes the connection if the server selects another one (RFC
    /// 6455).
    private static func chosenProtocol(_ request: WebRequest) -> [(name: String, value: String)] {
        let isOffered = request.headers.contains { header in
            header.name == "sec-websocket-protocol"
                && header.value.split { $0 == "," || $0 == " " || $0 == "\t" }.contains("airframe")
        }
        return isOffered ? [("sec-websocket-protocol", "airframe")] : []
    }

    /// Only paired browsers receive pictures, even if other browsers have read-only access, because
    /// pictures show people.
    private func video(_ request: WebRequest, _ access: Access) -> WebSocketDecision {
        guard let browser = access.browser else {
            return .refuse(.refusal(401, Self.unpaired).guarded)
        }
        if let videoRefusal { return .refuse(.refusal(503, videoRefusal).guarded) }
        return .accept(
            PictureViewer(pictures, browser: browser.id), headers: Self.chosenProtocol(request))
    }

    /// Name of a browser in airframed's messages.
    private func name(_ access: Access, _ request: WebRequest) -> String {
        "web, \(access.browser?.name ?? "not paired"), \(request.address)"
    }

    /// Reason why another page cannot show the video; nil if a page can show it.
    private var videoRefusal: String? {
        pictures.count < settings.web.maxTabs ? nil : "Too many pages show the video; close one."
    }

    /// Answer about a browser's rights, and the reasons why its next page or video would be refused.
    /// Browsers do not show a page's script why a WebSocket is refused.
    private func session(_ request: WebRequest) -> WebResponse {
        let access = access(request)
        let isFull = !gateway.admits(isPaired: access.canWrite)
        return .json(
            200,
            .object([
                "refusal": isFull ? .string(gateway.refusal) : .null,
                "video_refusal": videoRefusal.map(JSONValue.string) ?? .null,
                "paired": .bool(access.browser != nil), "can_read": .bool(access.canRead),
                "encrypted": .bool(request.isSecure),
                "name": .string(access.browser?.name ?? ""), "version": .string(Version.text),
                "expires": access.browser.map { .double($0.expires) } ?? .null,
            ]))
    }

    private func pair(_ request: WebRequest, _ answer: @escaping @Sendable (WebResponse) -> Void) {
        guard let body = try? JSONValue(parsing: request.body), let code = body["code"]?.string
        else { return answer(.refusal(400, "The request contains no pairing code.")) }
        switch codes.check(code, from: request.address, now: DaemonClient.now()) {
        case .accepted: break
        case .wrong: return answer(.refusal(403, "This pairing code is wrong."))
        case .closed:
            return answer(
                .refusal(
                    403,
                    "No pairing code is valid at present. Run `airframectl pair web`, which makes a new code."
                ))
        case .tooSoon:
            return answer(
                .refusal(
                    429,
                    "Too many attempts to pair within a short time. Try again in a few seconds."
                ))
        }
        let name = body["name"]?.string ?? ""
        disk.async { [self] in
            do throws(Errno) {
                let token = try book.issue(to: name)
                Log.write("Paired: \(PairedBrowsers.plain(name)) at \(request.address).")
                let cookie = Access.keep(token, days: settings.web.tokenDays, for: request)
                answer(WebResponse(204, headers: [cookie], body: .bytes([])))
            } catch {
                answer(
                    .refusal(
                        500,
                        "The list of browsers cannot be saved in \(settings.web.stateDirectory): \(error)."
                    ))
            }
        }
    }

    private func unpair(
        _ request: WebRequest, _ answer: @escaping @Sendable (WebResponse) -> Void
    ) {
        let cookie = Access.keep("", days: 0, for: request)
        // With a remaining token of an earlier pairing, the browser would stay paired.
        let hashes = Set(Access.tokens(request).compactMap { book.browser(token: $0)?.hash })
        guard !hashes.isEmpty else {
            return answer(WebResponse(204, headers: [cookie], body: .bytes([])))
        }
        disk.async { [self] in
            _ = try? book.revoke { hashes.contains($0.hash) }
            endPagesOfForgotten()
            answer(WebResponse(204, headers: [cookie], body: .bytes([])))
        }
    }

    /// Closes the pages and ends the shot of browsers that are no longer paired, and starts a shot
    /// that should run. Call this method about once per second.
    func endPagesOfForgotten() {
        followClock()
        let ids = Set(book.browsers.map(\.id))
        gateway.keepOnly(ids)
        pictures.keepOnly(ids)
        tools.shots.tick(paired: ids)
    }

    /// Saves the dates of the paired browsers after a correction of the clock. The main thread must
    /// not wait for the disk, because it feeds systemd's watchdog.
    private func followClock() {
        let isFree = isCorrecting.withLock { isCorrecting in
            defer { isCorrecting = true }
            return !isCorrecting
        }
        guard isFree else { return }
        disk.async { [self] in
            book.followClock()
            isCorrecting.withLock { $0 = false }
        }
    }

    /// Stops the motors over a separate connection to airframed, because the page's connection can
    /// be blocked.
    private func stop(_ request: WebRequest, _ answer: @escaping @Sendable (WebResponse) -> Void) {
        let access = access(request)
        guard access.canWrite else { return answer(.refusal(401, Self.unpaired)) }
        let (name, path) = (name(access, request), gateway.path)
        // Each stop has a separate thread, so other work cannot delay the stop.
        DispatchQueue.global(qos: .userInteractive).async {
            do throws(ClientError) {
                let client = try DaemonClient(path: path, timeout: 2)
                _ = try client.json("client", ["name": .string(name)])
                _ = try client.json("stop")
                answer(WebResponse(204, body: .bytes([])))
            } catch {
                answer(.refusal(503, error.requestError.message))
            }
        }
    }
}

extension WebResponse {
    /// Creates an answer in JSON.
    static func json(_ status: Int, _ value: JSONValue) -> WebResponse {
        var bytes: [UInt8] = []
        value.write(to: &bytes)
        return WebResponse(
            status,
            headers: [("content-type", "application/json"), ("cache-control", "no-store")],
            body: .bytes(bytes))
    }

    /// Creates a refusal with a message for the user.
    static func refusal(_ status: Int, _ sentence: String) -> WebResponse {
        json(status, .object(["message": .string(sentence)]))
    }

    /// Copy of the answer with additional security header fields. The browser loads scripts and
    /// styles only from the server. The browser does not show the page inside another page, and the
    /// page can connect only to its server.
    var guarded: WebResponse {
        var response = self
        response.headers += [
            (
                "content-security-policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
            ),
            ("x-content-type-options", "nosniff"), ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"), ("cross-origin-resource-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
        ]
        return response
    }
}
