import Client
import Glibc
import SystemPackage
import Wire

/// Resources of the server: the current status, the findings of `doctor`, and the manual pages.
struct Resources {
    private let link: DaemonLink
    /// Folder of the manual pages; nil if there is none.
    private let manual: String?

    /// Largest manual page, bytes.
    private static let largestPage = 1 << 20
    private static let pages = "airframe://manual/"

    init(_ link: DaemonLink, manual: String?) {
        self.link = link
        self.manual = manual
    }

    private static let live: [(method: String, summary: String)] = [
        ("status", "Present state of the gimbal: mode, attitude, motors, faults, links."),
        ("doctor", "Findings of the daemon's checks, with remedies."),
        (
            "history",
            "The newest changes of settings, also from before the start of airframed, and the client that made each change."
        ),
    ]

    /// The resources as `resources/list` returns them.
    var listing: [JSONValue] {
        Self.live.map { resource in
            [
                "uri": .string("airframe://\(resource.method)"), "name": .string(resource.method),
                "description": .string(resource.summary), "mimeType": "application/json",
            ]
        }
            + pageNames.map { page in
                [
                    "uri": .string(Self.pages + page), "name": .string(page),
                    "description": "Page of the manual.", "mimeType": "text/markdown",
                ]
            }
    }

    /// Answers `resources/read`.
    ///
    /// - Throws: `invalidParams` for an unknown URI; `internalError` if the daemon does not answer.
    func read(_ params: [String: JSONValue]) throws(RPCFailure) -> [String: JSONValue] {
        guard let uri = params["uri"]?.string else {
            throw RPCFailure(.invalidParams, "resources/read needs the parameter uri.")
        }
        if let resource = Self.live.first(where: { "airframe://\($0.method)" == uri }) {
            let value = try link.rpc { (link) throws(ClientError) in try link.ask(resource.method) }
            return Self.contents(uri, "application/json", value.text)
        }
        // Only the files in `resources/list` are opened, so a URI cannot address any other file.
        guard uri.hasPrefix(Self.pages), let manual,
            let page = pageNames.first(where: { Self.pages + $0 == uri }),
            let text = Self.text(manual + "/" + page)
        else {
            throw RPCFailure(
                .invalidParams,
                "There is no resource \"\(uri.prefix(128))\"; resources/list lists them.")
        }
        return Self.contents(uri, "text/markdown", text)
    }

    private static func contents(
        _ uri: String, _ type: JSONValue, _ text: String
    ) -> [String: JSONValue] {
        ["contents": [["uri": .string(uri), "mimeType": type, "text": .string(text)]]]
    }

    /// Names of the manual's Markdown files, in alphabetical order.
    private var pageNames: [String] {
        guard let manual, let folder = opendir(manual) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".md"), !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    private static func text(_ path: String) -> String? {
        guard let file = try? FileDescriptor.open(FilePath(path), .readOnly) else { return nil }
        defer { try? file.close() }
        var bytes = [UInt8](repeating: 0, count: largestPage)
        var count = 0
        while count < bytes.count,
            let read = try? bytes.withUnsafeMutableBytes({
                try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[count...]))
            }), read > 0
        {
            count += read
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
