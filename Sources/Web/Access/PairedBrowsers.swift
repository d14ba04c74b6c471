import Client
import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage
import Wire

/// A paired browser, without its token.
struct PairedBrowser: Codable, Equatable, Sendable {
    /// ID for `revoke`: the first 8 digits of the token's hash.
    var id: String { String(hash.prefix(8)) }
    /// Name of the browser, as reported by its page.
    var name: String
    /// SHA-256 of the token, hexadecimal.
    var hash: String
    /// Time of the pairing, s since 1970.
    var created: Double
    /// Time at which the token expires, s since 1970.
    var expires: Double
}

/// List of the paired browsers, each with its token's hash. The class is thread-safe.
///
/// A token has 256 random bits. A fast hash is sufficient, because an attacker cannot try all
/// possible tokens. The file contains only hashes, so read access to the file does not reveal
/// tokens.
///
/// A computer without a battery for its clock has a wrong date until the network corrects it. The
/// dates of the tokens that this process has issued follow such a correction. A token of an earlier
/// process keeps its dates, because the clock could have been correct when the token was issued.
final class PairedBrowsers: Sendable {
    /// Largest number of paired browsers; a new browser replaces the oldest one.
    static let limit = 64
    /// Longest name of a browser, bytes.
    static let longestName = 48

    private struct State: Sendable {
        var list: [PairedBrowser]
        /// Hashes of the tokens that this process has issued.
        var issued: Set<String> = []
        /// The wall clock minus the time since the start of the computer, s.
        var offset: Double
        /// True if dates have moved that are not in the file yet.
        var isUnsaved = false
        /// Reason why the moved dates could not be saved; nil after a success.
        var saveError: Errno?

        /// Moves the dates of the tokens that this process has issued by a step of the wall clock.
        mutating func follow(now: Double, uptime: Double) {
            let step = now - uptime - offset
            guard abs(step) > PairedBrowsers.leastStep else { return }
            offset += step
            for index in list.indices where issued.contains(list[index].hash) {
                list[index].created += step
                list[index].expires += step
                isUnsaved = true
            }
        }
    }

    /// Change of the wall clock above which the dates follow, s. Each change of the dates writes
    /// the file, so the dates do not follow the slow corrections of a synchronised clock.
    private static let leastStep = 60.0

    private let file: FilePath
    private let lifetime: Double
    private let now: @Sendable () -> Double
    private let uptime: @Sendable () -> Double
    private let state: Mutex<State>
    /// Lock that orders the changes. A request reads `state` while a change waits for the disk.
    private let changes = Mutex(())

    /// Reads the saved list. An unreadable list counts as empty, and the problem is logged.
    ///
    /// - Parameters:
    ///   - directory: Directory of the list.
    ///   - days: Lifetime of a token.
    ///   - now: Function that returns the wall-clock time, s since 1970.
    ///   - uptime: Function that returns the time since the start of the computer, s.
    init(
        directory: String, days: Int, now: @escaping @Sendable () -> Double = DaemonClient.wall,
        uptime: @escaping @Sendable () -> Double = bootClock
    ) {
        file = FilePath(directory).appending("browsers.json")
        lifetime = Double(days) * 86400
        self.now = now
        self.uptime = uptime
        var saved: [PairedBrowser] = []
        if let data = try? Data(contentsOf: URL(filePath: file.string)) {
            do {
                saved = try JSONDecoder().decode([PairedBrowser].self, from: data)
            } catch {
                Log.write(
                    "\(file): the list of paired browsers cannot be read, so no browser is paired.")
            }
        }
        state = Mutex(State(list: saved, offset: now() - uptime()))
    }

    /// Browsers with valid tokens.
    var browsers: [PairedBrowser] { read { list, time in list.filter { $0.expires > time } } }

