/// Rules for the settings of the flight recorder.
enum RecordingRules {
    /// All rules for the flight recorder.
    static let all = [memory]

    /// Memory of the recording for each tick of the loop, bytes. Measured: one minute at 1 kHz
    /// needs 13 MB.
    private static let tickBytes = 220.0

    /// Largest memory of the recording, bytes. The service has 168 MB (MemoryMax in
    /// airframed.service). The rest of airframed needs at most 61 MB. A fault's file that waits for
    /// the disk can need as much memory as the recording.
    private static let largestBytes = 53_000_000.0

    private static let memory = ConfigurationRule(keys: ["recording.ring_s", "loop.rate_hz"]) {
        settings in
        let rate = settings.loop.rateHz
        let bytesPerSecond = Double(rate) * tickBytes
        let bytes = settings.recording.ringS * bytesPerSecond
        guard settings.recording.enabled, bytes > largestBytes else { return nil }
        return (
            "needs \(Int(bytes / 1e6)) MB of memory at loop.rate_hz = \(rate), more than the permitted \(Int(largestBytes / 1e6)) MB",
            "Set recording.ring_s to at most \(Int(largestBytes / bytesPerSecond)); a continuous recording (recording.continuous) has no such limit."
        )
    }
}
