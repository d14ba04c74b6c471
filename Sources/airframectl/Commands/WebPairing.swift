import Client
import PlainText
import Wire

/// Implementation of `airframectl pair web`. The requests are sent to airframe-web's socket, in the
/// format of the daemon's socket.
struct WebPairing {
    /// Path of airframe-web's socket.
    let path: String
    /// Timeout of an answer, s.
    let timeout: Double
    /// True if the output is JSON.
    let json: Bool

    /// Executes the command `pair web`.
    ///
    /// - Parameters:
    ///   - lists: True to list the paired browsers.
    ///   - revoke: ID of the paired browser to be removed, or `all`; nil to remove none.
    ///   - seconds: Lifetime of a new pairing code, s.
    /// - Throws: `ClientError` if the request fails or is refused.
    func run(lists: Bool, revoke: String?, seconds: Double) throws {
        let client: DaemonClient
        do throws(ClientError) {
            client = try DaemonClient(path: path, of: "airframe-web", timeout: timeout)
        } catch {
            throw ClientError.unreachable(
                "airframe-web does not answer at \(path). Start it with `sudo systemctl start airframe-web`; if airframe-web runs, use sudo or join the group airframe; if web.control is not the default, pass --control PATH."
            )
        }
        let answer: JSONValue
        if let revoke {
            answer = try client.json("revoke", ["id": .string(revoke)])
        } else if lists {
            answer = try client.json("browsers")
        } else {
            answer = try client.json("pair", ["seconds": .double(seconds)])
        }
        if json { return Output.line(answer.text) }
        guard lists || revoke != nil else {
            let address = answer["address"]?.string ?? ""
            let code = answer["code"]?.string ?? ""
            Output.line("Open \(address) in the browser, and type the code \(code).")
            return Output.line(
                "The code is valid for \(Format.fixed(seconds, 0)) s, and for one browser.")
        }
        let browsers = answer.array ?? []
        if browsers.isEmpty { Output.line("No browser is paired.") }
        for browser in browsers {
            let name = browser["name"]?.string ?? ""
            let end = Format.date(browser["expires"]?.number ?? 0)
            Output.line(
                "\(browser["id"]?.string ?? "")  \(name)  "
                    + (revoke == nil ? "paired until \(end)" : "removed"))
        }
    }
}