    /// Creates a token for a browser.
    ///
    /// - Parameter name: Name of the browser; control characters are removed.
    /// - Returns: The token, 64 hexadecimal digits; only its hash is stored.
    /// - Throws: `Errno` if the list cannot be saved; no token is issued then.
    func issue(to name: String) throws(Errno) -> String {
        var generator = SystemRandomNumberGenerator()
        let token = (0..<4).map { _ in
            let part = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - part.count) + part
        }.joined()
        try change { state, time in
            let browser = PairedBrowser(
                name: Self.plain(name), hash: Self.hash(token), created: time,
                expires: time + lifetime)
            let kept = state.list.filter { $0.expires > time }.suffix(Self.limit - 1)
            state.list = kept + [browser]
            state.issued.insert(browser.hash)
            state.issued.formIntersection(state.list.map(\.hash))
        }
        return token
    }

    /// The paired browser with this token; nil if the token is unknown or has expired.
    func browser(token: String) -> PairedBrowser? {
        guard token.utf8.count == 64 else { return nil }
        let hash = Self.hash(token)
        return read { list, time in list.first { $0.hash == hash && $0.expires > time } }
    }

    /// Removes paired browsers. A browser that is paired while this call waits for the disk is also
    /// removed if it fits. Browsers whose tokens have expired are also removed: while the clock is
    /// ahead, tokens count as expired that would be valid again after the correction of the clock.
    ///
    /// - Parameter isRemoved: Function that returns true for each browser to be removed.
    /// - Returns: The removed browsers, also those with expired tokens.
    /// - Throws: `Errno` if the list cannot be saved; no browser is removed then.
    func revoke(where isRemoved: @Sendable (PairedBrowser) -> Bool) throws(Errno)
        -> [PairedBrowser]
    {
        guard read({ list, _ in list.contains(where: isRemoved) }) else { return [] }
        var removed: [PairedBrowser] = []
        try change { state, _ in
            let hashes = Set(state.list.filter(isRemoved).map(\.hash))
            removed = state.list.filter { hashes.contains($0.hash) }
            state.list.removeAll { hashes.contains($0.hash) }
        }
        return removed
    }

    /// Saves the dates of the issued tokens after a correction of the wall clock. Call this method
    /// about once per second. If the dates cannot be saved, the next call tries it again.
    func followClock() {
        let isUnsaved = state.withLock { state in
            state.follow(now: now(), uptime: uptime())
            return state.isUnsaved
        }
        guard isUnsaved else { return }
        do throws(Errno) {
            try change { _, _ in }
        } catch {
            let isNew = state.withLock { state in
                defer { state.saveError = error }
                return state.saveError != error
            }
            guard isNew else { return }
            Log.write("\(file): the dates of the paired browsers cannot be saved: \(error).")
        }
    }

    /// Reads the list at the present time. The dates have followed the clock, so that a request that
    /// arrives immediately after a correction is not refused.
    private func read<Value: Sendable>(_ body: ([PairedBrowser], Double) -> Value) -> Value {
        state.withLock { state in
            let time = now()
            state.follow(now: time, uptime: uptime())
            return body(state.list, time)
        }
    }

    /// Changes the list at the present time, and saves it.
    private func change(_ body: (inout State, Double) -> Void) throws(Errno) {
        let result = changes.withLock { _ -> Result<Void, Errno> in
            let time = now()
            var next = state.withLock { $0 }
            next.follow(now: time, uptime: uptime())
            body(&next, time)
            do throws(Errno) {
                try save(next.list)
            } catch {
                return .failure(error)
            }
            (next.isUnsaved, next.saveError) = (false, nil)
            // If the clock was corrected in the meantime, the next access follows it again.
            state.withLock { [next] in $0 = next }
            return .success(())
        }
        try result.get()
    }

    /// Replaces the file.
    private func save(_ list: [PairedBrowser]) throws(Errno) {
        guard let data = try? JSONEncoder().encode(list) else { throw .invalidArgument }
        try DurableFile.replace(file.string, with: Array(data))
    }

    private static func hash(_ token: String) -> String {
        SHA256.digest(Array(token.utf8)).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// Limits a name to letters, digits and some punctuation, for lists and for `history`.
    static func plain(_ name: String) -> String {
        let kept = name.unicodeScalars.filter {
            $0.properties.isAlphabetic || $0.properties.numericType != nil
                || " ,.-_()".unicodeScalars.contains($0)
        }
        var text = ""
        for scalar in kept where text.utf8.count + UTF8.width(scalar) <= longestName {
            text.unicodeScalars.append(scalar)
        }
        return text.isEmpty ? "browser" : text
    }
}

extension UTF8 {
    fileprivate static func width(_ scalar: Unicode.Scalar) -> Int {
        UTF8.encode(scalar)?.count ?? 1
    }
}

/// Time since the start of the computer, s. Corrections of the wall clock do not change it, and it
/// also advances while the computer is suspended.
@Sendable func bootClock() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
