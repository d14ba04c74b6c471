import Glibc
import Persistence
import SystemPackage
import TestSupport
import Testing

/// A state that its number identifies.
func numbered(_ number: Int) -> SavedState {
    var state = SavedState()
    state.parameters = ["control.feed_forward": "0.\(number)", "log.level": "\"debug\""]
    state.mode = "locked"
    state.calibration = ["imu.accel_offset_mps2": [0.1, -0.25, Double(number)]]
    state.calibratedSensors = ["mounting": "sensor \(number)"]
    return state
}

@Suite("State store")
struct StateStoreTests {
    let disk = FakeDisk()
    var store: StateStore { StateStore(directory: "/state", calls: disk.calls) }
    let file = "/state/airframed.state"

    @Test("starts empty and without a problem if no state was saved")
    func empty() {
        let loaded = store.load()
        #expect(loaded.state == SavedState())
        #expect(loaded.source == .defaults)
        #expect(loaded.problems.isEmpty)
    }

    @Test("returns the saved state, and keeps the previous one")
    func roundTrip() throws {
        for number in 1...3 { try store.save(numbered(number)) }
        #expect(store.load().state == numbered(3))
        #expect(store.load().source == .current)
        #expect(disk.names == [file, file + ".previous"])
        #expect(disk.openFiles == 0)
        disk.put([], at: file)
        let loaded = store.load()
        #expect(loaded.state == numbered(2))
        #expect(loaded.source == .previous)
    }

