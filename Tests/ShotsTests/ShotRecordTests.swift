import Testing

@testable import Shots

@Suite("Saved state of a photo series")
struct ShotRecordTests {
    @Test("the remarks name photos that were perhaps taken twice, and photos that are missing")
    func remarks() throws {
        var record = ShotRecord(
            try ShotPlan(ShotRecipe(.orbit(.init(photos: 4)))), originYaw: 0)
        #expect(record.remarks == [])
        (record.repeated, record.skipped) = ([1], [2, 4])
        #expect(record.remarks == ["Perhaps double: 1.", "Perhaps missing: 2, 4."])
        (record.unsteady, record.blocked) = (2, [3])
        #expect(record.remarks.count == 4)
        #expect(record.remarks[1].hasSuffix("another pose: 3."))
    }
}
