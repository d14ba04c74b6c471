/// Time for which a phone or a browser can pair.
public enum PairingTime {
    /// Permitted times, s.
    public static let range = 10.0...600.0
    /// Default time, s.
    public static let usual = 120.0
    /// Text of the permitted times, with unit.
    public static let text = "\(Int(range.lowerBound))...\(Int(range.upperBound)) s"
}
