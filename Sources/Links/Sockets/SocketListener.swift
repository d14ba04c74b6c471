import CLinuxShim
import Glibc
import Logging
import SystemPackage

/// Path, group and limits of a listening socket.
struct SocketPlace: Sendable {
    /// Path of the socket's file.
    var path: String
    /// Group that owns the file; nil, or a group that does not exist, means the daemon's own group.
    var group: String?
    /// Backlog of listen(2): largest number of connections that wait to be accepted.
    var backlog: Int
    /// The setting that names the path, for messages.
    var key: String
}

/// Failure to open a socket, with a message that states the remedy.
public struct SocketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Message that states the socket's path or address, the problem and the remedy.
    public var description: String

    init(description: String) { self.description = description }

    /// Creates the message about a UDP socket that cannot be opened.
    ///
    /// - Parameters:
    ///   - address: The configured address.
    ///   - error: Error of the system call.
    ///   - purpose: The socket, as a phrase such as "the MAVLink socket".
    ///   - remedy: A sentence that names the setting, for errors other than a missing permission.
    init(opening address: DatagramAddress, _ error: Errno, purpose: String, remedy: String) {
        // The service may use the network only with this drop-in file.
        let isBarred = [Errno.addressFamilyNotSupported, .notPermitted, .permissionDenied]
            .contains(error)
        description =
            "\(address): \(error) while opening \(purpose). "
            + (isBarred
                ? "airframed is not allowed to use the network: install the drop-in file network.conf (first-start.md shows the commands)."
                : remedy)
    }
}

/// The listening socket and its file.
struct SocketListener: Sendable {
    let descriptor: FileDescriptor
    /// The policy for write access, with the group that owns the file.
    let policy: AccessPolicy
    private let path: String
    /// Device and inode of the socket's file. At the end of the process, only a file with this
    /// device and inode is removed.
    private let identity: (device: UInt64, inode: UInt64)?

    /// Creates the socket. The socket's file belongs to the group, and has the mode 0660.
    ///
    /// - Parameters:
    ///   - place: Path, group and limits of the socket.
    ///   - logger: Log for a group that does not exist.
    /// - Throws: An error that describes the problem; after a failure, the socket's file does not
    ///   exist.
    init(_ place: SocketPlace, logger: Logger) throws(SocketError) {
        let path = place.path
        let obstacles = SocketPath(key: place.key)
        try obstacles.check(path)
        try obstacles.clear(path)
        var raw: Int32 = -1
        let error = cl_socket_listen(path, Int32(place.backlog), &raw)
        guard error == 0 else { throw obstacles.failure(creating: path, error) }
        descriptor = FileDescriptor(rawValue: raw)
        self.path = path
        identity = SocketPath.identity(path)

        var policy = Self.policy(group: place.group, path: path, logger: logger)
        // The file's group is set before the file's mode. Until the mode is set, only the daemon's
        // own user can connect. If airframed runs as a service, its process already belongs to this
        // group.
        let isOwned = SocketPath.owningGroup(of: path) == policy.group
        let refusal = isOwned ? 0 : cl_socket_give(path, uid_t.max, policy.group)
        if refusal != 0 {
            let error = Errno(rawValue: refusal)
            let wanted = policy.groupName
            policy = Self.policy(group: nil, path: path, logger: logger)
            logger.warning(
                """
                \(path): cannot set the socket's group to \(wanted) (\(error)), so the socket keeps the group \(policy.groupName). \
                Run airframed with the group \(wanted): for the service, write "[Service]" and "Group=\(wanted)" into a file that `systemctl edit airframed` opens.
                """)
        }
        self.policy = policy
        if geteuid() == 0 { SocketPath.giveToOwnerOfFolder(path) }
        let obstacle = cl_socket_permit(path, 0o660)
        if obstacle != 0 {
            logger.warning("\(path): cannot set mode 0660 (\(Errno(rawValue: obstacle))).")
        }
    }

    /// Closes the socket and removes its file, unless another process has replaced the file.
    func close() {
        try? descriptor.close()
        guard let identity, let present = SocketPath.identity(path), present == identity else {
            return
        }
        unlink(path)
    }

    private static func policy(group: String?, path: String, logger: Logger) -> AccessPolicy {
        let own = getegid()
        if let group {
            if let identifier = SocketPath.groupID(named: group) {
                return AccessPolicy(ownUser: geteuid(), group: identifier, groupName: group)
            }
            logger.warning(
                """
                \(path): group "\(group)" does not exist, so the socket keeps the daemon's group \(own). \
                Create it (sudo groupadd --system \(group)) or set diagnostics.group to an existing group, then restart airframed.
                """)
        }
        return AccessPolicy(
            ownUser: geteuid(), group: own,
            groupName: SocketPath.groupName(of: own) ?? "\(own)")
    }
}

/// Checks of a socket path; each failed check throws a message about the problem.
struct SocketPath {
    /// The setting that names the path.
    let key: String

