extension Schema {
    /// `[recording]`
    static let recording: [Setting] = [
        .bool(
            "recording.enabled", \.recording.enabled, .restart,
            "Keep the newest seconds in memory, and write them out on faults."),
        .number(
            "recording.ring_s", \.recording.ringS, 5...600, unit: "s", .restart,
            "How far back that memory reaches.",
            hint: "A second at 1 kHz takes 0.2 MB of memory; status shows how much it is."),
        .bool(
            "recording.continuous", \.recording.continuous, .restart,
            "Begin a continuous recording with the process, as `airframectl record start` does."),
        .integer(
            "recording.max_file_mb", \.recording.maxFileMb, 1...4000, unit: "MB", .restart,
            "Length at which a continuous recording goes on in a new file."),
        .integer(
            "recording.max_total_mb", \.recording.maxTotalMb, 2...1_000_000, unit: "MB", .restart,
            "All recordings together; the oldest are removed first."),
        .number(
            "recording.max_age_days", \.recording.maxAgeDays, 0...3650, unit: "days", .restart,
            "Age at which recordings are removed; 0 is never."),
    ]
}