    @Test("writes one header line, then JSON that people can read")
    func readable() throws {
        try store.save(numbered(1))
        let text = String(decoding: try #require(disk.bytes(of: file)), as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines[0].hasPrefix("airframe-state 1 length="))
        #expect(lines.contains("    \"control.feed_forward\" : \"0.1\","))
        #expect(lines.last == "}")
    }

    @Test("has the old or the new state after a power cut at any call", arguments: 0..<30)
    func powerLoss(at call: Int) throws {
        for links in [true, false] {
            let disk = FakeDisk()
            if !links { disk.forbidLinks() }
            let store = StateStore(directory: "/state", calls: disk.calls)
            try store.save(numbered(1))
            try store.save(numbered(2))
            disk.losePower(at: call)
            let succeeded = (try? store.save(numbered(3))) != nil
            for found in disk.afterPowerLoss() {
                let after = StateStore(directory: "/state", calls: found.calls)
                let loaded = after.load()
                let allowed = succeeded ? [numbered(3)] : [numbered(2), numbered(3)]
                #expect(allowed.contains(loaded.state), "\(loaded)")
                try after.save(numbered(4))
                #expect(after.load().state == numbered(4))
            }
        }
    }

    @Test("a save makes 10 to 29 calls, so the tests above cover all of them")
    func powerLossCoverage() throws {
        try store.save(numbered(1))
        try store.save(numbered(2))
        let before = disk.callCount
        try store.save(numbered(3))
        #expect((10..<30).contains(disk.callCount - before))
    }

    @Test(
        "has the old or the new state when any call fails, and can save again afterwards",
        arguments: 0..<30, [Errno.noSpace, .ioError, .permissionDenied, .readOnlyFileSystem])
    func failure(at call: Int, errno: Errno) throws {
        try store.save(numbered(1))
        try store.save(numbered(2))
        disk.fail(at: call, with: errno)
        do throws(StateProblem) {
            try store.save(numbered(3))
            #expect(store.load().state == numbered(3))
        } catch {
            #expect(error.reason == .failed(errno))
            #expect([numbered(2), numbered(3)].contains(store.load().state))
        }
        disk.repair()
        #expect(disk.openFiles == 0)
        try store.save(numbered(4))
        #expect(store.load().state == numbered(4))
    }

    @Test("falls back from any damaged file, renames the file and reports the reason")
    func damage() throws {
        try store.save(numbered(1))
        try store.save(numbered(2))
        let good = try #require(disk.bytes(of: file))
        let length = good.count
        for position in 0..<length {
            for damaged in [Array(good.prefix(position)), flipped(good, at: position)] {
                let disk = FakeDisk()
                disk.put(damaged, at: file)
                disk.put(
                    try #require(self.disk.bytes(of: file + ".previous")), at: file + ".previous")
                let loaded = StateStore(directory: "/state", calls: disk.calls).load()
                // A flip of the case of a hexadecimal digit, or of the version to an earlier one,
                // can leave a readable header.
                guard loaded.source != .current else {
                    #expect(loaded.state == numbered(2))
                    continue
                }
                #expect(loaded.state == numbered(1))
                #expect(loaded.problems.map(\.keptAs) == [FilePath(file + ".bad-1")])
                #expect(disk.names == [file + ".bad-1", file + ".previous"])
                #expect(disk.bytes(of: file + ".bad-1") == damaged)
            }
        }
    }

    private func flipped(_ bytes: [UInt8], at position: Int) -> [UInt8] {
        var result = bytes
        result[position] ^= 0x01
        return result
    }

    @Test(
        "reports the problem of a file",
        arguments: [
            ("", "is not a state file of airframed."),
            ("hello\n", "is not a state file of airframed."),
            ("airframe-state 0 length=0 crc32=0\n", "is not a state file of airframed."),
            ("airframe-state 1 length=5\n", "is not a state file of airframed."),
            (
                "airframe-state 1 length=9 crc32=0\nab",
                "has 2 bytes of contents; expected 9"
            ),
            ("airframe-state 1 length=2 crc32=00000000\n{}", "does not match its checksum"),
            ("airframe-state 1 length=2 crc32=a505df1b\n{ ", "does not match its checksum"),
        ])
    func sentences(text: String, expected: String) throws {
        disk.put(Array(text.utf8), at: file)
        let loaded = store.load()
        #expect(loaded.source == .defaults)
        let sentence = try #require(loaded.problems.first).description
        #expect(loaded.problems.count == 1)
        #expect(sentence.hasPrefix(file + ": " + expected), "\(sentence)")
        #expect(sentence.hasSuffix("The file is kept as \(file).bad-1."))
    }

    @Test(
        "renames an unreadable file, so that no later save overwrites it",
        arguments: [Errno.permissionDenied, .ioError, .isDirectory])
    func unreadable(errno: Errno) throws {
        for number in 1...2 { try store.save(numbered(number)) }
        disk.forbidReading(file, errno)
        let loaded = store.load()
        #expect(loaded.state == numbered(1))
        #expect(loaded.source == .previous)
        let problem = try #require(loaded.problems.first)
        #expect(problem.description.contains("The file is kept as \(file).bad-1."), "\(problem)")
        for number in 3...5 { try store.save(numbered(number)) }
        let kept = try #require(disk.bytes(of: file + ".bad-1"))
        #expect(String(decoding: kept, as: UTF8.self).contains("0.2"))
    }

    @Test("the remedy for a file of a newer release restores the file, also its previous version")
    func newerRelease() {
        let files = [file, file + ".previous"]
        for name in files { disk.put(Array("airframe-state 7 anything\n".utf8), at: name) }
        let sentences = store.load().problems.map(\.description)
        #expect(sentences.count == 2)
        for (index, (name, sentence)) in zip(files, sentences).enumerated() {
            let kept = "\(file).bad-\(index + 1)"
            let fault = "\(name): has format 7; this release reads formats up to 1."
            #expect(sentence.hasPrefix("\(fault) The file is kept as \(kept)."), "\(sentence)")
            #expect(
                sentence.hasSuffix(
                    "install the newer release, stop airframed and run: sudo mv \(kept) \(name)"),
                "\(sentence)")
        }
    }

    @Test("the remedy for a file of another user concerns the file, not its directory")
    func foreignFile() throws {
        try store.save(numbered(1))
        disk.forbidReading(file, .permissionDenied)
        let sentence = try #require(store.load().problems.first).description
        let kept = file + ".bad-1"
        #expect(sentence.hasSuffix("sudo chown airframe: \(kept) && sudo mv \(kept) \(file)"))
        #expect(!sentence.contains("owner of /state"))
    }

    @Test("a missing last save is reported, and the previous one is used")
    func missing() throws {
        for number in 1...2 { try store.save(numbered(number)) }
        try disk.calls.remove(FilePath(file))
        let loaded = store.load()
        #expect(loaded.state == numbered(1))
        #expect(loaded.source == .previous)
        #expect(
            loaded.problems.map(\.description) == [
                "\(file): is missing, although airframed has saved it before. Restore the file, or save the settings again with `airframectl save`."
            ])
    }

    @Test("a state directory has one owner at a time, and is free after the owner has ended")
    func lock() throws {
        try withTemporaryDirectory { directory throws in
            var first = try StateLock.take(directory)
            #expect(first != nil)
            let error = #expect(throws: StateProblem.self) { try StateLock.take(directory) }
            #expect(error?.reason == .inUse)
            #expect(error?.description.contains("another running airframed") == true)
            first = nil
            // A process that another test is just starting holds a copy of the lock until its exec.
            #expect(eventually(within: 10) { (try? StateLock.take(directory)) != nil })
            #expect(try StateLock.take(directory.appending("nowhere")) == nil)
        }
    }

