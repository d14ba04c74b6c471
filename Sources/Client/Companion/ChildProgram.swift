import CLinuxShim
public import Glibc
public import SystemPackage

/// Another program, which this program starts and waits for.
public enum ChildProgram {
    /// Starts a program without input, in a separate process group: Ctrl-C in a terminal reaches
    /// only this program, which ends the other one in order. The program does not inherit blocked
    /// signals. The caller waits for the program with waitpid(2).
    ///
    /// - Parameters:
    ///   - words: The program, as a path or as a name in PATH, and its arguments.
    ///   - output: Descriptor that becomes the program's standard output.
    ///   - errors: Descriptor that becomes the program's standard error.
    ///   - environment: Variables as NAME=VALUE; nil for the variables of this program.
    ///   - inheritsFiles: True if descriptors that are not closed on exec stay open in the program,
    ///     for example a lock. If false, all descriptors except the standard ones are closed.
    /// - Returns: The process ID.
    /// - Throws: `Errno` if the program cannot be started.
    public static func start(
        _ words: [String], output: Int32, errors: Int32, environment: [String]? = nil,
        inheritsFiles: Bool = false
    ) throws(Errno) -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        if !inheritsFiles {
            let error = cl_spawn_close_from(&actions, 3)
            guard error == 0 else { throw Errno(rawValue: error) }
        }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var variables: [UnsafeMutablePointer<CChar>?] =
            (environment ?? []).map { strdup($0) } + [nil]
        defer { variables.forEach { free($0) } }
        var process = pid_t()
        let error =
            environment == nil
            ? posix_spawnp(&process, words[0], &actions, &attributes, &arguments, environ)
            : posix_spawnp(&process, words[0], &actions, &attributes, &arguments, &variables)
        guard error == 0 else { throw Errno(rawValue: error) }
        return process
    }

    /// Converts the status of waitpid(2).
    ///
    /// - Parameter status: Status of a process that has ended.
    /// - Returns: The exit status, or the negative number of the signal that ended the process.
    public static func result(_ status: Int32) -> Int32 {
        status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }
}
