/// The version of the programs, in one place.
public enum Version {
    /// Semantic version (semver.org).
    public static let text = "0.1.0"
}
