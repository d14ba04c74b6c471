import FoundationEssentials
import WebServing
import Wire

/// Files of the page, in memory.
struct PageFiles: Sendable {
    /// Largest size of all files together, bytes.
    static let limit = 2_000_000

    private struct File: Sendable {
        let type: String
        let tag: String
        let bytes: [UInt8]
    }

    private static let types = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8", "svg": "image/svg+xml",
    ]

    private var files: [String: File] = [:]

    /// Number of URLs of files. A page requests each URL at most once.
    var count: Int { files.count }
    /// Size of all files, bytes.
    var size: Int { files.values.reduce(0) { $0 + $1.bytes.count } }

    /// Reads all files of the directory.
    ///
    /// - Returns: The initializer returns nil if the directory has no index.html, or if its files
    ///   are too large.
    init?(directory: String) {
        guard let names = try? FileManager.default.subpathsOfDirectory(atPath: directory) else {
            return nil
        }
        for name in names {
            guard let type = Self.types[String(name.split(separator: ".").last ?? "")],
                let data = FileManager.default.contents(atPath: directory + "/" + name)
            else { continue }
            let bytes = Array(data)
            let hash = SHA256.digest(bytes).prefix(8).map { String($0, radix: 16) }.joined()
            files["/" + name] = File(type: type, tag: "\"\(hash)\"", bytes: bytes)
            guard size <= Self.limit else { return nil }
        }
        guard let index = files["/index.html"] else { return nil }
        files["/"] = index
    }

    /// Returns the answer to a request for a file; nil if there is no such file.
    func response(to request: WebRequest) -> WebResponse? {
        guard let file = files[request.path] else { return nil }
        let headers = [
            ("content-type", file.type), ("etag", file.tag), ("cache-control", "no-cache"),
        ]
        if request.header("if-none-match") == file.tag {
            return WebResponse(304, headers: headers, body: .bytes([]))
        }
        return WebResponse(200, headers: headers, body: .bytes(file.bytes))
    }
}
