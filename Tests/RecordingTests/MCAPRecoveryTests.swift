import GimbalCore
import Glibc
import Realtime
import SystemPackage
import TestSupport
import Testing

@testable import Recording

/// Recordings of a killed writer, as the next start of the daemon finds them.
@Suite("Recovery of unfinished recordings") struct MCAPRecoveryTests {
    /// Writes these bytes to a file, and runs the recovery. Returns the file's bytes after the
    /// recovery.
    private func recovered(_ bytes: [UInt8]) throws -> (isRecovered: Bool, bytes: [UInt8]) {
        var result = (false, [UInt8]())
        try withTemporaryDirectory { directory in
            let path = directory.appending("a.mcap")
            try write(bytes, to: path)
            let isRecovered = try MCAPRecovery.recover(path)
            result = (isRecovered, try TestSupport.bytes(of: path))
        }
        return result
    }

    private static let chunks: [MCAPChunk] = {
        var rig = FlightRig(.walking)
        rig.run(1.6)
        _ = rig.file()
        return rig.chunks
    }()

    @Test("the recovery writes the same end of file that the recorder would have written")
    func sameEnd() throws {
        let whole = FlightRig.file(Self.chunks[...])
        let open = FlightRig.file(Self.chunks[...], isEnded: false)
        #expect(whole.count > open.count)
        let result = try recovered(open)
        #expect(result.isRecovered)
        #expect(result.bytes == whole)
    }

    @Test("a completed recording keeps the date of its last change")
    func date() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appending("airframe-a.mcap")
            try write(FlightRig.file(Self.chunks[...], isEnded: false), to: path)
            let time = timespec(tv_sec: 1_795_616_885, tv_nsec: 0)
            let result = utimensat(AT_FDCWD, path.string, [time, time], 0)
            try #require(result == 0)
            let recordings = RecordingDirectory(directory: directory, limits: .init())
            #expect(recordings.recover() == ["airframe-a.mcap"])
            #expect(recordings.entries.map(\.date) == [1_795_616_885])
        }
    }

    @Test("a file cut at any byte is complete up to its last whole chunk, and produces no remarks")
    func torn() throws {
        let chunks = Self.chunks
        try #require(chunks.count >= 3)
        let open = FlightRig.file(chunks[...], isEnded: false)
        // For each number of chunks: size of the file without end and last index, and bytes of the
        // finished file.
        let prefixes = (0...chunks.count).map { count in
            (
                FlightRig.file(chunks[..<count], isEnded: false).count
                    - (chunks[..<count].last?.indexSize ?? 0),
                FlightRig.file(chunks[..<count])
            )
        }
        // Cuts every 997 bytes, and at the end of each record, also between two channels of an
        // index.
        let places = Array(stride(from: prefixes[0].0, through: open.count, by: 997))
        for place in places + Self.recordEnds(open, from: prefixes[0].0) {
            let expected = try #require(prefixes.last { $0.0 <= place }).1
            let result = try recovered(Array(open[..<place]))
            #expect(result.isRecovered)
            #expect(result.bytes == expected, "truncated at byte \(place)")
        }
        let last = try recovered(Array(open.dropLast(1))).bytes
        let outcome = try FlightFile(bytes: last, path: "a").read { _, _ in true }
        #expect(outcome.isComplete && outcome.remarks.isEmpty)
    }

    private static func recordEnds(_ bytes: [UInt8], from start: Int) -> [Int] {
        var ends: [Int] = []
        var place = start
        while place + 9 <= bytes.count {
            let length = (1...8).reversed().reduce(0) { $0 << 8 | Int(bytes[place + $1]) }
            place += 9 + length
            ends.append(place)
        }
        return ends
    }

    @Test("a file that is cut within its end section is completed")
    func tornEnd() throws {
        let whole = FlightRig.file(Self.chunks[...])
        let open = FlightRig.file(Self.chunks[...], isEnded: false)
        for place in stride(from: open.count + 1, to: whole.count, by: 97) {
            #expect(
                try recovered(Array(whole[..<place])).bytes == whole, "truncated at byte \(place)")
        }
    }

    @Test("a complete, foreign, empty or open file is not changed")
    func untouched() throws {
        let whole = FlightRig.file(Self.chunks[...])
        var zeros = MCAPOpcode.magic
        zeros += [UInt8](repeating: 0, count: 4096)
        for bytes in [whole, Array("IMU1 and so on".utf8), [], MCAPOpcode.magic, zeros] {
            let result = try recovered(bytes)
            #expect(!result.isRecovered && result.bytes == bytes)
        }
        try withTemporaryDirectory { directory in
            let path = directory.appending("a.mcap")
            var writer = try FlightWriter(
                path: path, library: "test", metadata: [:], attachments: [])
            for chunk in Self.chunks { try writer.append(chunk) }
            #expect(try !MCAPRecovery.recover(path))
            writer.abandon()
            #expect(try MCAPRecovery.recover(path))
        }
        #expect(throws: Errno.noSuchFileOrDirectory) {
            _ = try MCAPRecovery.recover("/nowhere/a.mcap")
        }
    }

    @Test("a wrong byte at any position does not reduce the number of readable ticks")
    func damaged() throws {
        let open = FlightRig.file(Self.chunks[...], isEnded: false)
        let last = FlightRig.file(Self.chunks.dropLast(), isEnded: false).count
        var places = Array(stride(from: 8, to: last, by: last / 20))
        // The type of each record, and the most significant byte of its length.
        for end in Self.recordEnds(open, from: FlightRig.file([], isEnded: false).count)
        where end < last {
            places += [end, end + 8]
        }
        for place in places {
            var bytes = open
            bytes[place] = ~bytes[place]
            let result = try recovered(bytes)
            #expect(
                Self.readable(result.bytes) == Self.readable(bytes), "byte \(place) is wrong")
            if !result.isRecovered { #expect(result.bytes == bytes) }
        }
    }

    @Test("a file whose first chunk ends before it begins is not changed")
    func reversedTimes() throws {
        var bytes = FlightRig.file(Self.chunks[...], isEnded: false)
        // The end time follows the type, the length and the start time of the chunk. With its
        // highest bit set, it is negative.
        let end = FlightRig.file([], isEnded: false).count + 17
        bytes[end + 7] |= 0x80
        let result = try recovered(bytes)
        #expect(!result.isRecovered && result.bytes == bytes)
    }

    /// Number of ticks that a reader finds; nil if the reader refuses the file.
    private static func readable(_ bytes: [UInt8]) -> Int? {
        var ticks = 0
        let outcome = try? FlightFile(bytes: bytes, path: "a").read { record, _ in
            if case .tick = record { ticks += 1 }
            return true
        }
        return outcome.map { _ in ticks }
    }
}
