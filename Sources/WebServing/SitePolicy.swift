/// Check of the header fields `Host` and `Origin`. Browsers set these fields, and pages cannot
/// change them.
struct SitePolicy: Sendable {
    let hosts: Set<String>
    let origins: Set<String>

    init(_ options: WebOptions) {
        hosts = Set(options.hosts.map { $0.lowercased() }).union(["localhost"])
        origins = Set(options.origins.map { $0.lowercased() })
    }

    /// True if the server accepts requests with this `Host`: an IP address or one of the configured
    /// names. An IP address is safe, because a browser sends it as `Host` only to the computer with
    /// this address.
    func allows(host: String) -> Bool {
        guard let name = Self.split(host)?.name else { return false }
        return hosts.contains(name) || Self.isAddress(name)
    }

    /// True if a page with this `Origin` can use the server. The server accepts its own pages and
    /// pages from `origins`. The server also accepts requests without `Origin`, because programs
    /// other than browsers do not send this field.
    func allows(origin: String?, host: String, isSecure: Bool) -> Bool {
        guard let origin = origin?.lowercased() else { return true }
        if origins.contains(origin) { return true }
        let scheme = isSecure ? "https://" : "http://"
        let port = isSecure ? 443 : 80
        guard origin.hasPrefix(scheme), let page = Self.split(origin.dropFirst(scheme.count)),
            let own = Self.split(host)
        else { return false }
        return page.name == own.name && (page.port ?? port) == (own.port ?? port)
    }

    /// Host name in lower case, without a trailing dot, and port.
    fileprivate static func split(_ authority: some StringProtocol) -> (name: String, port: Int?)? {
        let text = authority.lowercased()
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
        var name = text[...]
        var port: Int?
        let bracket = text.lastIndex(of: "]") ?? text.startIndex
        if let colon = text[bracket...].firstIndex(of: ":") {
            guard let number = Int(text[text.index(after: colon)...]), (1...65535).contains(number)
            else { return nil }
            port = number
            name = text[..<colon]
        }
        if name.hasSuffix(".") { name = name.dropLast() }
        return name.isEmpty || name.contains(where: { "/@?#\\".contains($0) })
            ? nil : (String(name), port)
    }

    /// True if a host name is an IP address: 4 numbers with dots, or hexadecimal digits in
    /// brackets.
    private static func isAddress(_ name: String) -> Bool {
        if name.hasPrefix("["), name.hasSuffix("]") {
            return name.dropFirst().dropLast().allSatisfy { $0.isHexDigit || ":.%".contains($0) }
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { !$0.isEmpty && UInt8($0) != nil }
    }
}

extension WebRequest {
    /// Port in the address that the client uses, from the header field `Host`; nil for the default
    /// port of the protocol.
    public var port: Int? { header("host").flatMap { SitePolicy.split($0)?.port } }
}

/// Target of an HTTP request: the decoded path and query.
struct Target: Equatable {
    let path: String
    let query: [String: String]

    /// Largest number of values in a query. Each request is split before the rate limit applies, so
    /// a query of thousands of values would delay other requests.
    private static let mostValues = 16

    /// Splits the path and query of a request line. The result is nil if the text does not begin
    /// with "/", if the query contains more than `mostValues` values, or if the decoded text is not
    /// UTF-8 or contains a control character.
    init?(_ uri: String) {
        let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard uri.hasPrefix("/"), let first = parts.first, let path = Self.decoded(first) else {
            return nil
        }
        var query: [String: String] = [:]
        let pairs =
            parts.count > 1 ? parts[1].split(separator: "&", maxSplits: Self.mostValues) : []
        guard pairs.count <= Self.mostValues else { return nil }
        for pair in pairs {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(sides[0], plus: true),
                let value = sides.count > 1 ? Self.decoded(sides[1], plus: true) : ""
            else { return nil }
            if query[name] == nil { query[name] = value }
        }
        self.path = path
        self.query = query
    }

    private static func decoded(_ text: Substring, plus: Bool = false) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard rest.count >= 2,
                    let high = Character(Unicode.Scalar(rest.removeFirst())).hexDigitValue,
                    let low = Character(Unicode.Scalar(rest.removeFirst())).hexDigitValue
                else { return nil }
                bytes.append(UInt8(high << 4 | low))
            case UInt8(ascii: "+") where plus: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
