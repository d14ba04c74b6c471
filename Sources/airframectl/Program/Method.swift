import Client
import Wire

/// Methods of the diagnostics socket that this program uses.
enum Method: String, Sendable {
    /// Returns the present state of the machine: `Status`.
    case status
    /// Returns the results of the daemon's checks: `[DoctorCheck]`.
    case doctor
    /// Returns program and protocol version: `VersionInfo`.
    case version
    /// Returns settings by key: `[Setting]`.
    case get
    /// Changes one setting, optionally with a timed rollback: `Setting`.
    case set
    /// Returns the differences from the defaults, and unsaved changes: `[SettingChange]`.
    case diff
    /// Returns the changes since the start, with author and time: `[HistoryEntry]`.
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
    /// Turns the camera at the given rates until the dead-man time of the socket has passed:
    /// `Acknowledgement`.
    case rate
    /// Chooses the person whom a companion program follows: `Acknowledgement`.
    case follow
    /// Gives an order to the companion program that records video: `CameraReply`.
    case camera
    /// In mode inactive, moves one motor slightly for half a second; a repeated request prolongs
    /// the motion: `Acknowledgement`.
    case motorTest = "motor_test"
    /// Moves one of a robot's stepper motors, finds its home switch, or stops it:
    /// `Acknowledgement`.
    case step
    /// Shows the controls and their uses, or learns a control: `ControlsReport`.
    case controls
    /// Requests an emergency stop, which is latched: `Acknowledgement`.
    case stop
    /// Releases a latched emergency stop: `Acknowledgement`.
    case resetStop = "reset_stop"
    /// Takes control from another client: `Acknowledgement`.
    case take
    /// Releases control: `Acknowledgement`.
    case release
    /// Starts, reports, cancels or undoes a calibration: `CalibrationReport`.
    case calibrate
    /// Records the gyroscope and reports vibration: `SpectrumReport`.
    case spectrum
    /// Excites the axes slightly and proposes gains: `AutotuneReport`.
    case autotune
    /// Writes the last seconds to a file, starts or ends a continuous recording, or reports the
    /// recorder's state: `RecorderStatus`.
    case record
    /// Lists paired phones, allows pairing, or removes a phone: `BluetoothStatus`.
    case pair
    /// Returns lines of the log: `LogPage`.
    case log
    /// Starts a stream of named variables: `SubscriptionInfo`, then `SubscriptionMessage` lines.
    case subscribe
    /// Returns the names for `subscribe`: `[Variable]`.
    case variables
    /// Answers without any effect: `Acknowledgement`.
    case ping
}

extension DaemonClient {
    /// Sends a request, and decodes the answer.
    func request<Result: Decodable & Sendable>(
        _ method: Method, _ params: [String: JSONValue] = [:], as type: Result.Type = Result.self
    ) throws(ClientError) -> Result {
        try request(method.rawValue, params, as: type)
    }

    /// Sends a request once, and returns the answer decoded and as JSON.
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
