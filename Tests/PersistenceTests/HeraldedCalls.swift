import Glibc
import Persistence
import Synchronization
import SystemPackage

extension FileCalls {
    /// Real system calls with small writes. Each call is announced before it is made.
    static func heralded(by herald: @escaping @Sendable () -> Void) -> FileCalls {
        let calls = FileCalls.system
        return FileCalls(
            open: { path, access throws(Errno) in
                herald()
                return try calls.open(path, access)
            },
            read: { file, limit throws(Errno) in
                herald()
                return try calls.read(file, limit)
            },
            write: { file, bytes throws(Errno) in
                herald()
                return try calls.write(file, bytes.prefix(64))
            },
            sync: { file throws(Errno) in
                herald()
                try calls.sync(file)
            },
            close: { file throws(Errno) in
                herald()
                try calls.close(file)
            },
            link: { old, new throws(Errno) in
                herald()
                try calls.link(old, new)
            },
            rename: { old, new throws(Errno) in
                herald()
                try calls.rename(old, new)
            },
            remove: { path throws(Errno) in
                herald()
                try calls.remove(path)
            },
            exists: calls.exists)
    }

    /// Kills the process before call number `call`, counted from 0.
    static func killing(at call: Int) -> FileCalls {
        let counter = CallCounter()
        return heralded {
            if counter.next() == call { kill(getpid(), SIGKILL) }
        }
    }
}

/// Number of calls.
final class CallCounter: Sendable {
    private let calls = Mutex(0)

    var count: Int { calls.withLock { $0 } }

    /// The number of the next call, from 0.
    func next() -> Int {
        calls.withLock { calls in
            defer { calls += 1 }
            return calls
        }
    }
}
