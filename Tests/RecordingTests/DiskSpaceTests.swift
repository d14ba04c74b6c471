import Testing

@testable import Recording

@Suite("Space on a disk") struct DiskSpaceTests {
    @Test(
        "a size that does not fit into an integer is the largest integer",
        arguments: [(.max, 4096), (.max, 1), (1 << 63, 1), (1 << 51, 4096)]
            as [(UInt64, UInt64)])
    func tooLarge(blocks: UInt64, blockBytes: UInt64) {
        let space = DiskSpace(blocks: blocks, free: blocks, blockBytes: blockBytes)
        #expect(space.size == .max && space.free == .max)
    }

    @Test("the bytes of a disk are its blocks, times the bytes of a block")
    func sizes() {
        let space = DiskSpace(blocks: 1000, free: 10, blockBytes: 4096)
        #expect(space.size == 4_096_000 && space.free == 40_960)
    }

    @Test("the disk of an existing directory has a size, a missing directory has none")
    func system() {
        #expect(DiskSpace(of: "/").map { $0.size > 0 && $0.free <= $0.size } == true)
        #expect(DiskSpace(of: "/nowhere/at/all") == nil)
    }
}