    func check(_ path: String) throws(SocketError) {
        if path.isEmpty {
            throw SocketError(
                description:
                    "\(key) is empty. Set it to a path, for example /run/airframe/airframed.sock.")
        }
        let length = path.utf8.count
        if length > Int(CL_SOCKET_PATH_MAX) {
            throw SocketError(
                description:
                    "\(path): the path has \(length) bytes, but the path of a UNIX socket can have at most \(CL_SOCKET_PATH_MAX). Set \(key) to a shorter path."
            )
        }
        if path.utf8.contains(0) {
            throw SocketError(
                description: "\(key) contains a NUL byte. Set it to a path without a NUL byte.")
        }
    }

    /// Removes a stale socket file, on which no process listens. If a process listens, or if the
    /// file is not a socket, the method keeps the file and throws the reason.
    func clear(_ path: String) throws(SocketError) {
        var info = stat()
        guard lstat(path, &info) == 0 else {
            if errno == ENOENT { return }
            throw failure(creating: path, errno)
        }
        guard info.st_mode & S_IFMT == S_IFSOCK else {
            throw SocketError(
                description: "\(path) exists and is not a socket. "
                    + "Move the file away, or set \(key) to another path.")
        }
        var connection: Int32 = -1
        let error = cl_socket_connect(path, &connection)
        switch error {
        case 0, EAGAIN:
            if error == 0 { Glibc.close(connection) }
            throw SocketError(
                description:
                    "\(path): another daemon uses this socket. Stop that daemon (sudo systemctl stop airframed), or start the new daemon with --set \(key)=PATH."
            )
        case ECONNREFUSED:
            // A daemon that was killed has left this file behind.
            if unlink(path) != 0, errno != ENOENT { throw failure(creating: path, errno) }
        case ENOENT: break
        case EACCES, EPERM:
            // Only a user who can connect can find out whether a process listens.
            throw SocketError(
                description: """
                    \(path): user \(geteuid()) has no permission to connect to this socket, usually because another user ran airframed. \
                    If that airframed runs, stop it. If none runs, a killed airframed has left the socket behind: remove it (sudo rm \(path)). \
                    Or set \(key) to another path.
                    """)
        default: throw failure(creating: path, error)
        }
    }

    func failure(creating path: String, _ error: Int32) -> SocketError {
        let directory = FilePath(path).removingLastComponent().string
        let parent = directory.isEmpty ? "." : directory
        let sentence =
            switch error {
            case ENOENT:
                """
                \(parent) does not exist, so the socket \(path) cannot be created. Create the directory \
                (sudo install -d -g airframe -m 0750 \(parent); under systemd: RuntimeDirectory=), \
                or set \(key) to a path in an existing directory.
                """
            case ENOTDIR:
                "\(parent) is not a directory, so the socket \(path) cannot be created. Set \(key) to a path whose directory exists."
            case EACCES, EPERM:
                """
                \(path): permission denied while creating the socket. Let user \(geteuid()) write to \(parent), \
                or set \(key) to a path in a directory to which this user can write.
                """
            case EADDRINUSE:
                "\(path): another process has just taken this path. Start again, or set \(key) to another path."
            default:
                "\(path): the socket cannot be created (\(Errno(rawValue: error)))."
            }
        return SocketError(description: sentence)
    }

    static func identity(_ path: String) -> (device: UInt64, inode: UInt64)? {
        var info = stat()
        guard lstat(path, &info) == 0 else { return nil }
        return (UInt64(info.st_dev), UInt64(info.st_ino))
    }

    /// Makes the owner of the folder the owner of the socket's file. If root has started airframed by
    /// hand and the process was killed, the service must be able to find out that no process
    /// listens, also if it does not belong to the socket's group. The owner of the folder can
    /// replace the file anyway.
    static func giveToOwnerOfFolder(_ path: String) {
        let folder = FilePath(path).removingLastComponent().string
        var info = stat()
        guard stat(folder.isEmpty ? "." : folder, &info) == 0 else { return }
        _ = cl_socket_give(path, info.st_uid, gid_t.max)
    }

    /// The group that owns a file; nil if there is no file.
    static func owningGroup(of path: String) -> UInt32? {
        var info = stat()
        return lstat(path, &info) == 0 ? info.st_gid : nil
    }

    static func groupID(named name: String) -> UInt32? {
        var entry = group()
        var found: UnsafeMutablePointer<group>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16384) { buffer in
            guard getgrnam_r(name, &entry, buffer.baseAddress, buffer.count, &found) == 0,
                found != nil
            else { return nil }
            return entry.gr_gid
        }
    }

    static func groupName(of identifier: UInt32) -> String? {
        var entry = group()
        var found: UnsafeMutablePointer<group>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16384) { buffer in
            guard getgrgid_r(identifier, &entry, buffer.baseAddress, buffer.count, &found) == 0,
                found != nil, let name = entry.gr_name
            else { return nil }
            return String(cString: name)
        }
    }
}
