import Glibc
import Persistence
import SystemPackage
import TestSupport
import Testing

@Suite("State store in a process that is killed at any system call")
struct KilledSaveTests {
    /// Number of system calls that `body` makes.
    private func callCount(
        _ directory: FilePath, _ body: (StateStore) throws -> Void
    ) rethrows -> Int {
        let counter = CallCounter()
        let heralded = FileCalls.heralded { _ = counter.next() }
        try body(StateStore(directory: directory, calls: heralded))
        return counter.count
    }

    @Test("after a kill during a save, the next start reads the complete old or new state")
    func save() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.string
            let store = StateStore(directory: directory)
            func reset() throws {
                try store.save(numbered(1))
                try store.save(numbered(2))
            }
            try reset()
            let calls = try callCount(directory) { try $0.save(numbered(3)) }
            #expect(calls > 12)
            var found: [SavedState] = []
            for call in 0..<calls {
                try reset()
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = path as String, call = call as Int] in
                    let mortal = StateStore(directory: FilePath(path), calls: .killing(at: call))
                    try mortal.save(numbered(3))
                }
                let loaded = store.load()
                #expect(loaded.problems.isEmpty && loaded.source == .current)
                found.append(loaded.state)
            }
            // Before the rename that replaces the file the state is the old one, afterwards the new
            // one.
            let change = try #require(found.firstIndex(of: numbered(3)))
            #expect(found[..<change].allSatisfy { $0 == numbered(2) })
            #expect(found[change...].allSatisfy { $0 == numbered(3) })
            try store.save(numbered(4))
            #expect(store.load().state == numbered(4))
        }
    }

    @Test("after a kill during the first save, the state is empty or complete")
    func firstSave() async throws {
        let calls: Int = try await withTemporaryDirectory { directory in
            try callCount(directory) { try $0.save(numbered(1)) }
        }
        for call in 0..<calls {
            try await withTemporaryDirectory { directory in
                let path = directory.string
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = path as String, call = call as Int] in
                    let mortal = StateStore(directory: FilePath(path), calls: .killing(at: call))
                    try mortal.save(numbered(1))
                }
                let loaded = StateStore(directory: directory).load()
                #expect(loaded.problems.isEmpty)
                #expect([SavedState(), numbered(1)].contains(loaded.state))
            }
        }
    }

    @Test("after a kill during a start with a damaged file, the next start reads the previous save")
    func damagedFile() async throws {
        for call in 0..<8 {
            try await withTemporaryDirectory { directory in
                let path = directory.string
                let store = StateStore(directory: directory)
                try store.save(numbered(1))
                try store.save(numbered(2))
                try TestSupport.write("airframe-state 1 length=9", to: store.file)
                // open, read, read the end, close, rename, and the first three calls for the
                // previous file
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = path as String, call = call as Int] in
                    _ = StateStore(directory: FilePath(path), calls: .killing(at: call)).load()
                }
                #expect(store.load().state == numbered(1))
            }
        }
    }
}

@Suite("State store in a process without permission to write")
struct RefusedSaveTests {
    @Test("at the file-size limit the error names the file, and the old state is kept")
    func quota() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.string
            let store = StateStore(directory: directory)
            try store.save(numbered(1))
            await #expect(processExitsWith: .success) { [path = path as String] in
                // A file-size limit simulates a disk that accepts a part of the file, then fails.
                signal(SIGXFSZ, SIG_IGN)
                var limit = rlimit(rlim_cur: 100, rlim_max: 100)
                #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                let store = StateStore(directory: FilePath(path))
                let problem = #expect(throws: StateProblem.self) { try store.save(numbered(2)) }
                #expect(problem?.reason == .failed(.fileTooLarge))
                #expect(problem?.path.string == store.file.string + ".new")
            }
            #expect(store.load().state == numbered(1))
            try store.save(numbered(3))
            #expect(store.load().state == numbered(3))
        }
    }

    @Test(
        "in another user's directory the error is reported, and the existing state is read")
    func foreignDirectory() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.string
            let store = StateStore(directory: directory)
            try store.save(numbered(1))
            try store.save(numbered(2))
            try TestSupport.write("damaged", to: store.file)
            chmod(path, 0o555)
            defer { chmod(path, 0o755) }
            for suffix in ["", ".previous"] { chmod(store.file.string + suffix, 0o644) }
            await #expect(processExitsWith: .success) { [path = path as String] in
                // root can write everywhere, so the process changes to an unprivileged user.
                if geteuid() == 0 { #expect(seteuid(65534) == 0) }
                let store = StateStore(directory: FilePath(path))
                let loaded = store.load()
                #expect(loaded.state == numbered(1))
                // The file cannot be renamed, but its problem is reported.
                #expect(loaded.problems.map(\.reason) == [.notAStateFile])
                #expect(loaded.problems.first?.keptAs == nil)
                let problem = #expect(throws: StateProblem.self) { try store.save(numbered(3)) }
                #expect(problem?.reason == .failed(.permissionDenied))
            }
        }
    }
}
