/// Endpoints of an ODrive's watchdog. The vendor publishes the numbers for each firmware version, in
/// `flat_endpoints.json`.
public struct ODriveEndpoints: Sendable, Equatable {
    /// Firmware version to which the numbers belong: major, minor and revision, each in one byte.
    public var firmware: UInt32
    /// Number of `axis0.config.watchdog_timeout`.
    public var timeout: UInt16
    /// Number of `axis0.config.enable_watchdog`.
    public var enable: UInt16

    /// Creates the endpoints of one firmware version.
    public init(firmware: UInt32, timeout: UInt16, enable: UInt16) {
        self.firmware = firmware
        self.timeout = timeout
        self.enable = enable
    }

    /// Version in one number: major, minor and revision, each in one byte; nil for a text that is
    /// not a version such as "0.6.9".
    public static func version(_ text: String) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard parts.count == 3, let major = parts[0], let minor = parts[1], let last = parts[2]
        else { return nil }
        return UInt32(major) << 16 | UInt32(minor) << 8 | UInt32(last)
    }

    /// Text of a version, such as "0.6.9".
    public static func text(_ version: UInt32) -> String {
        "\(version >> 16).\(version >> 8 & 0xFF).\(version & 0xFF)"
    }
}

extension Settings.Linux {
    /// Endpoints of the ODrives' watchdogs; nil if they are not set.
    public var odriveEndpoints: ODriveEndpoints? {
        guard let firmware = ODriveEndpoints.version(odriveFirmware),
            let timeout = UInt16(exactly: odriveTimeoutId), timeout > 0,
            let enable = UInt16(exactly: odriveEnableId), enable > 0
        else { return nil }
        return ODriveEndpoints(firmware: firmware, timeout: timeout, enable: enable)
    }

    /// True if airframed sets the timeout of the drives' watchdogs.
    public var setsDriveWatchdogs: Bool {
        guard canWatchdogMs > 0 else { return false }
        return switch canProtocol {
        case .moteus, .cybergear: true
        case .mit: mitVariant.setsWatchdog
        case .odrive: odriveEndpoints != nil
        case .gm6020, .gm6020Voltage: false
        }
    }

    /// Description of the drives' command watchdogs, for messages; nil if the drives have no known
    /// watchdog.
    public var driveWatchdogs: String? {
        switch canProtocol {
        case .gm6020, .gm6020Voltage: nil
        case .moteus: "the drives' watchdogs, which airframed sets in each frame"
        case .odrive, .mit, .cybergear:
            setsDriveWatchdogs
                ? "the drives' watchdogs, which airframed sets"
                : "the drives' watchdogs, if they are configured"
        }
    }
}
