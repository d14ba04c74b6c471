/// The version of all programs.
public enum Version {
    /// Version number of the programs, in the format of semver.org.
    public static let text = "0.1.0"
}
