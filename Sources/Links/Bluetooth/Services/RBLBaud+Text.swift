import enum Configuration.RBLBaud

extension RBLBaud {
    /// Text for a client: "BAUD_57600".
    var bytes: [UInt8] { Array("BAUD_\(bitsPerSecond)".utf8) }
}
