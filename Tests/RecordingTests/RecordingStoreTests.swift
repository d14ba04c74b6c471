import GimbalCore
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Recording

@Suite("Storage of recordings on disk") struct RecordingStoreTests {
    private static let chunks: [MCAPChunk] = {
        var rig = FlightRig(.walking)
        rig.run(5.1)
        return rig.chunks
    }()
    private static let description = RecordingStore.Description(
        library: "test", metadata: ["format": "1", "version": "test"], attachments: [])
    /// 2026-11-22 02:15:30 UTC.
    private static let date = 1_795_313_730.0

    /// Size of a file with all chunks, bytes.
    private static let fileBytes = chunks.reduce(20_000) { $0 + $1.fileBytes }

    private static func store(
        in directory: FilePath, _ change: (inout RecordingDirectory.Limits) -> Void = { _ in }
    ) -> RecordingStore {
        var limits = RecordingDirectory.Limits()
        change(&limits)
        return RecordingStore(
            recordings: RecordingDirectory(
                directory: directory.appending("recordings"), limits: limits))
    }

    /// Store on a simulated disk, which has room for recordings with the given number of bytes.
    private static func store(in directory: FilePath, capacity: Int) -> RecordingStore {
        let limits = RecordingDirectory.Limits()
        return RecordingStore(
            recordings: RecordingDirectory(
                directory: directory.appending("recordings"), limits: limits,
                room: { place in
                    let files = RecordingDirectory(directory: place, limits: limits).entries
                    return files.reduce(capacity) { $0 - $1.bytes }
                }))
    }

    private static func ticks(_ path: FilePath) throws -> [UInt64] {
        var ticks: [UInt64] = []
        try FlightFile(path: path).read { record, _ in
            if case .tick(let tick) = record { ticks.append(tick.tick) }
            return true
        }
        return ticks
    }

