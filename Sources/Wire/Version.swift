/// The version of the programs, defined only here.
public enum Version {
    /// Version number as in semver.org.
    public static let text = "0.1.0"
}
