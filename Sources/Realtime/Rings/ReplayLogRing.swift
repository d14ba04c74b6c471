internal import Atomics
internal import GimbalCore

/// Creates a queue of frames of any size for one producer and one consumer.
///
/// - Parameter bytes: Minimum capacity, bytes, which is rounded up to a power of two. 0 disables
///   the ring.
/// - Returns: The two ends. The two ends can move to different threads; the memory is freed when
///   both ends have been destroyed.
func makeReplayLogRing(bytes: Int) -> ReplayLogEnds {
    precondition(
        (0...(1 << 30)).contains(bytes), "the size of the replayLog ring is outside 0...2^30 bytes")
    var rounded = 4096
    while rounded < bytes { rounded <<= 1 }
    let storage = ReplayLogStorage.allocate(capacity: rounded)
    return ReplayLogEnds(
        writer: ReplayLogWriter(storage: storage, isOn: bytes > 0),
        reader: ReplayLogReader(storage: storage))
}

/// The two ends of a new ring of frames, to be passed to their owners.
struct ReplayLogEnds: ~Copyable, Sendable {
    var writer: ReplayLogWriter
    var reader: ReplayLogReader
}

/// The producer's end, which only the loop uses. Frames that do not fit are dropped and counted;
/// the producer never waits.
struct ReplayLogWriter: ~Copyable, @unchecked Sendable {
    private let storage: ReplayLogStorage
    /// True if the ring exists; frames are then recorded.
    let isOn: Bool
    /// Number of bytes written since the start; the shared atomic variable contains a copy for the
    /// consumer.
    private var head: UInt = 0
    /// Consumer's position when the producer last read it; the consumer's true position is at or
    /// after this position.
    private var cachedTail: UInt = 0

    fileprivate init(storage: ReplayLogStorage, isOn: Bool) {
        self.storage = storage
        self.isOn = isOn
    }

    deinit { storage.release() }

    /// Appends a frame that contains the bytes of a value. The method never waits, and takes
    /// constant time. Only the producer calls this method.
    ///
    /// - Parameters:
    ///   - kind: Kind of the value.
    ///   - tick: Number of the frame's tick.
    ///   - now: Beginning of the tick.
    ///   - value: Value that is copied into the ring.
    /// - Returns: True if the ring had room for the frame.
    mutating func append<Value: BitwiseCopyable>(
        _ kind: ReplayLogKind, tick: UInt64, now: Instant, _ value: Value
    ) -> Bool {
        let size = UInt(MemoryLayout<Value>.size)
        let length = ReplayLogStorage.frameBytes(payload: size)
        let offset = head & storage.mask
        // A frame is contiguous. If the remainder before the end of the ring is too short for the
        // frame, the remainder is skipped.
        let rest = storage.mask &+ 1 &- offset
        let skipped = rest < length ? rest : 0
        guard hasRoom(length &+ skipped) else { return false }
        if skipped > 0 {
            storage.put(ReplayLogHeader(kind: .filler, size: 0, tick: tick, now: now), at: offset)
        }
        let start = skipped > 0 ? 0 : offset
        storage.put(
            ReplayLogHeader(
                kind: kind, size: UInt32(truncatingIfNeeded: size), tick: tick, now: now), at: start
        )
        (storage.slots + Int(bitPattern: start &+ ReplayLogStorage.headerBytes))
            .bindMemory(to: Value.self, capacity: 1).initialize(to: value)
        head &+= length &+ skipped
        storage.head.store(head, ordering: .releasing)
        return true
    }

    /// True if the given number of bytes fits into the ring now.
    mutating func hasRoom(_ bytes: UInt) -> Bool {
        if head &+ bytes &- cachedTail <= storage.mask &+ 1 { return true }
        cachedTail = storage.tail.load(ordering: .acquiring)
        return head &+ bytes &- cachedTail <= storage.mask &+ 1
    }
}

