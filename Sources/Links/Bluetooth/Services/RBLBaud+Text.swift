import enum Configuration.RBLBaud

extension RBLBaud {
    /// Text of the speed that a client reads, such as "BAUD_57600".
    var bytes: [UInt8] { Array("BAUD_\(bitsPerSecond)".utf8) }
}
