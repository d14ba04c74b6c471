/// Answer to `spectrum`: progress of a gyroscope recording, and the spectrum of a complete
/// recording.
public struct SpectrumReport: Hashable, Sendable, Codable {
    /// State of the gyroscope recording.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// No spectrum has been requested since the start.
        case idle
        /// Samples are collected.
        case recording
        /// The recording is complete. `axes` contains the result.
        case done
        /// The recording has failed or was cancelled. `sentence` states the reason.
        case refused
    }

    /// State of the recording, a case of `State`. The property is a string, so that older clients
    /// accept the new values of a newer daemon.
    public var state = State.idle.rawValue
    /// Progress of the recording, 0...1.
    public var progress: Number = 0
    /// Length of the recording, s.
    public var seconds: Number = .unknown
    /// Result, or reason of a failure, as text for the user.
    public var sentence = ""
    /// Sample rate, measured with the loop's clock, Hz.
    public var sampleRateHz: Number = .unknown
    /// Frequency resolution of the spectrum, Hz; the first frequency is zero.
    public var resolutionHz: Number = .unknown
    /// Spectra about the camera's axes x, y and z; empty until the recording is complete.
    public var axes: [SpectrumAxis] = []
    /// Proposed settings of notch filters, ready for `set`.
    public var proposals: [SettingProposal] = []

    /// Creates the state before the first recording.
    public init() {}

    /// True if a recording for a spectrum is running.
    public var isRunning: Bool { state == State.recording.rawValue }
}

/// The spectrum about one of the camera's axes.
public struct SpectrumAxis: Hashable, Sendable, Codable {
    /// Axis of the camera: `x`, `y` or `z`.
    public var axis: String
    /// Power spectral density, (deg/s)²/Hz, one value for each frequency.
    public var density: [Number]
    /// Peaks, strongest first.
    public var peaks: [SpectrumPeak]
    /// Centre frequencies of the active notch filters, Hz.
    public var notchesHz: [Number]
    /// Corner frequency of the active low-pass filter, Hz; unknown if there is none.
    public var lowPassHz: Number

    /// Creates a spectrum.
    public init(
        axis: String, density: [Number], peaks: [SpectrumPeak], notchesHz: [Number],
        lowPassHz: Number
    ) {
        self.axis = axis
        self.density = density
        self.peaks = peaks
        self.notchesHz = notchesHz
        self.lowPassHz = lowPassHz
    }
}

/// A peak of the spectrum.
public struct SpectrumPeak: Hashable, Sendable, Codable {
    /// Frequency of the peak, Hz.
    public var hz: Number
    /// Height of the peak above the surrounding spectrum, dB.
    public var prominenceDb: Number
    /// RMS of the rate within the peak, deg/s.
    public var rmsDps: Number

    /// Creates a peak with the given values.
    public init(hz: Number, prominenceDb: Number, rmsDps: Number) {
        self.hz = hz
        self.prominenceDb = prominenceDb
        self.rmsDps = rmsDps
    }
}

/// A setting and its proposed value.
public struct SettingProposal: Hashable, Sendable, Codable {
    /// Dotted key.
    public var key: String
    /// Value as TOML.
    public var value: String

    /// Creates a proposal.
    public init(key: String, value: String) {
        self.key = key
        self.value = value
    }
}
