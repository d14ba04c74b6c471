import Client
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage
import WebServing
import Wire

/// HTTP requests that airframectl executes: shots, and the import of settings. Only paired browsers
/// can send these requests. The class is thread-safe.
final class ToolRequests: Sendable {
    /// Paths of the requests.
    static let paths = [
        "/import", "/shot/plan", "/shot/plan.svg", "/shot/start", "/shot/pause", "/shot/resume",
        "/shot/cancel",
    ]
    /// Largest number of requests that wait or run.
    static let mostWaiting = 4
    /// Timeout of a plan or an import, s.
    private static let patience = 10.0
    /// Largest picture of a plan, bytes.
    private static let pictureLimit = 2_000_000
    /// Number of browsers whose newest picture of a plan is kept.
    private static let mostPictures = 8

    let shots: ShotHost
    private let tool: ControlTool
    private let directory: String
    private let waiting = Mutex(0)
    /// The newest picture of each browser, the newest one last. A browser that plans another shot
    /// does not change the picture that a person checks before the start.
    private let pictures = Mutex<[(browser: String, bytes: [UInt8])]>([])
    /// Queue for plans and imports.
    private let queue = DispatchQueue(label: "web-tools")

    /// - Parameters:
    ///   - tool: Runner of airframectl.
    ///   - directory: Directory of the state of airframe-web.
    init(_ tool: ControlTool, directory: String) {
        self.tool = tool
        self.directory = directory
        shots = ShotHost(tool, directory: directory)
    }

    /// Answers a request whose path is in `paths`. HTTP status 409 if the shot's state does not
    /// permit the request, 422 for an invalid description or file, 503 if `mostWaiting` requests
    /// wait or run.
    func respond(
        to request: WebRequest, from owner: ShotHost.Owner,
        _ answer: @escaping @Sendable (WebResponse) -> Void
    ) {
        if request.path == "/shot/plan.svg", request.method == "GET" {
            let picture = pictures.withLock { $0.last { $0.browser == owner.browser }?.bytes }
            guard let picture else { return answer(.refusal(404, "There is no plan.")) }
            let headers = [("content-type", "image/svg+xml"), ("cache-control", "no-store")]
            return answer(WebResponse(200, headers: headers, body: .bytes(picture)))
        }
        guard request.method == "POST", request.path != "/shot/plan.svg" else {
            return answer(.refusal(405, "The server does not support this request."))
        }
        let isAccepted = waiting.withLock { count in
            guard count < Self.mostWaiting else { return false }
            count += 1
            return true
        }
        guard isAccepted else {
            return answer(.refusal(503, "Too many requests wait for airframectl. Try again later."))
        }
        let reply: @Sendable (WebResponse) -> Void = { [self] response in
            waiting.withLock { $0 -= 1 }
            answer(response)
        }
        let state: @Sendable (String?) -> Void = { [shots] problem in
            reply(problem.map { .refusal(409, $0) } ?? .json(200, shots.report))
        }
        switch request.path {
        case "/shot/pause":
            shots.stopRun()
            state(nil)
        case "/shot/cancel":
            shots.cancel()
            state(nil)
        case "/shot/resume": shots.resume(for: owner, state)
        case "/import": queue.async { [self] in reply(settings(request)) }
        default:
            if let problem = ShotText.problem(of: request.body) {
                return reply(.refusal(422, problem))
            }
            guard request.path == "/shot/start" else {
                return queue.async { [self] in reply(plan(request.body, owner.browser)) }
            }
            shots.begin(request.body, for: owner, isNew: request.query["new"] == "1", state)
        }
    }

    /// The plan of a shot: its description as lines of text, and its picture at /shot/plan.svg for
    /// the browser.
    private func plan(_ body: [UInt8], _ browser: String) -> WebResponse {
        let (text, svg) = (directory + "/plan.toml", directory + "/plan.svg")
        defer { for path in [text, svg] { unlink(path) } }
        guard (try? DurableFile.replace(text, with: body)) != nil else {
            return Self.unwritable(directory)
        }
        guard
            let result = tool.run(
                ["shoot", "file", text, "--dry-run", "--svg", svg], within: Self.patience)
        else { return Self.unusable }
        guard result.status == 0 else { return .refusal(422, Self.sentence(result, text, "shot")) }
        var info = stat()
        let isSmall = stat(svg, &info) == 0 && info.st_size <= Self.pictureLimit
        let bytes = isSmall ? (try? Data(contentsOf: URL(filePath: svg))) : nil
        pictures.withLock { pictures in
            pictures.removeAll { $0.browser == browser }
            if let bytes { pictures.append((browser, Array(bytes))) }
            if pictures.count > Self.mostPictures { pictures.removeFirst() }
        }
        return .json(
            200,
            .object([
                "text": .string(result.output), "picture": bytes == nil ? false : true,
            ]))
    }

    /// The settings in a file: pairs of key and value as TOML text, and notes about ignored keys and
    /// invalid values.
    private func settings(_ request: WebRequest) -> WebResponse {
        let name = request.query["name"] ?? "settings.toml"
        let isYAML = name.hasSuffix(".yaml") || name.hasSuffix(".yml")
        let path = directory + (isYAML ? "/import.yaml" : "/import.toml")
        defer { unlink(path) }
        guard (try? DurableFile.replace(path, with: request.body)) != nil else {
            return Self.unwritable(directory)
        }
        guard let result = tool.run(["import", "--toml", path], within: Self.patience) else {
            return Self.unusable
        }
        let notes = Self.sentence(result, path, String(name.suffix(64)))
        let pairs = result.output.split(separator: "\n").compactMap { line -> JSONValue? in
            let sides = String(line).split(separator: " = ", maxSplits: 1)
            guard sides.count == 2 else { return nil }
            return .array(sides.map { .string(String($0)) })
        }
        guard result.status == 0 || result.status == 1 else { return .refusal(422, notes) }
        return .json(200, .object(["pairs": .array(pairs), "notes": .string(notes)]))
    }

    private static let unusable = WebResponse.refusal(
        503,
        "airframectl cannot be started, or does not answer in time: install the package airframe.")

    private static func unwritable(_ directory: String) -> WebResponse {
        .refusal(500, "The file cannot be written in \(directory).")
    }

    /// Messages of airframectl, with the browser's name of the file.
    private static func sentence(_ result: ControlTool.Result, _ path: String, _ name: String)
        -> String
    {
        let text = String(result.errors.prefix(4000)).replacing(path, with: name)
        let prefix = "airframectl: "
        let plain = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        return plain.hasSuffix("\n") ? String(plain.dropLast()) : plain
    }
}
