import Configuration
import GimbalCore
import Identification
import PlainText
import Port
import Realtime
import Synchronization
import Wire

/// Service that records every gyroscope sample for some seconds, and computes the spectrum. The
/// service makes one recording at a time.
///
/// The thread that drains the telemetry calls `feed`; other methods can be called on any ordinary
/// thread. `advance` computes the spectrum.
final class SpectrumService: Sendable {
    private struct State {
        var owner: CommandSource?
        var began = Instant(nanoseconds: 0)
        var seconds = 0.0
        var recording = GyroRecording()
        /// Number of the newest tick; nil before the first tick.
        var tick: UInt64?
        var report = SpectrumReport()
    }

    private let state = Mutex(State())

    /// Starts a recording; only the connection that started a recording can restart it.
    ///
    /// - Parameters:
    ///   - seconds: Duration of the recording, 3...60 s.
    ///   - owner: The requesting connection; the recording ends when this connection ends.
    ///   - now: Current time on the loop's clock.
    /// - Returns: State of the gyroscope recording.
    /// - Throws: `Refusal` if another recording is running.
    func start(seconds: Double, owner: CommandSource, now: Instant) throws(Refusal)
        -> SpectrumReport
    {
        let report: SpectrumReport? = state.withLock { state in
            guard !state.report.isRunning || state.owner == owner else { return nil }
            state = State()
            state.owner = owner
            state.began = now
            state.seconds = seconds
            state.report.state = SpectrumReport.State.recording.rawValue
            state.report.seconds = Number(seconds)
            return state.report
        }
        guard let report else {
            throw Refusal(
                .refused, "Another client is recording a spectrum; try again in a few seconds.")
        }
        return report
    }

    /// State of the gyroscope recording.
    var status: SpectrumReport { state.withLock { $0.report } }

    /// Cancels the recording of the gyroscope.
    func cancel() -> SpectrumReport {
        state.withLock { state in
            if state.report.isRunning { Self.refuse(&state, "Cancelled.") }
            return state.report
        }
    }

    /// Ends the recording that a connection has requested, because the connection has ended.
    func disconnected(_ owner: CommandSource) {
        state.withLock { state in
            if state.report.isRunning, state.owner == owner { Self.refuse(&state, "Cancelled.") }
        }
    }

    /// Adds the samples of a tick to the recording.
    func feed(_ record: TelemetryRecord) {
        state.withLock { state in
            guard state.report.isRunning else { return }
            state.recording.append(
                record.snapshot.gyro, time: record.snapshot.sampleTime,
                isTorn: state.tick.map { record.tick != $0 &+ 1 } ?? false)
            state.tick = record.tick
            state.report.progress = Number(min(state.recording.seconds / state.seconds, 1))
        }
    }

    /// Computes the spectrum of a complete recording.
    ///
    /// - Parameters:
    ///   - now: Current time on the loop's clock.
    ///   - settings: Active settings, with the filters.
    func advance(now: Instant, settings: Settings) {
        let complete: State? = state.withLock { state in
            guard state.report.isRunning else { return nil }
            if state.recording.seconds >= state.seconds { return state }
            if now.seconds(since: state.began) > state.seconds + 5 {
                Self.refuse(&state, "The sensor delivers no samples: see `airframectl doctor`.")
            }
            return nil
        }
        guard let complete else { return }
        let report = Self.result(complete, settings)
        state.withLock { state in
            // Another recording can have started while the spectrum was computed.
            guard state.began == complete.began, state.report.isRunning else { return }
            state = State()
            state.report = report
        }
    }

    private static func refuse(_ state: inout State, _ sentence: String) {
        state.recording = GyroRecording()
        state.report.state = SpectrumReport.State.refused.rawValue
        state.report.sentence = sentence
    }

    private static func result(_ state: State, _ settings: Settings) -> SpectrumReport {
        var report = state.report
        guard let (stretch, isWhole) = state.recording.longestStretch else {
            return tooShort(report, isWhole: true)
        }
        let sampleRate = stretch.sampleRate
        report.sampleRateHz = Number(rounded(sampleRate))
        for axis in [GimbalAxis.roll, .pitch, .yaw] {
            let rates = stretch.rates.map { $0[axis] * (180 / .pi) }
            guard let spectrum = PowerSpectrum(of: rates, sampleRate: sampleRate) else {
                return tooShort(report, isWhole: isWhole)
            }
            report.resolutionHz = Number(spectrum.resolution)
            let peaks = SpectralPeak.find(in: spectrum)
            let lowPass = settings.filter.lowPassHz[axis]
            report.axes.append(
                SpectrumAxis(
                    axis: axis.letter, density: spectrum.density.map { Number(rounded($0)) },
                    peaks: peaks.map(SpectrumPeak.init),
                    notchesHz: settings.filter.notches(axis).map { Number($0.hz) },
                    lowPassHz: lowPass > 0 ? Number(lowPass) : .unknown))
            let highest = min(0.45 * Double(settings.loop.rateHz), 0.9 * sampleRate / 2)
            let notches = SpectralPeak.notches(
                for: peaks, below: min(highest, Setting.notchCentres.upperBound))
            if !notches.isEmpty {
                report.proposals.append(
                    SettingProposal(
                        key: "filter.notch_\(axis.name)",
                        value: SettingValue.notches(notches).tomlText))
            }
        }
        report.state = SpectrumReport.State.done.rawValue
        report.progress = 1
        report.sentence =
            "\(stretch.rates.count) samples at \(Format.fixed(sampleRate, 1)) Hz"
            + (isWhole
                ? "."
                : "; the loop was delayed, so the spectrum uses only the longest part without a gap.")
        return report
    }

    private static func tooShort(_ report: SpectrumReport, isWhole: Bool) -> SpectrumReport {
        var report = report
        report.state = SpectrumReport.State.refused.rawValue
        report.axes = []
        report.sentence =
            isWhole
            ? "Too few samples: record for longer."
            : "The loop was delayed repeatedly: too few samples without a gap. Stop other programs, and try again."
        return report
    }

    /// Rounds the value to four significant digits; further digits would only contain noise.
    private static func rounded(_ value: Double) -> Double {
        guard value > 0, value.isFinite else { return value }
        var scale = 1.0
        while value * scale < 1000 { scale *= 10 }
        return scale > 1 ? (value * scale).rounded() / scale : (value * 10).rounded() / 10
    }
}

extension SpectrumPeak {
    fileprivate init(_ peak: SpectralPeak) {
        self.init(
            hz: Number((peak.hz * 100).rounded() / 100),
            prominenceDb: Number((peak.prominence * 10).rounded() / 10), rmsDps: Number(peak.rms))
    }
}

extension Settings.Filter {
    /// The notch filters of one axis.
    func notches(_ axis: GimbalAxis) -> [Notch] {
        switch axis {
        case .yaw: notchYaw
        case .roll: notchRoll
        case .pitch: notchPitch
        }
    }
}

extension GimbalAxis {
    /// Letter of the camera's axis: x, y or z.
    var letter: String {
        switch self {
        case .yaw: "z"
        case .roll: "x"
        case .pitch: "y"
        }
    }
}