    @Test(
        "a lock that root takes belongs to the directory's owner, who can also take it later",
        .enabled(if: geteuid() == 0, "only root can change the owner of a file"))
    func lockOfRoot() throws {
        try withTemporaryDirectory { directory throws in
            let owner: uid_t = 54321
            #expect(chown(directory.string, owner, owner) == 0)
            let lock = try StateLock.take(directory)
            var info = Glibc.stat()
            #expect(stat(directory.appending("airframed.lock").string, &info) == 0)
            #expect(lock != nil && info.st_uid == owner && info.st_gid == owner)
        }
    }

    @Test("accepts contents in which parts are missing")
    func missingParts() {
        disk.put(Array("airframe-state 1 length=2 crc32=a3a6bf43\n{}".utf8), at: file)
        let loaded = store.load()
        #expect(loaded.problems.isEmpty)
        #expect(loaded.source == .current)
        #expect(loaded.state == SavedState())
    }

    @Test("keeps at most nine bad files, and falls back to defaults if both files are bad")
    func manyBadFiles() {
        for _ in 0..<12 {
            disk.put([0x78], at: file)
            disk.put([0x79], at: file + ".previous")
            let loaded = store.load()
            #expect(loaded.source == .defaults)
            #expect(loaded.problems.count == 2)
        }
        #expect(disk.names == (1...9).map { file + ".bad-\($0)" })
    }

    @Test("refuses values that JSON cannot represent, names the key, and does not change the file")
    func notFinite() throws {
        try store.save(numbered(1))
        var state = numbered(2)
        state.calibration["imu.gyro_offset_dps"] = [.nan]
        let problem = #expect(throws: StateProblem.self) { try store.save(state) }
        #expect(problem?.description.contains("imu.gyro_offset_dps is not a finite number") == true)
        #expect(store.load().state == numbered(1))
    }

    @Test("refuses a state that is too large to load again")
    func tooLarge() throws {
        var state = numbered(1)
        state.parameters["x"] = String(repeating: "x", count: StateStore.sizeLimit)
        let problem = #expect(throws: StateProblem.self) { try store.save(state) }
        #expect(problem?.description.contains("1048576 are allowed") == true)
        #expect(disk.names.isEmpty)
    }

    @Test(
        "the error of a failed save contains the remedy",
        arguments: [
            (
                Errno.permissionDenied,
                "permission denied (EACCES) while writing. Make the user that runs airframed the owner of /state"
            ),
            (
                .readOnlyFileSystem,
                "the file system is read-only (EROFS) while writing. Add ReadWritePaths"
            ),
            (
                .noSpace,
                "the disk is full (ENOSPC) while writing. Free disk space, then save again."
            ),
            (
                .noSuchFileOrDirectory,
                "the directory does not exist (ENOENT) while writing. Create the directory with"
            ),
        ])
    func advice(errno: Errno, expected: String) {
        disk.fail(at: 0, with: errno)
        let problem = #expect(throws: StateProblem.self) { try store.save(numbered(1)) }
        #expect(
            problem?.description.hasPrefix("\(file).new: \(expected)") == true, "\(problem as Any)")
    }
}

@Suite("State store on a real disk")
struct RealStateStoreTests {
    @Test("saves, loads, falls back and reports a missing directory")
    func machine() throws {
        var template = Array("/tmp/airframe-state-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        let directory = FilePath(
            String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
        let names = ["", ".previous", ".bad-1"].map { directory.appending("airframed.state" + $0) }
        let store = StateStore(directory: directory)
        #expect(store.load().problems.isEmpty)
        for number in 1...3 { try store.save(numbered(number)) }
        #expect(store.load().state == numbered(3))
        #expect(truncate(names[0].string, 40) == 0)
        let loaded = store.load()
        #expect(loaded.state == numbered(2))
        #expect(loaded.problems.first?.keptAs == names[2])
        try store.save(numbered(4))
        #expect(store.load().state == numbered(4))
        for name in names { #expect(unlink(name.string) == 0) }
        // The directory is empty, so no other file was created.
        #expect(rmdir(directory.string) == 0)
        #expect(
            store.load().problems.first?.description.contains("the directory does not exist")
                == true)
        #expect(throws: StateProblem.self) { try store.save(numbered(1)) }
    }
}
