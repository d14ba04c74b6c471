import enum Configuration.RBLBaud

extension RBLBaud {
    /// As a client reads it: "BAUD_57600".
    var bytes: [UInt8] { Array("BAUD_\(bitsPerSecond)".utf8) }
}
