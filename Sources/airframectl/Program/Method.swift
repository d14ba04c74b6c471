import Client
import Wire

/// Methods of the diagnostics socket for this program.
enum Method: String, Sendable {
    /// Returns the current state of the gimbal: `Status`.
    case status
    /// Returns the results of the daemon's checks: `[DoctorCheck]`.
    case doctor
    /// Lists the computer's buses, devices and chips, and proposes a configuration:
    /// `HardwareReport`.
    case hardware
    /// Returns program and protocol version: `VersionInfo`.
    case version
    /// Returns settings by key: `[Setting]`.
    case get
    /// Changes one setting, optionally temporarily: `Setting`.
    case set
    /// Returns the differences from the defaults, and unsaved changes: `[SettingChange]`.
    case diff
    /// Returns the newest changes, with author and time: `[HistoryEntry]`.
    case history
    /// Saves live changes: `Acknowledgement`.
    case save
    /// Lists, stores or restores named baselines: `BaselineReport`.
    case baseline
    /// Reloads the configuration files: `ReloadReport`.
    case reload
    /// Changes the mode: `Acknowledgement`.
    case mode
    /// Turns to angles: `Acknowledgement`.
    case point
    /// Turns the camera at the given rates until the socket's dead-man time expires:
    /// `Acknowledgement`.
    case rate
    /// Selects the person for a companion program to follow: `Acknowledgement`.
    case follow
    /// Sends a command to the companion program that records video: `CameraReply`.
    case camera
    /// Levels the camera, and points it in the direction of the handle: `Acknowledgement`.
    case recentre
    /// In mode `inactive`, moves one motor slightly for 0.5 s. A repeated request prolongs the
    /// motion: `Acknowledgement`.
    case motorTest = "motor_test"
    /// Moves one of a robot's stepper motors, finds its home switch, or stops it:
    /// `Acknowledgement`.
    case step
    /// Lists the controls and their actions, or identifies a control that a person uses:
    /// `ControlsReport`.
    case controls
    /// Requests a latched emergency stop: `Acknowledgement`.
    case stop
    /// Releases a latched emergency stop: `Acknowledgement`.
    case resetStop = "reset_stop"
    /// Takes control from another client: `Acknowledgement`.
    case take
    /// Releases control: `Acknowledgement`.
    case release
    /// Starts, reports, cancels or undoes a calibration: `CalibrationReport`.
    case calibrate
    /// Starts, reports, skips or undoes a step of the set-up: `SetupReport`.
    case setup
    /// Records gyroscope samples and reports vibration: `SpectrumReport`.
    case spectrum
    /// Excites the axes slightly and proposes gains: `AutotuneReport`.
    case autotune
    /// Saves the most recent seconds to a file, starts or stops a continuous recording, or reports
    /// the recorder's state: `RecorderStatus`.
    case record
    /// Lists paired phones, allows pairing, or removes a phone: `BluetoothStatus`.
    case pair
    /// Returns lines of the log: `LogPage`.
    case log
    /// Starts a stream of named variables: `SubscriptionInfo`, then `SubscriptionMessage` lines.
    case subscribe
    /// Returns the names for `subscribe`: `[Variable]`.
    case variables
    /// Returns the name and the rights of this connection: `ClientIdentity`.
    case client
    /// Returns an answer without any other effect: `Acknowledgement`.
    case ping
}

extension DaemonClient {
    /// Sends a request, and decodes the answer.
    func request<Result: Decodable & Sendable>(
        _ method: Method, _ params: [String: JSONValue] = [:], as type: Result.Type = Result.self
    ) throws(ClientError) -> Result {
        try request(method.rawValue, params, as: type)
    }

    /// Sends a request, and returns the answer both decoded and as JSON.
    func requestWithJSON<Result: Decodable & Sendable>(_ method: Method) throws(ClientError)
        -> (result: Result, json: JSONValue)
    {
        try requestWithJSON(method.rawValue)
    }

    /// Sends a request, and returns the answer as JSON.
    func json(_ method: Method, _ params: [String: JSONValue] = [:]) throws(ClientError)
        -> JSONValue
    {
        try json(method.rawValue, params)
    }
}
