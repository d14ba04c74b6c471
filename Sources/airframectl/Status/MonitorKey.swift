import Wire

/// Requests that the keys of `airframectl monitor` send. The functions create requests without
/// sending them.
enum MonitorKey {
    /// Help text about the keys, for the bottom line of the monitor.
    static let legend = "space STOP  c centre  mode: l p f n r i  q quit"
    /// Text instead of `legend` while an emergency stop is latched: then the other keys have no
    /// effect, and no key resets the stop.
    static let stoppedLegend =
        "STOPPED: airframectl stop --reset in another terminal ends the stop  q quit"

    /// Keys that end the monitor, including Ctrl-C, see `Terminal`.
    static let leaving: Set<UInt8> = [UInt8(ascii: "q"), UInt8(ascii: "Q"), 0x03]

    /// Request that a key sends; nil for a key without a request.
    ///
    /// No request contains values of the displayed status, because the status can be 10 s old, or
    /// from before a restart of the daemon.
    static func request(_ key: UInt8) -> (method: Method, params: [String: JSONValue])? {
        if key == UInt8(ascii: " ") { return (.stop, [:]) }
        if key == UInt8(ascii: "c") { return (.recentre, [:]) }
        guard let mode = modes[key] else { return nil }
        return (.mode, ["mode": .string(mode)])
    }

    /// Mode that each key requests. The mode `tracking` has no key, because it requires an app.
    private static let modes: [UInt8: String] = [
        UInt8(ascii: "l"): "locked", UInt8(ascii: "p"): "pan_follow", UInt8(ascii: "f"): "fpv",
        UInt8(ascii: "n"): "neutral", UInt8(ascii: "r"): "retract", UInt8(ascii: "i"): "inactive",
    ]
}
