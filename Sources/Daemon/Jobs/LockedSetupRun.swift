import GimbalCore
import Policy
import Realtime
import Wire

/// One run of the set-up's step `locked`: the motors hold the camera for the first time. The run
/// succeeds if the camera is held for 3 s with an error below 1°. Otherwise the motors are switched
/// off.
struct LockedSetupRun {
    /// Required duration with a small error, s.
    static let holdSeconds = 3.0
    /// Largest error of a camera that is held, rad.
    private static let largestError = Double.pi / 180
    /// Error at which the run ends immediately, rad.
    private static let lostError = 25 * Double.pi / 180
    /// Rate at which the run ends immediately, rad/s.
    private static let largestRate = 200 * Double.pi / 180
    /// Longest duration of the run, s.
    private static let longestSeconds = 20.0

    private let began: Instant
    private var heldSince: Instant?
    private var wasOn = false
    /// Conditions that keep the outputs off, or that were present when the outputs were switched off.
    private var inhibiting = Conditions.none
    /// Largest error while the camera was held, rad.
    private(set) var error = 0.0
    /// Time for which the camera has been held, s.
    private(set) var held = 0.0
    /// Failure that ended the run; nil while the run continues.
    private(set) var failure: MotorSetupRun.Failure?

    /// Creates a run that begins now.
    init(now: Instant) { began = now }

    /// True if the camera was held for the required duration.
    var isComplete: Bool { failure == nil && held >= Self.holdSeconds }

    /// Adds one tick.
    mutating func feed(_ record: TelemetryRecord) {
        guard failure == nil, !isComplete, record.now > began else { return }
        let snapshot = record.snapshot
        let isOn = snapshot.output.enabled && snapshot.authority >= 1
        let now = snapshot.attitudeError.norm
        note(snapshot)
        if snapshot.output.enabled,
            now > Self.lostError || snapshot.rate.norm > Self.largestRate
        {
            return fail(
                "lost",
                "The camera moved away from its attitude, so airframed switched the motors off. Run the set-up step `motors` again, and check the balance."
            )
        }
        if wasOn, !snapshot.output.enabled { return fail("switched_off", reason) }
        wasOn = wasOn || isOn
        if isOn, now < Self.largestError {
            if heldSince == nil {
                heldSince = record.now
                error = 0
            }
            error = max(error, now)
        } else {
            heldSince = nil
        }
        held = heldSince.map { record.now.seconds(since: $0) } ?? 0
        guard held < Self.holdSeconds, record.now.seconds(since: began) > Self.longestSeconds else {
            return
        }
        fail(
            wasOn ? "not_held" : "switched_off",
            wasOn
                ? "The camera was not held within 1° for 3 s. Hold the handle still; if the camera vibrates, run `airframectl autotune all`."
                : reason)
    }

    /// Ends the run with a failure.
    mutating func fail(_ code: String, _ sentence: String) {
        if failure == nil { failure = MotorSetupRun.Failure(code: code, sentence: sentence) }
    }

    /// Notes the conditions that keep the outputs off. A short condition is kept, because it can end
    /// while the motors brake, before the outputs are switched off.
    private mutating func note(_ snapshot: StabilizerSnapshot) {
        let present = snapshot.conditions.intersection(Supervisor.inhibiting)
        switch snapshot.phase {
        case .starting, .active: inhibiting = present
        case .off, .stopping, .braking: if !present.isEmpty { inhibiting = present }
        }
    }

    private var reason: String {
        inhibiting.words.last?.sentence
            ?? "The motors are off. `airframectl log` shows the cause."
    }
}