/// The consumer's end, which only the recorder uses.
@frozen
public struct ReplayLogReader: ~Copyable, @unchecked Sendable {
    @usableFromInline let storage: ReplayLogStorage
    @usableFromInline var tail: UInt = 0

    fileprivate init(storage: ReplayLogStorage) { self.storage = storage }

    deinit { storage.release() }

    /// Removes every waiting frame, oldest first. The method never waits. Only the consumer calls
    /// this method.
    ///
    /// - Parameter visit: Function that receives the header and the bytes of each frame; the bytes
    ///   are valid during the call.
    mutating func drain(_ visit: (ReplayLogHeader, UnsafeRawBufferPointer) -> Void) {
        let head = storage.head.load(ordering: .acquiring)
        while tail != head {
            let offset = tail & storage.mask
            let header = storage.header(at: offset)
            if case .filler = header.kind {
                tail &+= storage.mask &+ 1 &- offset
            } else {
                let size = UInt(header.size)
                let payload =
                    storage.slots + Int(bitPattern: offset &+ ReplayLogStorage.headerBytes)
                visit(
                    header,
                    UnsafeRawBufferPointer(start: payload, count: Int(bitPattern: size)))
                tail &+= ReplayLogStorage.frameBytes(payload: size)
            }
            storage.tail.store(tail, ordering: .releasing)
        }
    }

}

/// Header of each frame.
struct ReplayLogHeader: BitwiseCopyable, Sendable {
    var kind: ReplayLogKind
    var size: UInt32
    var tick: UInt64
    var now: Instant
}

/// Memory of the ring in one raw block. The indices are on separate cache lines; the frames follow,
/// each at a multiple of `headerBytes`.
@frozen
@usableFromInline
struct ReplayLogStorage: @unchecked Sendable {
    @usableFromInline let block: UnsafeMutableRawPointer
    @usableFromInline let slots: UnsafeMutableRawPointer
    @usableFromInline let mask: UInt

    static var headerBytes: UInt { 32 }

    /// Size of a frame, rounded up to a multiple of the header's size. Therefore the remainder
    /// before the end of the ring always has room for the header of a filler frame.
    static func frameBytes(payload: UInt) -> UInt {
        headerBytes &+ (payload &+ (headerBytes &- 1)) & ~(headerBytes &- 1)
    }

    static func allocate(capacity: Int) -> ReplayLogStorage {
        let header = 3 * cacheLine
        let block = UnsafeMutableRawPointer.allocate(
            byteCount: header + capacity, alignment: cacheLine)
        // Every page is touched now; the first use of the ring then causes no page faults.
        block.initializeMemory(as: UInt8.self, repeating: 0, count: header + capacity)
        for line in 0..<3 {
            (block + line * cacheLine)
                .bindMemory(to: UnsafeAtomic<UInt>.Storage.self, capacity: 1)
                .initialize(to: .init(line == 2 ? 2 : 0))
        }
        return ReplayLogStorage(block: block, slots: block + header, mask: UInt(capacity - 1))
    }

    func atomic(line: Int) -> UnsafeAtomic<UInt> {
        UnsafeAtomic(
            at: (block + line * cacheLine).assumingMemoryBound(
                to: UnsafeAtomic<UInt>.Storage.self))
    }

    var head: UnsafeAtomic<UInt> { atomic(line: 0) }
    var tail: UnsafeAtomic<UInt> { atomic(line: 1) }

    func put(_ header: ReplayLogHeader, at offset: UInt) {
        (slots + Int(bitPattern: offset)).bindMemory(to: ReplayLogHeader.self, capacity: 1)
            .initialize(to: header)
    }

    func header(at offset: UInt) -> ReplayLogHeader {
        (slots + Int(bitPattern: offset)).assumingMemoryBound(to: ReplayLogHeader.self).pointee
    }

    /// Each end calls this method once, when it is destroyed; the second call frees the block.
    @usableFromInline
    func release() {
        if atomic(line: 2).wrappingDecrementThenLoad(ordering: .acquiringAndReleasing) == 0 {
            block.deallocate()
        }
    }
}
