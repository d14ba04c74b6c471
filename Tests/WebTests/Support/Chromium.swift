import Foundation
import Glibc
import SystemPackage
import TestSupport
import Wire

/// Chromium without a window, controlled over its DevTools protocol. Use from one thread at a time.
final class Chromium {
    static let program = "/usr/bin/chromium"
    /// True if Chromium is installed; the tests are skipped without it.
    static var isInstalled: Bool { access(program, X_OK) == 0 }

    /// Failure of the browser or of the page.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// A page in a tab, with a separate connection.
    final class Page {
        private let client: WebClient
        private var next = 1
        /// Errors that the browser has reported for the page: exceptions, refused files, violations
        /// of the content policy.
        private(set) var errors: [String] = []

        fileprivate init(port: Int, path: String) throws {
            client = try WebClient(port: port, timeout: 20)
            guard try client.upgrade(path).status == 101 else {
                throw Problem(description: "The browser refuses the connection \(path).")
            }
            for domain in ["Page", "Runtime", "Log", "Network"] { try call("\(domain).enable") }
        }

        /// Calls a method of the DevTools protocol.
        @discardableResult
        func call(_ method: String, _ params: [String: JSONValue] = [:]) throws -> JSONValue {
            let id = next
            next += 1
            try client.send(
                message: JSONValue.object([
                    "id": .int(id), "method": .string(method), "params": .object(params),
                ]).text)
            while true {
                let message = try JSONValue(parsing: Array(client.message().utf8))
                guard message["id"]?.int == id else {
                    note(message)
                    continue
                }
                if let error = message["error"] {
                    throw Problem(description: "\(method): \(error.text)")
                }
                return message["result"] ?? .null
            }
        }

        /// Closes the tab.
        deinit { _ = try? call("Page.close") }

        private func note(_ event: JSONValue) {
            let params = event["params"]
            switch event["method"]?.string {
            case "Runtime.exceptionThrown":
                let details = params?["exceptionDetails"]
                errors.append(
                    details?["exception"]?["description"]?.string ?? details?.text ?? "exception")
            case "Log.entryAdded":
                guard params?["entry"]?["level"] == "error" else { return }
                errors.append(params?["entry"]?["text"]?.string ?? "error")
            default: break
            }
        }

        /// Clears the errors, after a test has caused them deliberately.
        func forgetErrors() { errors = [] }

        /// Evaluates an expression. Waits for the value of a promise.
        @discardableResult
        func value(_ expression: String) throws -> JSONValue {
            let answer = try call(
                "Runtime.evaluate",
                [
                    "expression": .string(expression), "awaitPromise": true, "returnByValue": true,
                    "userGesture": true,
                ])
            if let details = answer["exceptionDetails"] {
                throw Problem(
                    description: details["exception"]?["description"]?.string ?? details.text)
            }
            return answer["result"]?["value"] ?? .null
        }

        /// Waits until an expression is true. The default time only limits a test that fails, so it
        /// is long enough for a busy computer. A test of a time limit passes this limit.
        ///
        /// - Returns: Waiting time, s; nil if the expression did not become true in time.
        @discardableResult
        func wait(_ expression: String, within seconds: Double = 15) throws -> Double? {
            let start = monotonicNow()
            while monotonicNow() - start < seconds {
                if try value("Boolean(\(expression))") == true { return monotonicNow() - start }
                usleep(10_000)
            }
            return nil
        }

        /// Opens an address, and waits until the new document is loaded. Chromium answers
        /// `Page.navigate` while expressions are still evaluated in the old document.
        func open(_ address: String) throws {
            try value("window.isOld = true")
            let answer = try call("Page.navigate", ["url": .string(address)])
            // An address that differs only in its fragment keeps the document.
            let isNew = answer["loaderId"] == nil ? "true" : "!window.isOld"
            _ = try wait("\(isNew) && document.readyState === 'complete'")
        }

        /// Sets the size of the window, in CSS pixels. A phone has touch input and two pixels for
        /// each CSS pixel.
        func resize(
            _ width: Int, _ height: Int, isPhone: Bool, isDark: Bool = false, scale: Int? = nil
        ) throws {
            try call(
                "Emulation.setDeviceMetricsOverride",
                [
                    "width": .int(width), "height": .int(height),
                    "deviceScaleFactor": .int(scale ?? (isPhone ? 2 : 1)), "mobile": .bool(isPhone),
                ])
            try call("Emulation.setTouchEmulationEnabled", ["enabled": .bool(isPhone)])
            try call(
                "Emulation.setEmulatedMedia",
                [
                    "features": [
                        [
                            "name": "prefers-color-scheme",
                            "value": .string(isDark ? "dark" : "light"),
                        ]
                    ]
                ])
        }

