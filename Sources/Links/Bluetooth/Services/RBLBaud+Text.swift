import enum Configuration.RBLBaud

extension RBLBaud {
    /// Text of the speed, as clients read it, such as "BAUD_57600".
    var bytes: [UInt8] { Array("BAUD_\(bitsPerSecond)".utf8) }
}
