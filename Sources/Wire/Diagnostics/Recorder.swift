/// The flight recorder: part of `status`, and the answer to `record`.
public struct RecorderStatus: Hashable, Sendable, Codable {
    /// `recording.enabled`.
    public var isEnabled = false
    /// Longest duration in memory, s.
    public var ringS: Number = .unknown
    /// Present duration in memory, s.
    public var heldS: Number = .unknown
    /// Memory of the recorder, including the loop's tape.
    public var memoryBytes = 0
    /// Ticks since the start whose frames were lost because the tape was full.
    public var lostTicks = 0
    /// Directory of the files.
    public var directory = ""
    /// Whether a continuous recording was requested.
    public var isRecording = false
    /// Present file of the continuous recording; absent without one.
    public var openFile: String?
    /// Size of that file, bytes.
    public var openBytes = 0
    /// The newest complete file; absent before the first.
    public var lastFile: String?
    /// Files requested by faults or people since the start.
    public var requested = 0
    /// Number of those that have been written or have failed.
    public var finished = 0
    /// Faults that led to a file, since the start.
    public var faults = 0
    /// Recordings in the directory.
    public var files = 0
    /// Bytes of all recordings in the directory.
    public var fileBytes = 0
    /// Parts that a continuous recording has lost, at most half a second each.
    public var lostChunks = 0
    /// Problem with writing and its remedy; absent if there is none.
    public var problem: String?

    /// No recorder.
    public init() {}
}