        /// Centre of an element, CSS pixels.
        func middle(of selector: String) throws -> (x: Double, y: Double) {
            let box = try value(
                "(() => { const e = document.querySelector('\(selector)'); e.scrollIntoView({ block: 'center' }); const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
            )
            guard let x = box.array?.first?.number, let y = box.array?.last?.number else {
                throw Problem(description: "There is no element \(selector).")
            }
            return (x, y)
        }

        /// Sends a touch event: `touchStart`, `touchMove` or `touchEnd`.
        func touch(_ type: String, _ place: (x: Double, y: Double)? = nil) throws {
            let points = place.map { JSONValue.object(["x": .double($0.x), "y": .double($0.y)]) }
            try call(
                "Input.dispatchTouchEvent",
                ["type": .string(type), "touchPoints": .array(points.map { [$0] } ?? [])])
        }

        /// Touches an element briefly.
        func tap(_ selector: String) throws {
            let place = try middle(of: selector)
            try touch("touchStart", place)
            try touch("touchEnd")
        }

        /// Presses a key by its name: `Tab`, `ArrowLeft`, `Enter`, `Escape`, ` `.
        func key(_ name: String, isDown: Bool? = nil) throws {
            let codes = [
                "Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowUp": 38,
                "ArrowRight": 39, "ArrowDown": 40,
            ]
            for type in ["keyDown", "keyUp"] where isDown == nil || isDown == (type == "keyDown") {
                var params: [String: JSONValue] = [
                    "type": .string(type), "key": .string(name),
                    "code": .string(name == " " ? "Space" : name),
                    "windowsVirtualKeyCode": .int(codes[name] ?? 0),
                ]
                if type == "keyDown", name == "Enter" { params["text"] = "\r" }
                if type == "keyDown", name == " " { params["text"] = " " }
                try call("Input.dispatchKeyEvent", params)
            }
        }

        /// Screenshot of the window, PNG.
        func picture() throws -> [UInt8] {
            let answer = try call("Page.captureScreenshot", ["format": "png"])
            guard let data = Data(base64Encoded: answer["data"]?.string ?? "") else {
                throw Problem(description: "The browser has made no picture.")
            }
            return Array(data)
        }
    }

    private let process: pid_t
    private let directory: FilePath
    /// Port of the DevTools protocol.
    private let port: Int

    /// Browser of all tests, which run in sequence. A start takes more than a second. The browser
    /// ends with the test process.
    nonisolated(unsafe) private static var shared: Chromium?

    /// The shared browser; the first call starts it.
    static func start() throws -> Chromium {
        if let shared { return shared }
        let new = try Chromium()
        shared = new
        atexit { Chromium.shared = nil }
        return new
    }

    private init() throws {
        var template = Array("/tmp/airframe-chromium-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        let directory = FilePath(
            String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
        self.directory = directory
        let options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
            "--user-data-dir=\(directory)", "--no-first-run", "--disable-background-networking",
            "--disable-extensions", "--disable-component-update", "--disable-sync", "--mute-audio",
            "--remote-allow-origins=*",
        ]
        process = try spawn(
            ["sh", "-c", "exec \"$0\" \"$@\" > /dev/null 2>&1", Self.program] + options + [
                "about:blank"
            ])
        let file = directory.appending("DevToolsActivePort")
        guard
            eventually(
                within: 20,
                { (try? String(decoding: bytes(of: file), as: UTF8.self).contains("\n")) == true })
        else { throw Problem(description: "Chromium does not start.") }
        let text = try String(decoding: bytes(of: file), as: UTF8.self)
        port = Int(text.split(separator: "\n")[0]) ?? 0
    }

    deinit {
        kill(process, SIGTERM)
        var status: Int32 = 0
        let hasEnded = eventually(within: 5) { waitpid(process, &status, WNOHANG) == process }
        if !hasEnded { kill(process, SIGKILL) }
        _ = try? shell("rm -rf \(directory)")
    }

    /// Opens a new tab in front of the others.
    func page() throws -> Page {
        let answer = try WebClient(port: port).request("PUT", "/json/new?about:blank")
        let target = try JSONValue(parsing: answer.body)
        guard let address = target["webSocketDebuggerUrl"]?.string,
            let slash = address.range(of: "/devtools/")
        else { throw Problem(description: "Chromium opens no tab: \(answer.text)") }
        return try Page(port: port, path: String(address[slash.lowerBound...]))
    }
}
