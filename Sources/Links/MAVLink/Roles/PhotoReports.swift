import Wire

/// Reports of the newest photos: CAMERA_IMAGE_CAPTURED. Ground stations count these messages, and
/// can request a lost message again.
struct PhotoReports {
    /// Number of stored messages.
    private static let stored = 100
    /// Largest number of new photos in one call. If airframe-eyes counts more photos, it took the
    /// earlier photos before it was connected to airframed.
    private static let most = 8

    /// Number of photos in the last call; nil before the first call.
    private var count: Int?
    private var messages: [CameraImageCaptured] = []

    /// Creates the messages for new photos. Call this method more often than airframe-eyes receives
    /// commands, so that the first call is before the first command.
    ///
    /// - Parameters:
    ///   - total: Number of photos since the start of airframe-eyes.
    ///   - command: Sequence number of the latest command that airframe-eyes has executed since it
    ///     connected to airframed; 0 before the first command.
    ///   - bootMs: Time since the start of airframed, ms.
    /// - Returns: The messages in the order of the photos.
    mutating func take(total: Int, command: Int, bootMs: UInt32) -> [CameraImageCaptured] {
        defer { count = total }
        // airframe-eyes has taken other photos than those of this connection's commands for an
        // earlier process of airframed. A command takes at most one photo.
        let known = count ?? max(0, total - command)
        // After a restart of airframe-eyes, the number of photos starts at 0 again.
        if total < known { messages = [] }
        guard total > known else { return [] }
        let new = (max(known, total - Self.most)..<total).map { index in
            var message = CameraImageCaptured()
            message.bootMs = bootMs
            message.index = Int32(clamping: index)
            message.result = 1
            return message
        }
        messages = (messages + new).suffix(Self.stored)
        return new
    }

    /// Stored messages that a command requests.
    ///
    /// - Parameters:
    ///   - first: Number of the first photo; -1 means all photos.
    ///   - last: Number of the last photo; 0 means only the first photo, -1 all following photos.
    /// - Returns: The messages in the order of the photos.
    func requested(from first: Float, to last: Float) -> [CameraImageCaptured] {
        messages.filter { message in
            let index = Float(message.index)
            return first == -1 || index == first || (index > first && (last == -1 || index <= last))
        }
    }
}