    @Test("the file name contains time and reason, and the directory is created")
    func named() throws {
        try withTemporaryDirectory { directory in
            var store = Self.store(in: directory)
            let first = store.dump(
                Self.chunks, reason: "fault-imu_stale", Self.description, date: Self.date)
            let second = store.dump(
                Self.chunks, reason: "fault-imu_stale", Self.description, date: Self.date)
            #expect(
                first?.lastComponent?.string == "airframe-20261122T021530Z-fault-imu_stale.mcap")
            #expect(
                second?.lastComponent?.string
                    == "airframe-20261122T021530Z-fault-imu_stale-1.mcap")
            #expect(store.report.files == 2)
            #expect(store.report.problem == nil)
        }
    }

    @Test("a continuous recording continues in the next file without losing a tick")
    func rotation() throws {
        try withTemporaryDirectory { directory in
            let limit = Self.chunks[0].fileBytes * 3
            var store = Self.store(in: directory) { $0.fileBytes = limit }
            for chunk in Self.chunks {
                store.record([chunk], { Self.description }, date: Self.date)
            }
            store.stop()
            let files = store.recordings.entries
            #expect(files.count >= 3)
            // Two files of the same second differ only in a number at the end of the name, so the
            // first tick determines their order.
            let parts = try files.map {
                try Self.ticks(store.recordings.directory.appending($0.name))
            }.sorted { $0[0] < $1[0] }
            let all = parts.flatMap(\.self)
            #expect(all == Array(all[0]...all[all.count - 1]))
            #expect(files.allSatisfy { $0.bytes <= limit + 20_000 })
        }
    }

    @Test("chunks that were already written are skipped, and lost chunks are counted")
    func overlap() throws {
        try withTemporaryDirectory { directory in
            var store = Self.store(in: directory)
            store.record(Self.chunks[0..<4], { Self.description }, date: Self.date)
            store.record(Self.chunks[2..<5], { Self.description }, date: Self.date)
            #expect(store.report.lostChunks == 0)
            store.record(Self.chunks[7..<9], { Self.description }, date: Self.date)
            #expect(store.report.lostChunks == 2)
            store.stop()
            let path = try #require(store.report.lastFile)
            let ticks = try Self.ticks(FilePath(path))
            #expect(Set(ticks).count == ticks.count)
        }
    }

    @Test("the oldest recordings are deleted above the total size, and other files are kept")
    func total() throws {
        try withTemporaryDirectory { directory in
            let one = Self.chunks.reduce(0) { $0 + $1.fileBytes }
            var store = Self.store(in: directory) { $0.totalBytes = 3 * one }
            try store.recordings.prepare()
            try write("mine", to: store.recordings.directory.appending("notes.mcap"))
            for second in 0..<6 {
                store.dump(
                    Self.chunks, reason: "request", Self.description,
                    date: Self.date + Double(second))
            }
            let names = store.recordings.entries.map(\.name)
            #expect(names.last == "airframe-20261122T021535Z-request.mcap")
            #expect(names.count < 4)
            let total = store.recordings.entries.reduce(0) { $0 + $1.bytes }
            #expect(total <= 3 * one)
            #expect(access(store.recordings.directory.appending("notes.mcap").string, F_OK) == 0)
        }
    }

    @Test("if the disk has too little room, the oldest recordings are deleted for the next file")
    func fullDisk() throws {
        try withTemporaryDirectory { directory in
            var store = Self.store(in: directory, capacity: 3 * Self.fileBytes + 200_000)
            for second in 0..<5 {
                store.dump(
                    Self.chunks, reason: "fault-imu_stale", Self.description,
                    date: Self.date + Double(second))
                #expect(store.report.problem == nil)
            }
            let names = store.recordings.entries.map(\.name)
            #expect(names.count == 3, "\(names)")
            #expect(names.last == "airframe-20261122T021534Z-fault-imu_stale.mcap")
        }
    }

    @Test("no recording is deleted if its deletion does not make enough room for the next file")
    func tooSmallDisk() throws {
        try withTemporaryDirectory { directory in
            var store = Self.store(in: directory, capacity: 3 * Self.fileBytes + 200_000)
            for second in 0..<2 {
                store.dump(
                    Self.chunks, reason: "request", Self.description,
                    date: Self.date + Double(second))
            }
            let names = store.recordings.entries.map(\.name)
            // Other programs have used most of the disk.
            var next = Self.store(in: directory, capacity: Self.fileBytes * 3 / 2)
            next.dump(Self.chunks, reason: "request", Self.description, date: Self.date + 2)
            #expect(next.report.problem?.contains("No space left on device") == true)
            #expect(next.recordings.entries.map(\.name) == names)
        }
    }

    @Test("a continuous recording on a full disk deletes no recording of a fault")
    func fullDiskOfFaults() throws {
        try withTemporaryDirectory { directory in
            var store = Self.store(in: directory, capacity: Self.fileBytes + 1_300_000)
            store.dump(
                Self.chunks, reason: "fault-imu_stale", Self.description, date: Self.date - 1)
            let fault = try #require(store.recordings.entries.first?.name)
            for number in 0..<200 {
                var chunk = Self.chunks[number % Self.chunks.count]
                chunk.number = UInt64(number)
                store.record([chunk], { Self.description }, date: Self.date)
            }
            #expect(store.report.problem?.contains("No space left on device") == true)
            #expect(store.recordings.entries.map(\.name).contains(fault))
        }
    }

    @Test("a continuous recording that fills the disk ends with a complete file")
    func filledDisk() throws {
        try withTemporaryDirectory { directory in
            // The store needs at least 1 MB for the start of the recording.
            let capacity = 1_100_000
            var store = Self.store(in: directory, capacity: capacity)
            var number = 0
            while store.report.problem == nil, number < 200 {
                var chunk = Self.chunks[number % Self.chunks.count]
                chunk.number = UInt64(number)
                store.record([chunk], { Self.description }, date: Self.date)
                number += 1
            }
            #expect(store.report.problem?.contains("No space left on device") == true)
            #expect(!store.isOpen)
            let file = try #require(store.report.lastFile)
            let outcome = try FlightFile(path: FilePath(file)).read { _, _ in true }
            #expect(outcome.isComplete)
        }
    }

    @Test(
        "above the total size, the order is that of the last changes, and files of this process are last",
        arguments: [(25, 1), (15, 2)])
    func clockBehind(limit: Int, count: Int) throws {
        try withTemporaryDirectory { directory in
            let own = "airframe-19700101T000100Z-own.mcap"
            let earlier = [
                (name: "airframe-20261123T000000Z-a.mcap", changed: 1_795_000_000),
                (name: "airframe-20261122T000000Z-b.mcap", changed: 1_796_000_000),
            ]
            try write("0123456789", to: directory.appending(own))
            for (name, changed) in earlier {
                let path = directory.appending(name)
                try write("0123456789", to: path)
                let times = [timespec](repeating: timespec(tv_sec: changed, tv_nsec: 0), count: 2)
                #expect(utimensat(AT_FDCWD, path.string, times, 0) == 0)
            }
            var limits = RecordingDirectory.Limits()
            limits.totalBytes = limit
            // The computer's clock begins in 1970.
            let removed = RecordingDirectory(directory: directory, limits: limits).prune(
                date: 70, reserve: 0, keeping: nil, ages: [own: 10], makesRoom: false)
            #expect(removed == earlier.prefix(count).map { $0.name })
        }
    }

    @Test("a recording above the maximum age is deleted")
    func age() throws {
        try withTemporaryDirectory { directory in
            var store = Self.store(in: directory) { $0.ageSeconds = 86400 }
            store.dump(Self.chunks, reason: "request", Self.description, date: Self.date)
            let now = store.recordings.entries[0].date
            let recordings = store.recordings
            #expect(
                recordings.prune(date: now + 86000, reserve: 0, keeping: nil, makesRoom: false)
                    .isEmpty)
            #expect(
                recordings.prune(date: now + 87000, reserve: 0, keeping: nil, makesRoom: false)
                    .count == 1)
        }
    }

    @Test("a corrected date does not make recordings of the same process too old")
    func correctedDate() throws {
        try withTemporaryDirectory { directory in
            var earlier = Self.store(in: directory)
            earlier.dump(Self.chunks, reason: "earlier", Self.description, date: Self.date)
            var store = Self.store(in: directory) { $0.ageSeconds = 86400 }
            let now = store.recordings.entries[0].date
            /// Writes a recording this long after the first one, s, and returns all reasons.
            func reasons(after seconds: Double, _ reason: String, date: Double) -> [String] {
                var chunk = Self.chunks[0]
                chunk.end += Int64(seconds * 1e9)
                store.dump([chunk], reason: reason, Self.description, date: date)
                return ["earlier", "first", "second", "third"].filter { word in
                    store.recordings.entries.contains { $0.name.hasSuffix("-\(word).mcap") }
                }
            }
            #expect(reasons(after: 0, "first", date: now) == ["earlier", "first"])
            let corrected = now + 30 * 86400
            #expect(reasons(after: 100, "second", date: corrected) == ["first", "second"])
            #expect(reasons(after: 86450, "third", date: corrected) == ["second", "third"])
        }
    }

    @Test("the recordings of 24 h stay within the limits of size and age")
    func day() throws {
        try withTemporaryDirectory { directory in
            let limit = Self.chunks[0].fileBytes * 40
            var store = Self.store(in: directory) {
                $0.fileBytes = limit
                $0.totalBytes = 5 * limit
                $0.ageSeconds = 3600
            }
            var largest = 0
            // Each chunk represents half a minute of the day, so the store processes 2880 chunks.
            for number in 0..<2880 {
                var chunk = Self.chunks[number % Self.chunks.count]
                chunk.number = UInt64(number)
                store.record([chunk], { Self.description }, date: Self.date + 30 * Double(number))
                if number % 50 == 0 {
                    largest = max(largest, store.recordings.entries.reduce(0) { $0 + $1.bytes })
                }
            }
            store.stop()
            #expect(largest > 2 * limit)
            #expect(largest <= 6 * limit)
            #expect(store.report.lostChunks == 0)
            #expect(store.report.problem == nil)
        }
    }

    @Test("a directory that cannot be created is reported, and the next attempt succeeds")
    func noDirectory() throws {
        try withTemporaryDirectory { directory in
            let place = directory.appending("recordings")
            try write("in the way", to: place)
            var store = Self.store(in: directory)
            store.dump(Self.chunks, reason: "request", Self.description, date: Self.date)
            #expect(store.report.problem?.contains("Not a directory") == true)
            unlink(place.string)
            store.dump(Self.chunks, reason: "request", Self.description, date: Self.date)
            #expect(store.report.problem == nil)
        }
    }

    @Test("10 s after a failure, a continuous recording resumes, also if the date is set back")
    func clockSetBack() throws {
        try withTemporaryDirectory { directory in
            let place = directory.appending("recordings")
            try write("in the way", to: place)
            var store = Self.store(in: directory)
            var chunk = Self.chunks[0]
            store.record([chunk], { Self.description }, date: Self.date)
            #expect(store.report.problem != nil)
            unlink(place.string)
            for seconds in [1.0, 9, 10] {
                chunk.number = Self.chunks[0].number + UInt64(seconds / FlightEncoder.chunkSeconds)
                store.record([chunk], { Self.description }, date: Self.date - 3600)
                #expect((store.report.openFile != nil) == (seconds == 10), "\(seconds) s")
            }
        }
    }
}
