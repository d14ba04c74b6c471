import Glibc

/// Limit of the number of open files of the process (RLIMIT_NOFILE). If the limit is too low, the
/// daemon or Swift's runtime ends the process at an unpredictable time. Therefore the daemon checks
/// the limit at its start.
enum DescriptorLimit {
    /// Smallest sufficient limit of open files: enough for the daemon with all parts enabled, and
    /// for some clients.
    static let least: rlim_t = 64
    /// Desired limit of open files: enough for the largest number of clients.
    private static let enough: rlim_t = 256

    /// Raises the limit of open files to the highest permitted value.
    ///
    /// - Throws: `DaemonError` if the largest possible limit is too low.
    static func demand() throws(DaemonError) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        if limit.rlim_cur < enough {
            limit.rlim_cur = min(enough, limit.rlim_max)
            _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        guard limit.rlim_cur >= least else {
            throw DaemonError(
                sentence: "The process can open only \(limit.rlim_cur) files, and needs \(least). "
                    + "Raise the limit: LimitNOFILE= in the unit, `ulimit -n` in a shell.",
                exitStatus: DaemonError.failed)
        }
    }
}
