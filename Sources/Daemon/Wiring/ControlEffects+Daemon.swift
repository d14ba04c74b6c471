import Links
import Policy
import Port
import Wire

extension ControlEffects {
    /// Effects of input controls on the settings and on the flight recorder.
    ///
    /// - Parameters:
    ///   - tuning: Owner of the settings and baselines.
    ///   - recorder: The flight recorder; nil if it is off.
    init(_ tuning: Tuning, _ recorder: FlightRecorder?) {
        self.init(
            record: { done in
                guard let recorder else {
                    return done(
                        .failure(
                            Refusal(.refused, "the recorder is off (recording.enabled)")))
                }
                let isOn = !recorder.status.isRecording
                _ = recorder.setRecording(isOn)
                done(.success(isOn ? "A recording has begun." : "The recording has ended."))
            },
            profile: { name, done in
                done(
                    Result { () throws(Refusal) in
                        try tuning.useProfile(name, by: "the controls")
                    })
            })
    }
}
