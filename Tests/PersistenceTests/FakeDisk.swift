import Persistence
import Synchronization
import SystemPackage

/// A disk in memory. Any call can fail, and power can fail at any call.
///
/// Data that are not synced can survive a power cut or be lost: file contents until fsync of the
/// file, names until fsync of the directory. Names reach the disk in the order of their changes, as
/// on every journalling file system.
final class FakeDisk: Sendable {
    private struct Contents {
        var written: [UInt8] = []
        var synced: [UInt8] = []
    }

    private struct State {
        var contents: [Contents] = []
        var names: [String: Int] = [:]
        /// Every set of names since the last sync of the directory, oldest first.
        var history: [[String: Int]] = [[:]]
        var open: [Int32: Int] = [:]
        var readOffsets: [Int32: Int] = [:]
        var callCount = 0
        var failAt: Int?
        var failure = Errno.ioError
        var losesPower = false
        var hasPower = true
        var links = true
        /// Files that cannot be opened for reading, with their error.
        var unreadable: [String: Errno] = [:]
    }

    private let state = Mutex(State())

    /// Number of calls that change or sync something.
    var callCount: Int { state.withLock { $0.callCount } }
    var openFiles: Int { state.withLock { $0.open.count } }
    var names: [String] { state.withLock { $0.names.keys.sorted() } }

    /// The `call`th changing call from now, counted from 0, fails with `errno`; all other calls
    /// succeed.
    func fail(at call: Int, with errno: Errno) {
        state.withLock {
            $0.failAt = $0.callCount + call
            $0.failure = errno
        }
    }

    /// All calls succeed again.
    func repair() { state.withLock { $0.failAt = nil } }

    /// From the `call`th changing call on, changes no longer reach the disk.
    func losePower(at call: Int) {
        state.withLock {
            $0.failAt = $0.callCount + call
            $0.losesPower = true
        }
    }

    /// A file becomes unreadable, but can be renamed and replaced.
    func forbidReading(_ name: String, _ errno: Errno) {
        state.withLock { $0.unreadable[name] = errno }
    }

    func forbidLinks() { state.withLock { $0.links = false } }

    func put(_ bytes: [UInt8], at name: String) {
        state.withLock {
            $0.contents.append(Contents(written: bytes, synced: bytes))
            $0.names[name] = $0.contents.count - 1
            $0.history = [$0.names]
        }
    }

    func bytes(of name: String) -> [UInt8]? {
        state.withLock { state in state.names[name].map { state.contents[$0].written } }
    }

    /// Possible states of the disk at the next start after a power cut.
    func afterPowerLoss() -> [FakeDisk] {
        state.withLock { state in
            state.history.flatMap { names in
                [0.0, 0.5, 1.0].map { share in
                    let disk = FakeDisk()
                    disk.state.withLock {
                        $0.names = names
                        $0.history = [names]
                        $0.contents = state.contents.map { file in
                            let unsynced = file.written != file.synced
                            let kept = Int(Double(file.written.count) * share)
                            let bytes = unsynced ? Array(file.written.prefix(kept)) : file.synced
                            return Contents(written: bytes, synced: bytes)
                        }
                    }
                    return disk
                }
            }
        }
    }

    /// Counts a changing call, and throws if this call is to fail.
    private static func count(_ state: inout State) throws(Errno) {
        defer { state.callCount += 1 }
        if !state.hasPower { throw Errno.ioError }
        if state.callCount == state.failAt {
            if state.losesPower { state.hasPower = false }
            throw state.losesPower ? Errno.ioError : state.failure
        }
    }

    var calls: FileCalls {
        FileCalls(
            open: { [self] path, access throws(Errno) in try open(path.string, access) },
            read: { [self] file, limit throws(Errno) in
                try state.withLock { state throws(Errno) in
                    guard let inode = state.open[file] else { throw Errno.badFileDescriptor }
                    let offset = state.readOffsets[file, default: 0]
                    let chunk = Array(state.contents[inode].written.dropFirst(offset).prefix(limit))
                    state.readOffsets[file] = offset + chunk.count
                    return chunk
                }
            },
            write: { [self] file, bytes throws(Errno) in
                try state.withLock { state throws(Errno) in
                    try Self.count(&state)
                    guard let inode = state.open[file] else { throw Errno.badFileDescriptor }
                    // Short writes are allowed, so the caller must continue.
                    let chunk = bytes.prefix(max(1, bytes.count / 2))
                    state.contents[inode].written += chunk
                    return chunk.count
                }
            },
            sync: { [self] file throws(Errno) in
                try state.withLock { state throws(Errno) in
                    try Self.count(&state)
                    guard let inode = state.open[file] else { throw Errno.badFileDescriptor }
                    if inode < 0 {
                        state.history = [state.names]
                    } else {
                        state.contents[inode].synced = state.contents[inode].written
                    }
                }
            },
            close: { [self] file throws(Errno) in
                try state.withLock { state throws(Errno) in
                    guard state.open.removeValue(forKey: file) != nil else {
                        throw Errno.badFileDescriptor
                    }
                    try Self.count(&state)
                }
            },
            link: { [self] old, new throws(Errno) in
                try change { state throws(Errno) in
                    guard state.links else { throw Errno.notPermitted }
                    guard let inode = state.names[old.string] else {
                        throw Errno.noSuchFileOrDirectory
                    }
                    guard state.names[new.string] == nil else { throw Errno.fileExists }
                    state.names[new.string] = inode
                }
            },
            rename: { [self] old, new throws(Errno) in
                try change { state throws(Errno) in
                    guard let inode = state.names[old.string] else {
                        throw Errno.noSuchFileOrDirectory
                    }
                    // rename(2): if both names refer to the same file, nothing changes.
                    if state.names[new.string] == inode { return }
                    state.names[old.string] = nil
                    state.names[new.string] = inode
                }
            },
            remove: { [self] path throws(Errno) in
                try change { state throws(Errno) in
                    guard state.names.removeValue(forKey: path.string) != nil else {
                        throw Errno.noSuchFileOrDirectory
                    }
                }
            },
            exists: { [self] path in
                path.string == "/state" || state.withLock { $0.names[path.string] != nil }
            })
    }

    private func open(_ name: String, _ access: FileCalls.Access) throws(Errno) -> Int32 {
        try state.withLock { state throws(Errno) in
            let file = Int32(state.readOffsets.count + 100)
            switch access {
            case .read:
                if let errno = state.unreadable[name] { throw errno }
                guard let inode = state.names[name] else { throw Errno.noSuchFileOrDirectory }
                state.open[file] = inode
            case .create:
                try Self.count(&state)
                if let inode = state.names[name] {
                    state.contents[inode].written = []
                    state.open[file] = inode
                } else {
                    state.contents.append(Contents())
                    state.names[name] = state.contents.count - 1
                    state.history.append(state.names)
                    state.open[file] = state.contents.count - 1
                }
            case .directory:
                try Self.count(&state)
                state.open[file] = -1
            }
            state.readOffsets[file] = 0
            return file
        }
    }

    private func change(_ body: (inout State) throws(Errno) -> Void) throws(Errno) {
        try state.withLock { state throws(Errno) in
            try Self.count(&state)
            try body(&state)
            state.history.append(state.names)
        }
    }
}
