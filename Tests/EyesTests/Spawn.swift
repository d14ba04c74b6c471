import Glibc
import SystemPackage

/// Starts a program.
///
/// - Parameter words: Name or path, and arguments.
/// - Returns: The process; the caller waits for its end.
/// - Throws: `Errno` if it cannot be started.
func spawn(_ words: [String]) throws -> pid_t {
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments.append(nil)
    defer { arguments.forEach { free($0) } }
    var child = pid_t()
    let error = posix_spawnp(&child, words[0], nil, nil, &arguments, environ)
    guard error == 0 else { throw Errno(rawValue: error) }
    return child
}

/// Runs a command of the shell; returns its exit status.
func shell(_ command: String) throws -> Int32 {
    var status: Int32 = 0
    waitpid(try spawn(["sh", "-c", command]), &status, 0)
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
}
