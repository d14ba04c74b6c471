/// The version of the programs, defined only here.
public enum Version {
    /// Semantic version (semver.org).
    public static let text = "0.1.0"
}
