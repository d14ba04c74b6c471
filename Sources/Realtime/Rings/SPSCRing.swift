public import Atomics

/// Creates a lock-free queue for one producer and one consumer.
///
/// - Parameters:
///   - element: Type of the elements.
///   - capacity: Minimum capacity, elements; rounded up to a power of two, 1...2^30.
/// - Returns: The two ends. The two ends can move to different threads; the memory is freed when
///   both ends have been destroyed.
public func makeRing<Element: BitwiseCopyable & Sendable>(
    of element: Element.Type = Element.self, capacity: Int
) -> RingEnds<Element> {
    precondition((1...(1 << 30)).contains(capacity), "the capacity of the ring is outside 1...2^30")
    var rounded = 1
    while rounded < capacity { rounded <<= 1 }
    let storage = RingStorage<Element>.allocate(capacity: rounded)
    return RingEnds(writer: RingWriter(storage: storage), reader: RingReader(storage: storage))
}

/// The two ends of a new ring, to be passed to their owners.
@frozen
public struct RingEnds<Element: BitwiseCopyable & Sendable>: ~Copyable, Sendable {
    /// The producer's end.
    public var writer: RingWriter<Element>
    /// The consumer's end.
    public var reader: RingReader<Element>

    @usableFromInline
    init(writer: consuming RingWriter<Element>, reader: consuming RingReader<Element>) {
        self.writer = writer
        self.reader = reader
    }
}

/// The producer's end of a ring. A producer cannot be copied, so a second producer does not
/// compile.
@frozen
public struct RingWriter<Element: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let storage: RingStorage<Element>
    /// Index of the next element to write; the shared atomic variable contains a copy for the
    /// consumer.
    @usableFromInline var head: UInt = 0
    /// Consumer's position when the producer last read it. The consumer's true position is at or
    /// after the last read position. Therefore the ring has at least as much room as the producer
    /// assumes.
    @usableFromInline var cachedTail: UInt = 0
    @usableFromInline var droppedCount: UInt = 0

    @usableFromInline
    init(storage: RingStorage<Element>) { self.storage = storage }

    deinit { storage.release() }

    /// Appends an element. If the ring is full, the element is dropped and counted. The method
    /// never waits, and takes constant time. Only the producer calls this method.
    ///
    /// - Parameter element: Value that is copied into the ring.
    /// - Returns: True if the ring had room for the element.
    @inlinable
    @discardableResult
    public mutating func push(_ element: Element) -> Bool {
        if head &- cachedTail > storage.mask {
            cachedTail = storage.tail.load(ordering: .acquiring)
            if head &- cachedTail > storage.mask {
                droppedCount &+= 1
                storage.dropped.store(droppedCount, ordering: .relaxed)
                return false
            }
        }
        (storage.slots + Int(bitPattern: head & storage.mask)).initialize(to: element)
        head &+= 1
        storage.head.store(head, ordering: .releasing)
        return true
    }

    /// Number of elements dropped since the start because the ring was full.
    @inlinable
    public var dropped: UInt { droppedCount }

    /// Number of free slots; the consumer can increase this number at any time.
    @inlinable
    public var room: Int {
        capacity - Int(bitPattern: head &- storage.tail.load(ordering: .acquiring))
    }

    /// Capacity of the ring, elements.
    @inlinable
    public var capacity: Int { Int(bitPattern: storage.mask &+ 1) }
}

/// The consumer's end of a ring. A consumer cannot be copied, so there is only one consumer.
@frozen
public struct RingReader<Element: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let storage: RingStorage<Element>
    /// Index of the next element to read; the shared atomic variable contains a copy for the
    /// producer.
    @usableFromInline var tail: UInt = 0
    /// Producer's position when the consumer last read it. The producer's true position is at or
    /// after the last read position. Therefore the ring contains at least as many elements as the
    /// consumer assumes.
    @usableFromInline var cachedHead: UInt = 0

    @usableFromInline
    init(storage: RingStorage<Element>) { self.storage = storage }

    deinit { storage.release() }

    /// Removes and returns the oldest element. The method never waits, and takes constant time.
    /// Only the consumer calls this method.
    ///
    /// - Returns: The element, or nil if the ring is empty.
    @inlinable
    public mutating func pop() -> Element? {
        if tail == cachedHead {
            cachedHead = storage.head.load(ordering: .acquiring)
            if tail == cachedHead { return nil }
        }
        let element = (storage.slots + Int(bitPattern: tail & storage.mask)).pointee
        tail &+= 1
        storage.tail.store(tail, ordering: .releasing)
        return element
    }

    /// Number of waiting elements now; the producer can increase this number at any time.
    @inlinable
    public var count: Int {
        Int(bitPattern: storage.head.load(ordering: .acquiring) &- tail)
    }

    /// Number of elements that the producer has dropped since the start. The number can lag behind
    /// the producer's own count.
    @inlinable
    public var dropped: UInt { storage.dropped.load(ordering: .relaxed) }

    /// Capacity of the ring, elements.
    @inlinable
    public var capacity: Int { Int(bitPattern: storage.mask &+ 1) }
}

/// Memory of a ring in one raw block: the indices on separate cache lines, then the elements.
///
/// The lines are 128 bytes apart, because the adjacent-line prefetcher of many cores moves pairs of
/// 64-byte lines. Each end stores its own index and a copy of the other end's index. Therefore most
/// calls do not access the cache lines of the other end.
@frozen
@usableFromInline
struct RingStorage<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    @usableFromInline let block: UnsafeMutableRawPointer
    @usableFromInline let slots: UnsafeMutablePointer<Element>
    @usableFromInline let mask: UInt

    static func allocate(capacity: Int) -> RingStorage {
        let header = 4 * cacheLine
        let bytes = header + capacity * MemoryLayout<Element>.stride
        let alignment = max(cacheLine, MemoryLayout<Element>.alignment)
        let block = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: alignment)
        // Every page is touched now, so that the first use of the ring causes no page faults.
        block.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
        let slots = (block + header).bindMemory(to: Element.self, capacity: capacity)
        let storage = RingStorage(block: block, slots: slots, mask: UInt(capacity - 1))
        for line in 0..<4 {
            (block + line * cacheLine)
                .bindMemory(to: UnsafeAtomic<UInt>.Storage.self, capacity: 1)
                .initialize(to: .init(line == 3 ? 2 : 0))
        }
        return storage
    }

    @inlinable
    func atomic(line: Int) -> UnsafeAtomic<UInt> {
        UnsafeAtomic(
            at: (block + line * cacheLine).assumingMemoryBound(
                to: UnsafeAtomic<UInt>.Storage.self))
    }

    @inlinable var head: UnsafeAtomic<UInt> { atomic(line: 0) }
    @inlinable var tail: UnsafeAtomic<UInt> { atomic(line: 1) }
    @inlinable var dropped: UnsafeAtomic<UInt> { atomic(line: 2) }
    @inlinable var endsAlive: UnsafeAtomic<UInt> { atomic(line: 3) }

    /// Each end calls this method once, when it is destroyed; the second call frees the block.
    @usableFromInline
    func release() {
        if endsAlive.wrappingDecrementThenLoad(ordering: .acquiringAndReleasing) == 0 {
            block.deallocate()
        }
    }
}

/// Distance between data that different threads write, bytes.
@inlinable var cacheLine: Int { 128 }
