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
    /// Ticks that found the tape full, since the start.
    public var lostTicks = 0
    /// Directory of the files.
    public var directory = ""
    /// Whether a continuous recording was asked for.
    public var isRecording = false
    /// The file that it goes to now; absent when there is none.
    public var openFile: String?
    /// Bytes in it.
    public var openBytes = 0
    /// The newest complete file; absent before the first.
    public var lastFile: String?
    /// Files that were asked for, by faults or people, since the start.
    public var requested = 0
    /// Of them, those that have been written, or could not be.
    public var finished = 0
    /// Faults that led to a file, since the start.
    public var faults = 0
    /// Recordings in the directory.
    public var files = 0
    /// Bytes of all recordings in the directory.
    public var fileBytes = 0
    /// Parts that a continuous recording lost, half a second each at most.
    public var lostChunks = 0
    /// Problem with writing and its remedy; absent if there is none.
    public var problem: String?

    /// No recorder.
    public init() {}
}
