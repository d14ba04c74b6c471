public import Configuration

/// Valid settings of airframe-web. `WebSchema` declares each setting with its range.
public struct WebSettings: Sendable, Equatable {
    /// Settings of the server (table `web`).
    public struct Web: Sendable, Equatable {
        /// Address and port on which the server listens.
        public var listen = "127.0.0.1:8088"
        /// Accepted host names of this computer in browsers' requests, separated by spaces; `none`
        /// for no names.
        public var names = "none"
        /// True if browsers without a token have read-only access.
        public var readWithoutToken = true
        /// Largest number of browser tabs.
        public var maxTabs = 32
        /// Lifetime of a token, days.
        public var tokenDays = 30
        /// Path of the certificate chain, PEM, or `off`.
        public var certificate = "off"
        /// Path of the certificate's private key, PEM, or `off`.
        public var key = "off"
        /// Directory of the page's files.
        public var page = "/usr/share/airframe-web"
        /// Directory of the tokens, the state of a shot and CSV files during their download.
        public var stateDirectory = "/var/lib/airframe-web"
        /// Path of the socket for `airframectl pair web`, or `off`.
        public var control = "/run/airframe-web/control.sock"
    }

    /// Settings of the connection to airframed (table `gimbal`).
    public struct Gimbal: Sendable, Equatable {
        /// Path of the daemon's socket.
        public var socket = "/run/airframe/airframed.sock"
    }

    /// Settings of airframe-eyes' video (table `eyes`).
    public struct Eyes: Sendable, Equatable {
        /// Path of airframe-eyes' socket for pictures, or `off`.
        public var socket = "/run/airframe-eyes/pictures.sock"
    }

    /// Settings of the server (table `web`).
    public var web = Web()
    /// Settings of the connection to airframed (table `gimbal`).
    public var gimbal = Gimbal()
    /// The video of airframe-eyes.
    public var eyes = Eyes()

    /// Creates the settings with their default values.
    public init() {}
}

/// All settings of airframe-web, each declared once.
public enum WebSchema {
    /// The text of `etc/airframe-web.toml`.
    public static var sampleFile: String {
        table.sampleFile(
            advice: "`systemctl restart airframe-web` applies changes; open pages connect again.")
    }

    /// The settings, in the order of the sample file.
    public static let table: CompanionSchema<WebSettings> = {
        var table = CompanionSchema(
            program: "airframe-web", defaults: WebSettings(),
            tables: [
                ("web", "The server for browsers."), ("gimbal", "The connection to airframed."),
                ("eyes", "The video of airframe-eyes."),
            ])
        table.text(
            "web.listen", \.web.listen, .requiredEndpoint, .restart,
            "Address and port of the server; 0.0.0.0:8088 serves every network.",
            hint:
                "Browsers need a pairing code before they can move the gimbal or change a setting.")
        table.text(
            "web.names", \.web.names, .text(maxLength: 255), .restart,
            "Host names of this computer in the address of the page, separated by spaces, such as gimbal.local; none = only IP addresses and localhost.",
            hint:
                "The server refuses requests with other names, because they can come from a page of another site (DNS rebinding)."
        )
        table.bool(
            "web.read_without_token", \.web.readWithoutToken, .restart,
            "If true, a browser that is not paired can watch; if false, a browser that is not paired gets only the form for the pairing code."
        )
        table.integer(
            "web.max_tabs", \.web.maxTabs, 1...40, nil, .restart,
            "Largest number of open pages; each page uses a connection to airframed.")
        table.integer(
            "web.token_days", \.web.tokenDays, 1...365, "days", .restart,
            "Time after which a browser must be paired again.")
        table.text(
            "web.certificate", \.web.certificate, .optionalPath(maxLength: 255), .restart,
            "Certificate chain for HTTPS, a PEM file; off = the server uses HTTP.")
        table.text(
            "web.key", \.web.key, .optionalPath(maxLength: 255), .restart,
            "Private key of the certificate, a PEM file.")
        table.requireTogether("web.certificate", "web.key", at: "web.listen")
        table.text(
            "web.page", \.web.page, .path(maxLength: 255), .restart,
            "Directory of the page's files.")
        table.text(
            "web.state_directory", \.web.stateDirectory, .path(maxLength: 255), .restart,
            "Directory of the list of paired browsers, a shot's state and CSV files.")
        table.text(
            "web.control", \.web.control, .optionalPath(maxLength: 107), .restart,
            "Path of the socket for `airframectl pair web`.")
        table.text(
            "gimbal.socket", \.gimbal.socket, .path(maxLength: 107), .restart,
            "Path of airframed's socket.")
        table.text(
            "eyes.socket", \.eyes.socket, .optionalPath(maxLength: 107), .restart,
            "Path of airframe-eyes's socket for pictures (setting pictures.socket of airframe-eyes); off = the page shows no video.",
            hint: "Only paired browsers get pictures.")
        return table
    }()
}
