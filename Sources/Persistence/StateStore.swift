public import SystemPackage

/// Storage of `SavedState` in a directory. After a crash at any moment, either the previous or the
/// new state is completely readable.
///
/// The directory contains the files `airframed.state`, `airframed.state.previous` (the previous
/// state) and `airframed.state.bad-N` (unreadable files). The methods can block while they wait for
/// the disk. The methods can be called on one ordinary thread at a time, and never on the loop
/// thread.
public struct StateStore: Sendable {
    /// Result of `load`.
    public struct Loaded: Sendable {
        /// Source of a state.
        public enum Source: Sendable, Equatable {
            /// The latest state's file.
            case current
            /// The previous state's file.
            case previous
            /// The defaults, because there is no usable saved state.
            case defaults
        }

        /// The state to start with.
        public let state: SavedState
        /// File from which the state was loaded.
        public let source: Source
        /// Problems during loading, for log and status; empty without a problem.
        public let problems: [StateProblem]
    }

    /// Largest size of a state, bytes.
    public static let sizeLimit = 1 << 20

    /// Path of the latest state's file.
    public let file: FilePath
    private let directory: FilePath
    private let calls: FileCalls

    /// Creates a store in an existing directory.
    ///
    /// - Parameters:
    ///   - directory: Absolute path, `persistence.directory`.
    ///   - calls: System calls; tests replace them.
    public init(directory: FilePath, calls: FileCalls = .system) {
        self.directory = directory
        file = directory.appending("airframed.state")
        self.calls = calls
    }

    private var previous: FilePath { sibling("previous") }

    /// Reads the latest saved state. If the latest state's file is invalid or unreadable, the store
    /// renames it and reads the previous state.
    ///
    /// The method never fails. After a problem, the gimbal starts with the previous state or the
    /// defaults, and reports the problem.
    public func load() -> Loaded {
        var problems: [StateProblem] = []
        var isMissing = true
        for (path, source) in [(file, Loaded.Source.current), (previous, .previous)] {
            do throws(StateProblem) {
                guard let state = try read(path) else { continue }
                // The latest state's file is missing. Either the file was removed, or the power
                // failed during a save on a file system without hard links.
                if source == .previous, problems.isEmpty {
                    problems.append(StateProblem(action: "reading", path: file, reason: .missing))
                }
                return Loaded(state: state, source: source, problems: problems)
            } catch {
                isMissing = false
                var problem = error
                // An unreadable file is not overwritten, because the user can possibly recover its
                // contents.
                problem.keptAs = setAside(path)
                problems.append(problem)
            }
        }
        if isMissing, !calls.exists(directory) {
            problems.append(
                StateProblem(
                    action: "reading", path: file, reason: .failed(.noSuchFileOrDirectory)))
        }
        return Loaded(state: SavedState(), source: .defaults, problems: problems)
    }

    /// Writes a state. When this method returns, the saved state survives a power cut.
    ///
    /// - Parameter state: The state to save.
    /// - Throws: The problem and its remedy. The saved state is unchanged.
    public func save(_ state: SavedState) throws(StateProblem) {
        let bytes: [UInt8]
        do {
            bytes = try StateFile.encode(state)
        } catch {
            throw StateProblem(
                action: "writing", path: file, reason: .unencodable(Self.unencodable(state, error)))
        }
        guard bytes.count <= Self.sizeLimit else {
            throw StateProblem(action: "writing", path: file, reason: .tooLarge(bytes.count))
        }
        let new = sibling("new")
        do throws(Errno) {
            try write(bytes, to: new)
        } catch {
            try? calls.remove(new)
            throw StateProblem(action: "writing", path: new, reason: .failed(error))
        }
        do throws(Errno) {
            try keepPrevious()
            try calls.rename(new, file)
            try syncDirectory()
        } catch {
            throw StateProblem(action: "replacing", path: file, reason: .failed(error))
        }
    }

    private func write(_ bytes: [UInt8], to path: FilePath) throws(Errno) {
        let descriptor = try calls.open(path, .create)
        do throws(Errno) {
            var rest = bytes[...]
            while !rest.isEmpty { rest = rest.dropFirst(try calls.write(descriptor, rest)) }
            try calls.sync(descriptor)
        } catch {
            try? calls.close(descriptor)
            throw error
        }
        try calls.close(descriptor)
    }

    /// Creates a hard link to the latest state's file, as the previous state's file. The latest
    /// state exists under at least one name at every moment.
    private func keepPrevious() throws(Errno) {
        let next = sibling("previous.new")
        try? calls.remove(next)
        do throws(Errno) {
            try calls.link(file, next)
        } catch {
            // A hard link is not possible: the file system does not support hard links, or the file
            // has another owner. Without a hard link, the latest state's file is renamed. Until the
            // new file exists, `load` finds the latest state under the previous state's name.
            guard calls.exists(file) else { return }
            return try calls.rename(file, previous)
        }
        try calls.rename(next, previous)
    }

    private func syncDirectory() throws(Errno) {
        let descriptor = try calls.open(directory, .directory)
        do throws(Errno) {
            try calls.sync(descriptor)
        } catch {
            try? calls.close(descriptor)
            throw error
        }
        try calls.close(descriptor)
    }

    /// The state in a file; nil if the file does not exist.
    private func read(_ path: FilePath) throws(StateProblem) -> SavedState? {
        func problem(_ reason: StateProblem.Reason) -> StateProblem {
            StateProblem(action: "reading", path: path, reason: reason)
        }
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try contents(of: path)
        } catch {
            if error == .noSuchFileOrDirectory { return nil }
            throw problem(.failed(error))
        }
        guard bytes.count <= Self.sizeLimit else { throw problem(.tooLarge(bytes.count)) }
        do throws(StateFile.Fault) {
            return try StateFile.decode(bytes)
        } catch {
            switch error {
            case .noHeader: throw problem(.notAStateFile)
            case .futureVersion(let version): throw problem(.futureVersion(version))
            case .length(let expected, let found):
                throw problem(.truncated(expected: expected, found: found))
            case .checksum: throw problem(.checksumMismatch)
            case .contents(let detail): throw problem(.malformed(detail))
            }
        }
    }

    private func contents(of path: FilePath) throws(Errno) -> [UInt8] {
        let descriptor = try calls.open(path, .read)
        // The file was opened only for reading, so an error of close(2) loses no data.
        defer { try? calls.close(descriptor) }
        var bytes: [UInt8] = []
        while bytes.count <= Self.sizeLimit {
            let chunk = try calls.read(descriptor, 16384)
            if chunk.isEmpty { break }
            bytes += chunk
        }
        return bytes
    }

    /// Renames an unreadable file. If all numbers of unreadable files are in use, the file with the
    /// last number is overwritten. Therefore the disk does not fill.
    private func setAside(_ path: FilePath) -> FilePath? {
        let names = (1...9).map { sibling("bad-\($0)") }
        let target = names.first { !calls.exists($0) } ?? sibling("bad-9")
        do throws(Errno) {
            try calls.rename(path, target)
            return target
        } catch {
            return nil
        }
    }

    private func sibling(_ suffix: String) -> FilePath {
        directory.appending("airframed.state.\(suffix)")
    }

    private static func unencodable(_ state: SavedState, _ error: any Error) -> String {
        let bad = state.calibration.filter { !$0.value.allSatisfy(\.isFinite) }.keys.sorted()
        return bad.isEmpty
            ? "\(error)" : "calibration \(bad.joined(separator: ", ")) is not a finite number"
    }
}
