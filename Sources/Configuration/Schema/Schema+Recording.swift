extension Schema {
    /// Settings of `[recording]`.
    static let recording: [Setting] = [
        .bool(
            "recording.enabled", \.recording.enabled, .restart,
            "If true, the flight recorder keeps a recording of the last ring_s seconds in memory, and writes it to disk when a fault occurs."
        ),
        .number(
            "recording.ring_s", \.recording.ringS, 5...600, unit: "s", .restart,
            "Length of the recording that airframed keeps in memory.",
            hint:
                "Each second takes 0.2 MB of memory at a loop rate of 1 kHz; the recording can take at most 53 MB. `airframectl status` shows the total memory."
        ),
        .bool(
            "recording.continuous", \.recording.continuous, .restart,
            "If true, airframed begins a continuous recording when it starts, like `airframectl record start`."
        ),
        .integer(
            "recording.max_file_mb", \.recording.maxFileMb, 1...4000, unit: "MB", .restart,
            "File size at which a continuous recording continues in a new file; at most half of max_total_mb."
        ),
        .integer(
            "recording.max_total_mb", \.recording.maxTotalMb, 2...1_000_000, unit: "MB", .restart,
            "Highest total size of all recordings; airframed deletes the oldest recordings first."),
        .number(
            "recording.max_age_days", \.recording.maxAgeDays, 0...3650, unit: "days", .restart,
            "Age at which airframed deletes a recording; 0 = never. Use 0 on a computer without a battery for its clock, because recordings of earlier starts look old when the clock is corrected."
        ),
    ]
}
