internal import Atomics
internal import GimbalCore

/// Makes a queue of frames of any size for one producer and one consumer, and hands out its two
/// ends.
///
/// - Parameter bytes: Room at least; rounded up to a power of two. 0: there is no ring, and nothing
///   is kept.
/// - Returns: The ends. Each may move to its own thread; the memory is freed when both are gone.
func makeTapeRing(bytes: Int) -> TapeEnds {
    precondition((0...(1 << 30)).contains(bytes), "tape ring outside 0...2^30 bytes")
    var rounded = 4096
    while rounded < bytes { rounded <<= 1 }
    let storage = TapeStorage.allocate(capacity: rounded)
    return TapeEnds(
        writer: TapeWriter(storage: storage, isOn: bytes > 0), reader: TapeReader(storage: storage))
}

/// The two ends of a new ring of frames, on their way to their owners.
struct TapeEnds: ~Copyable, Sendable {
    var writer: TapeWriter
    var reader: TapeReader
}

/// The producer's end: the loop's. What does not fit is dropped and counted; nobody waits.
struct TapeWriter: ~Copyable, @unchecked Sendable {
    private let storage: TapeStorage
    /// Whether somebody wants the frames.
    let isOn: Bool
    /// Bytes written since the start; the atomic of the same name is its published copy.
    private var head: UInt = 0
    /// The consumer's position when last looked at. Never ahead of the truth.
    private var cachedTail: UInt = 0

    fileprivate init(storage: TapeStorage, isOn: Bool) {
        self.storage = storage
        self.isOn = isOn
    }

    deinit { storage.release() }

    /// Appends a frame that holds a value's bytes. Never waits; constant time; producer only.
    ///
    /// - Parameters:
    ///   - kind: What the value is.
    ///   - tick: To which tick it belongs.
    ///   - now: When that began.
    ///   - value: Copied into the ring.
    /// - Returns: Whether there was room.
    mutating func append<Value: BitwiseCopyable>(
        _ kind: TapeKind, tick: UInt64, now: Instant, _ value: Value
    ) -> Bool {
        let size = UInt(MemoryLayout<Value>.size)
        let length = TapeStorage.frameBytes(payload: size)
        let offset = head & storage.mask
        // A frame lies in one piece: what is left before the end is skipped when it is too short.
        let rest = storage.mask &+ 1 &- offset
        let skipped = rest < length ? rest : 0
        guard hasRoom(length &+ skipped) else { return false }
        if skipped > 0 {
            storage.put(TapeHeader(kind: .filler, size: 0, tick: tick, now: now), at: offset)
        }
        let start = skipped > 0 ? 0 : offset
        storage.put(
            TapeHeader(
                kind: kind, size: UInt32(truncatingIfNeeded: size), tick: tick, now: now), at: start
        )
        (storage.slots + Int(bitPattern: start &+ TapeStorage.headerBytes))
            .bindMemory(to: Value.self, capacity: 1).initialize(to: value)
        head &+= length &+ skipped
        storage.head.store(head, ordering: .releasing)
        return true
    }

    /// Whether that many bytes fit now.
    mutating func hasRoom(_ bytes: UInt) -> Bool {
        if head &+ bytes &- cachedTail <= storage.mask &+ 1 { return true }
        cachedTail = storage.tail.load(ordering: .acquiring)
        return head &+ bytes &- cachedTail <= storage.mask &+ 1
    }
}

/// The consumer's end: the recorder's.
@frozen
public struct TapeReader: ~Copyable, @unchecked Sendable {
    @usableFromInline let storage: TapeStorage
    @usableFromInline var tail: UInt = 0

    fileprivate init(storage: TapeStorage) { self.storage = storage }

    deinit { storage.release() }

    /// Takes every frame that waits, oldest first. Never waits; consumer only.
    ///
    /// - Parameter visit: Header and bytes of each; the bytes are valid during the call.
    mutating func drain(_ visit: (TapeHeader, UnsafeRawBufferPointer) -> Void) {
        let head = storage.head.load(ordering: .acquiring)
        while tail != head {
            let offset = tail & storage.mask
            let header = storage.header(at: offset)
            if case .filler = header.kind {
                tail &+= storage.mask &+ 1 &- offset
            } else {
                let size = UInt(header.size)
                let payload = storage.slots + Int(bitPattern: offset &+ TapeStorage.headerBytes)
                visit(
                    header,
                    UnsafeRawBufferPointer(start: payload, count: Int(bitPattern: size)))
                tail &+= TapeStorage.frameBytes(payload: size)
            }
            storage.tail.store(tail, ordering: .releasing)
        }
    }

}

/// What stands before each frame.
struct TapeHeader: BitwiseCopyable, Sendable {
    var kind: TapeKind
    var size: UInt32
    var tick: UInt64
    var now: Instant
}

/// One raw block: the indices on cache lines of their own, then the frames, each on a multiple of
/// `headerBytes`.
@frozen
@usableFromInline
struct TapeStorage: @unchecked Sendable {
    @usableFromInline let block: UnsafeMutableRawPointer
    @usableFromInline let slots: UnsafeMutableRawPointer
    @usableFromInline let mask: UInt

    static var headerBytes: UInt { 32 }

    /// What a frame takes: whole headers, so that what is left before the end always has room for a
    /// filler's.
    static func frameBytes(payload: UInt) -> UInt {
        headerBytes &+ (payload &+ (headerBytes &- 1)) & ~(headerBytes &- 1)
    }

    static func allocate(capacity: Int) -> TapeStorage {
        let header = 3 * cacheLine
        let block = UnsafeMutableRawPointer.allocate(
            byteCount: header + capacity, alignment: cacheLine)
        // Touch every page now: the first lap must not fault.
        block.initializeMemory(as: UInt8.self, repeating: 0, count: header + capacity)
        for line in 0..<3 {
            (block + line * cacheLine)
                .bindMemory(to: UnsafeAtomic<UInt>.Storage.self, capacity: 1)
                .initialize(to: .init(line == 2 ? 2 : 0))
        }
        return TapeStorage(block: block, slots: block + header, mask: UInt(capacity - 1))
    }

    func atomic(line: Int) -> UnsafeAtomic<UInt> {
        UnsafeAtomic(
            at: (block + line * cacheLine).assumingMemoryBound(
                to: UnsafeAtomic<UInt>.Storage.self))
    }

    var head: UnsafeAtomic<UInt> { atomic(line: 0) }
    var tail: UnsafeAtomic<UInt> { atomic(line: 1) }

    func put(_ header: TapeHeader, at offset: UInt) {
        (slots + Int(bitPattern: offset)).bindMemory(to: TapeHeader.self, capacity: 1)
            .initialize(to: header)
    }

    func header(at offset: UInt) -> TapeHeader {
        (slots + Int(bitPattern: offset)).assumingMemoryBound(to: TapeHeader.self).pointee
    }

    /// Called once by each end; the second call frees the block.
    @usableFromInline
    func release() {
        if atomic(line: 2).wrappingDecrementThenLoad(ordering: .acquiringAndReleasing) == 0 {
            block.deallocate()
        }
    }
}
