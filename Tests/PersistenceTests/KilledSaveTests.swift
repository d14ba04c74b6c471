import Glibc
import Persistence
import SystemPackage
import TestSupport
import Testing

@Suite("State store in a process that is killed at any system call")
struct KilledSaveTests {
    /// How many calls the machine gets for `body`.
    private func callCount(
        _ directory: FilePath, _ body: (StateStore) throws -> Void
    ) rethrows -> Int {
        let counter = CallCounter()
        let heralded = FileCalls.heralded { _ = counter.next() }
        try body(StateStore(directory: directory, calls: heralded))
        return counter.count
    }

    @Test("of a save: the next start reads the old or the new state, whole")
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
            // Up to the rename that puts it in place it is the old one, from there on the new one.
            let change = try #require(found.firstIndex(of: numbered(3)))
            #expect(found[..<change].allSatisfy { $0 == numbered(2) })
            #expect(found[change...].allSatisfy { $0 == numbered(3) })
            try store.save(numbered(4))
            #expect(store.load().state == numbered(4))
        }
    }

    @Test("of the first save: nothing or the whole state is there")
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

    @Test("of a start that finds a damaged file: the start after it reads the save before")
    func damagedFile() async throws {
        for call in 0..<8 {
            try await withTemporaryDirectory { directory in
                let path = directory.string
                let store = StateStore(directory: directory)
                try store.save(numbered(1))
                try store.save(numbered(2))
                try TestSupport.write("airframe-state 1 length=9", to: store.file)
                // open, read, read the end, close, set aside, and the same three of the one before
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = path as String, call = call as Int] in
                    _ = StateStore(directory: FilePath(path), calls: .killing(at: call)).load()
                }
                #expect(store.load().state == numbered(1))
            }
        }
    }
}

@Suite("State store in a process that may not write")
struct RefusedSaveTests {
    @Test("files may not grow: an error that names the file, and the old state is still there")
    func quota() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.string
            let store = StateStore(directory: directory)
            try store.save(numbered(1))
            await #expect(processExitsWith: .success) { [path = path as String] in
                // A disk that takes a part of the file, and then no more.
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
        "the directory belongs to somebody else: an error that names it, and what is there is read")
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
                // root may write everywhere; whoever runs the tests otherwise is nobody already.
                if geteuid() == 0 { #expect(seteuid(65534) == 0) }
                let store = StateStore(directory: FilePath(path))
                let loaded = store.load()
                #expect(loaded.state == numbered(1))
                // It cannot be set aside, and is named all the same.
                #expect(loaded.problems.map(\.reason) == [.notAStateFile])
                #expect(loaded.problems.first?.keptAs == nil)
                let problem = #expect(throws: StateProblem.self) { try store.save(numbered(3)) }
                #expect(problem?.reason == .failed(.permissionDenied))
            }
        }
    }
}
