/// The methods of the diagnostics socket that this program asks for.
enum Method: String, Sendable {
    /// Everything about the machine at this moment: `Status`.
    case status
    /// The checks of the daemon: `[DoctorCheck]`.
    case doctor
    /// Program and protocol version: `VersionInfo`.
    case version
    /// Every setting there is, with unit and range: `[Setting]`.
    case keys
    /// Settings by key: `[Setting]`.
    case get
    /// Changes one setting, if asked with a timed rollback: `Setting`.
    case set
    /// Differences from the defaults, and unsaved changes: `[SettingChange]`.
    case diff
    /// Changes since the start, with author and time: `[HistoryEntry]`.
    case history
    /// Saves live changes: `Acknowledgement`.
    case save
    /// Lists, stores or restores named baselines: `BaselineReport`.
    case baseline
    /// Reads the configuration files again: `ReloadReport`.
    case reload
    /// Changes the mode: `Acknowledgement`.
    case mode
    /// Turns to angles: `Acknowledgement`.
    case point
    /// Turns at rates until the dead-man of the socket runs out: `Acknowledgement`.
    case rate
    /// In mode tracking, turns at pan and tilt rates until the dead-man of tracking runs out: `Acknowledgement`.
    case track
    /// With the mode inactive, moves one motor a little until its dead-man runs out, half a second: `Acknowledgement`.
    case motorTest = "motor_test"
    /// Drives two wheels until the dead-man of driving runs out: `Acknowledgement`.
    case drive
    /// Moves one of a robot's stepper motors, finds its home switch, or stops it:
    /// `Acknowledgement`.
    case step
    /// Emergency stop, latched: `Acknowledgement`.
    case stop
    /// Releases a latched emergency stop: `Acknowledgement`.
    case resetStop = "reset_stop"
    /// Takes control from its holder: `Acknowledgement`.
    case take
    /// Gives control back: `Acknowledgement`.
    case release
    /// Begins, watches, cancels or undoes a calibration: `CalibrationReport`.
    case calibrate
    /// Records the gyroscope and says what vibrates: `SpectrumReport`.
    case spectrum
    /// Shakes the axes a little and proposes gains: `AutotuneReport`.
    case autotune
    /// Has the newest seconds written, begins or ends a continuous recording, or looks at both: `RecorderStatus`.
    case record
    /// Lists paired phones, lets new ones pair, forgets one: `BluetoothStatus`.
    case pair
    /// Log lines: `LogPage`.
    case log
    /// Starts a stream of named variables: `SubscriptionInfo`, then `SubscriptionMessage` lines.
    case subscribe
    /// Ends a stream: `SubscriptionInfo`.
    case unsubscribe
    /// The names that `subscribe` takes: `[Variable]`.
    case variables
    /// Answers, and nothing else: `Acknowledgement`.
    case ping
}
