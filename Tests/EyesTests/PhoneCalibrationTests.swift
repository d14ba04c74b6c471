import Aerie
import SystemPackage
import TestSupport
import Testing

@testable import Eyes

@Suite("Saved calibrations of phones") struct PhoneCalibrationTests {
    private static let text =
        #"[{"device":"a","gimbal":[0,1,2],"mounting":[1,0,0,0],"world":[1,0,0,0]}]"#

    @Test("saved calibrations can be read again, and a missing file contains none")
    func roundTrip() throws {
        try withTemporaryDirectory { directory in
            let file = directory.appending("alignments.json")
            var log: [String] = []
            let none = PhoneService.read(file) { log.append($0) }
            #expect(none.isEmpty)
            try write(Self.text, to: file)
            let alignments = PhoneService.read(file) { log.append($0) }
            #expect(alignments.map(\.device) == ["a"])
            try PhoneService.write(alignments, to: file)
            let again = PhoneService.read(file) { log.append($0) }
            #expect(again == alignments)
            #expect(log.isEmpty)
        }
    }

    @Test("a damaged file is renamed and reported; the next calibration does not replace it")
    func damaged() throws {
        try withTemporaryDirectory { directory in
            let file = directory.appending("alignments.json")
            let damaged = Array(Self.text.utf8.dropLast(9))
            try write(damaged, to: file)
            var log: [String] = []
            let none = PhoneService.read(file) { log.append($0) }
            #expect(none.isEmpty)
            #expect(log.count == 1 && log.allSatisfy { $0.contains("\(file).bad") }, "\(log)")
            #expect(try bytes(of: FilePath("\(file).bad")) == damaged)
            #expect(throws: (any Error).self) { try bytes(of: file) }
        }
    }
}
