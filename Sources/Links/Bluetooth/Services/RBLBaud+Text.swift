import enum Configuration.RBLBaud

extension RBLBaud {
    /// Text that a client reads, for example "BAUD_57600".
    var bytes: [UInt8] { Array("BAUD_\(bitsPerSecond)".utf8) }
}
