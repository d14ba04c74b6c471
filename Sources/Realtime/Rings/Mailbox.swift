public import Atomics

/// Creates a mailbox for one writer and one reader. A mailbox keeps only the newest value (a triple
/// buffer). A new value replaces an unread value. The reader always gets a complete value, and
/// neither end ever waits.
///
/// - Parameter initial: Result of `read()` until a value is published.
/// - Returns: The two ends. The two ends can move to different threads; the memory is freed when
///   both ends have been destroyed.
public func makeMailbox<Value: BitwiseCopyable & Sendable>(
    initial: Value
) -> MailboxEnds<Value> {
    let storage = MailboxStorage<Value>.allocate(initial: initial)
    return MailboxEnds(
        writer: MailboxWriter(storage: storage), reader: MailboxReader(storage: storage))
}

/// The two ends of a new mailbox, to be passed to their owners.
@frozen
public struct MailboxEnds<Value: BitwiseCopyable & Sendable>: ~Copyable, Sendable {
    /// The writer's end.
    public var writer: MailboxWriter<Value>
    /// The reader's end.
    public var reader: MailboxReader<Value>

    @usableFromInline
    init(writer: consuming MailboxWriter<Value>, reader: consuming MailboxReader<Value>) {
        self.writer = writer
        self.reader = reader
    }
}

/// The writer's end of a mailbox; it cannot be copied.
@frozen
public struct MailboxWriter<Value: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let storage: MailboxStorage<Value>
    /// Index of the slot that belongs to the writer at present.
    @usableFromInline var slot: UInt8 = 0
    @usableFromInline var sequence: UInt64 = 0

    @usableFromInline
    init(storage: MailboxStorage<Value>) { self.storage = storage }

    deinit { storage.release() }

    /// Publishes `value` as the newest value. The method never waits, and takes constant time. Only
    /// the writer calls this method.
    ///
    /// - Parameter value: Value that is copied into the mailbox.
    @inlinable
    public mutating func publish(_ value: Value) {
        sequence &+= 1
        storage.slot(slot).initialize(to: MailboxSlot(value: value, sequence: sequence))
        let swapped = storage.middle.exchange(
            slot | freshFlag, ordering: .acquiringAndReleasing)
        slot = swapped & slotMask
    }
}

/// The reader's end of a mailbox; it cannot be copied.
@frozen
public struct MailboxReader<Value: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let storage: MailboxStorage<Value>
    /// Index of the slot that belongs to the reader at present.
    @usableFromInline var slot: UInt8 = 2

    @usableFromInline
    init(storage: MailboxStorage<Value>) { self.storage = storage }

    deinit { storage.release() }

    /// Reads the newest value. The method never waits, and takes constant time. Only the reader
    /// calls this method.
    ///
    /// - Returns: The value with its number, and a flag that is true at the first read of the
    ///   value. The initial value has the number 0, the n-th published value the number n.
    @inlinable
    public mutating func read() -> MailboxReading<Value> {
        let isNew = storage.middle.load(ordering: .relaxed) & freshFlag != 0
        if isNew {
            slot = storage.middle.exchange(slot, ordering: .acquiringAndReleasing) & slotMask
        }
        let content = storage.slot(slot).pointee
        return MailboxReading(value: content.value, sequence: content.sequence, isNew: isNew)
    }

    /// True if the mailbox contains a value that `read()` has not returned yet.
    @inlinable
    public var hasNew: Bool { storage.middle.load(ordering: .relaxed) & freshFlag != 0 }
}

/// Content of a mailbox when it was read.
@frozen
public struct MailboxReading<Value: BitwiseCopyable & Sendable>: BitwiseCopyable, Sendable {
    /// The newest value.
    public var value: Value
    /// Number of values published up to and including this value.
    public var sequence: UInt64
    /// True if this reader reads the value for the first time.
    public var isNew: Bool

    @usableFromInline
    init(value: Value, sequence: UInt64, isNew: Bool) {
        self.value = value
        self.sequence = sequence
        self.isNew = isNew
    }
}

/// A value with its number.
@frozen
@usableFromInline
struct MailboxSlot<Value: BitwiseCopyable & Sendable>: BitwiseCopyable, Sendable {
    @usableFromInline var value: Value
    @usableFromInline var sequence: UInt64

    @usableFromInline
    init(value: Value, sequence: UInt64) {
        self.value = value
        self.sequence = sequence
    }
}

/// Memory of the mailbox: three slots, each on separate cache lines. At any time, one slot belongs
/// to the writer and one to the reader. The index of the third slot ("middle") is exchanged
/// atomically; a flag marks it as newer than the reader's slot.
@frozen
@usableFromInline
struct MailboxStorage<Value: BitwiseCopyable & Sendable>: @unchecked Sendable {
    @usableFromInline let block: UnsafeMutableRawPointer

    @inlinable
    static var slotStride: Int {
        (MemoryLayout<MailboxSlot<Value>>.size + cacheLine - 1) / cacheLine * cacheLine
    }

    static func allocate(initial: Value) -> MailboxStorage {
        let block = UnsafeMutableRawPointer.allocate(
            byteCount: 2 * cacheLine + 3 * slotStride, alignment: cacheLine)
        block.bindMemory(to: UnsafeAtomic<UInt8>.Storage.self, capacity: 1)
            .initialize(to: .init(1))
        (block + cacheLine).bindMemory(to: UnsafeAtomic<UInt8>.Storage.self, capacity: 1)
            .initialize(to: .init(2))
        let storage = MailboxStorage(block: block)
        for index: UInt8 in 0..<3 {
            (block + 2 * cacheLine + Int(index) * slotStride)
                .bindMemory(to: MailboxSlot<Value>.self, capacity: 1)
                .initialize(to: MailboxSlot(value: initial, sequence: 0))
        }
        return storage
    }

    @inlinable
    func slot(_ index: UInt8) -> UnsafeMutablePointer<MailboxSlot<Value>> {
        (block + 2 * cacheLine + Int(index) * Self.slotStride)
            .assumingMemoryBound(to: MailboxSlot<Value>.self)
    }

    @inlinable
    var middle: UnsafeAtomic<UInt8> {
        UnsafeAtomic(at: block.assumingMemoryBound(to: UnsafeAtomic<UInt8>.Storage.self))
    }

    /// Each end calls this method once, when it is destroyed; the second call frees the block.
    @usableFromInline
    func release() {
        let endsAlive = UnsafeAtomic<UInt8>(
            at: (block + cacheLine).assumingMemoryBound(to: UnsafeAtomic<UInt8>.Storage.self))
        if endsAlive.wrappingDecrementThenLoad(ordering: .acquiringAndReleasing) == 0 {
            block.deallocate()
        }
    }
}

/// Flag that marks the middle slot as newer than the reader's slot.
@inlinable var freshFlag: UInt8 { 4 }
/// Mask of a slot's index.
@inlinable var slotMask: UInt8 { 3 }
