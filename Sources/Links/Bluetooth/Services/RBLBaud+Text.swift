import enum Configuration.RBLBaud

extension RBLBaud {
    /// Baud rate as the text that clients read, such as "BAUD_57600".
    var bytes: [UInt8] { Array("BAUD_\(bitsPerSecond)".utf8) }
}
