import WebServing

/// Rights of a browser.
struct Access: Sendable {
    /// Name of the cookie with the token.
    static let cookie = "airframe_token"

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

    /// Returns the token in the header field Cookie.
    static func token(_ request: WebRequest) -> String? {
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

    /// Header field `Set-Cookie` with a token. Scripts cannot read this cookie, and the browser
    /// does not send it in requests from other sites.
    static func keep(_ token: String, days: Int, isSecure: Bool) -> (name: String, value: String) {
        (
            "set-cookie",
            "\(cookie)=\(token); Path=/; Max-Age=\(days * 86400); HttpOnly; SameSite=Strict"
                + (isSecure ? "; Secure" : "")
        )
    }
}
