import WebServing

/// Rights of a browser.
struct Access: Sendable {
    /// Name of the cookie in earlier versions, without the prefix and the port of a page.
    private static let firstName = "airframe_token"

    /// Name of the cookie with the token. Cookies of an encrypted page have a separate name, because
    /// a browser refuses to replace a cookie with the attribute `Secure` over a connection that is
    /// not encrypted (RFC 6265bis). The prefix is that of cookies for exactly one host. The name
    /// contains the port, because all servers with the same host name share their cookies, such as
    /// two gimbals behind tunnels to 127.0.0.1.
    private static func cookie(_ request: WebRequest) -> String {
        (request.isSecure ? "__Host-" : "") + firstName
            + (request.port.map { "_\($0)" } ?? "")
    }

    /// The paired browser; nil without a valid token.
    let browser: PairedBrowser?
    /// True if the browser can read values.
    let canRead: Bool

    /// True if the browser has write access: it can move the gimbal and change settings.
    var canWrite: Bool { browser != nil }

    /// Determines the access rights of a request.
    init(_ request: WebRequest, _ book: PairedBrowsers, readWithoutToken: Bool) {
        browser = Self.token(request).flatMap(book.browser)
        canRead = readWithoutToken || browser != nil
    }

    /// Returns the token in the header field Cookie. A browser that an earlier version has paired
    /// sends the token under the earlier name, and stays paired.
    static func token(_ request: WebRequest) -> String? { tokens(request).first }

    /// Returns all tokens in the header field Cookie, the present name first. A browser that an
    /// earlier version has paired, and that was paired again, sends two tokens.
    static func tokens(_ request: WebRequest) -> [String] {
        [cookie(request), firstName].compactMap { value(of: $0, in: request) }
    }

    private static func value(of cookie: String, in request: WebRequest) -> String? {
        for (name, value) in request.headers where name == "cookie" {
            for pair in value.split(separator: ";") {
                let sides = pair.split(separator: "=", maxSplits: 1)
                guard sides.count == 2, sides[0].drop(while: { $0 == " " }) == cookie else {
                    continue
                }
                return String(sides[1])
            }
        }
        return nil
    }

    /// Header field `Set-Cookie` with a token, for the browser of a request; for 0 days, the browser
    /// removes its token. Scripts cannot read this cookie, and the browser does not send it in
    /// requests from other sites.
    static func keep(
        _ token: String, days: Int, for request: WebRequest
    ) -> (name: String, value: String) {
        (
            "set-cookie",
            "\(cookie(request))=\(token); Path=/; Max-Age=\(days * 86400)"
                + "; HttpOnly; SameSite=Strict" + (request.isSecure ? "; Secure" : "")
        )
    }
}
