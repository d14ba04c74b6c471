/// State of the flight recorder: part of `status`, and the answer to `record`.
public struct RecorderStatus: Hashable, Sendable, Codable {
    /// True if the recorder runs: the setting `recording.enabled`.
    public var isEnabled = false
    /// Largest duration of the recording in the memory ring, s.
    public var ringS: Number = .unknown
    /// Current duration of the recording in memory, s.
    public var heldS: Number = .unknown
    /// Memory that the recorder uses, including the loop's replay log, bytes.
    public var memoryBytes = 0
    /// Number of ticks since the start that are missing in the recording because the replay log was
    /// full.
    public var lostTicks = 0
    /// Directory in which the recorder stores its files.
    public var directory = ""
    /// True if a continuous recording was requested.
    public var isRecording = false
    /// Current file of the continuous recording; absent if there is none.
    public var openFile: String?
    /// Size of the continuous recording's current file, bytes.
    public var openBytes = 0
    /// The latest complete file; absent before the first one.
    public var lastFile: String?
    /// Number of requests for a recording file since the start, caused by faults or users. The end
    /// of a continuous recording is also a request.
    public var requested = 0
    /// Number of requested files that have been written or have failed.
    public var finished = 0
    /// Number of faults since the start that caused a recording.
    public var faults = 0
    /// Number of recordings in the directory.
    public var files = 0
    /// Size of all recordings in the directory, bytes.
    public var fileBytes = 0
    /// Number of gaps in continuous recordings, at most 0.5 s each.
    public var lostChunks = 0
    /// Problem of the recorder, and its remedy; absent if there is none.
    public var problem: String?

    /// Creates the state without a recorder.
    public init() {}
}
