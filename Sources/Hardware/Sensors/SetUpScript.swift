internal import GimbalCore

/// One step of a chip's set-up.
enum SetUpStep: Sendable {
    /// Writes a register.
    case write(UInt8, to: UInt8, part: Int)
    /// Reads a register, and compares the bits of `mask` with the given value. If the bits differ,
    /// the set-up fails with the given text.
    case expect(UInt8, mask: UInt8, in: UInt8, part: Int, otherwise: StaticString)
    /// Reads a register that identifies a part without which the sensor works. If the register has
    /// another value, the set-up fails with the given text; after several such failures, the set-up
    /// omits the part, and continues after the next `steps` steps.
    case find(UInt8, in: UInt8, part: Int, steps: Int, otherwise: StaticString)
    /// Waits for the given time, s.
    case pause(Double)
    /// Reads up to eight consecutive registers, and stores them in a slot for a later step
    /// `require` or for the chip's driver.
    case keep(slot: Int, RegisterRead)
    /// Checks stored values. If the function returns false, the set-up fails with the given text.
    case require(@Sendable (StoredRegisters) -> Bool, otherwise: StaticString)

    /// Joins sequences of steps into one sequence. This function replaces `+`, because the type
    /// checker of Swift 6.2 needs minutes for literals joined with `+`.
    static func sequence(_ parts: [SetUpStep]...) -> [SetUpStep] { Array(parts.joined()) }

    /// Steps `find` for the last registers of a part without which the sensor works. If one register
    /// has another value in several set-ups, the set-up continues after these steps.
    static func findAll(
        _ registers: [(value: UInt8, register: UInt8)], part: Int, otherwise words: StaticString
    ) -> [SetUpStep] {
        registers.enumerated().map { index, expected in
            .find(
                expected.value, in: expected.register, part: part,
                steps: registers.count - 1 - index, otherwise: words)
        }
    }
}

/// Values that a set-up has read and stored: eight slots, each with up to eight registers.
struct StoredRegisters: Sendable {
    private var words = InlineArray<8, UInt64>(repeating: 0)

    /// Creates empty slots.
    init() {}

    /// The registers of a slot; the first register is in the lowest byte.
    subscript(slot: Int) -> UInt64 {
        get { words[slot] }
        set { words[slot] = newValue }
    }

    /// Value of one register of the given slot.
    func byte(_ slot: Int, _ index: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: words[slot] >> (8 * UInt64(index)))
    }

    /// The little-endian signed 16-bit number at an index.
    func littleEndian(_ slot: Int, _ index: Int) -> Double {
        Double(Int16(truncatingIfNeeded: words[slot] >> (8 * UInt64(index))))
    }

    /// The big-endian signed 16-bit number at an index.
    func bigEndian(_ slot: Int, _ index: Int) -> Double {
        Double(Int16(truncatingIfNeeded: words[slot] >> (8 * UInt64(index))).byteSwapped)
    }
}

/// Reason why a chip could not be set up.
enum SetUpFailure: Error {
    /// A transfer on the bus failed.
    case bus(BusErrno, part: Int)
    /// The chip's reply was wrong; the text describes the reply.
    case chip(StaticString)
}

/// Execution of a chip's set-up over several periods. In each period, the bus thread can also
/// service motors on the same bus.
struct SetUpRun {
    private let steps: [SetUpStep]
    private var next = 0
    private var notBefore = Instant(nanoseconds: .min)
    /// Register values that the set-up has stored so far.
    private(set) var kept = StoredRegisters()

    /// True if the set-up has omitted a part that did not answer with the expected values.
    private(set) var hasOmittedPart = false
    /// Number of set-ups in which the part did not answer with the expected values, since the last
    /// complete set-up with this part.
    private var absences = 0

    /// Number of set-ups without the expected answers after which the part is omitted. A part that
    /// is only late answers in the second set-up.
    private static let mostAbsences = 3
    /// Largest number of transfers that the execution makes in one period.
    private static let transfersPerPeriod = 2

    /// Creates the execution of a chip's set-up; no step has been executed yet.
    init(_ steps: [SetUpStep]) { self.steps = steps }

    /// True if all steps of the set-up have been executed.
    var isDone: Bool { next == steps.count }

    /// Restarts the set-up with its first step.
    mutating func restart() {
        next = 0
        notBefore = Instant(nanoseconds: .min)
        hasOmittedPart = false
    }

    /// Executes the steps of the set-up that are due in this period.
    ///
    /// - Throws: Reason why the chip cannot be used; the execution must then restart. After a
    ///   failed transfer, `advance` can also be called again; it then repeats the transfer.
    mutating func advance(_ link: any ChipLink, now: Instant) throws(SetUpFailure) {
        guard now >= notBefore else { return }
        for _ in 0..<Self.transfersPerPeriod where next < steps.count {
            let step = steps[next]
            next += 1
            if case .pause(let seconds) = step {
                notBefore = now.advanced(bySeconds: seconds)
                return
            }
            do {
                try carryOut(step, link)
            } catch {
                next -= 1
                throw error
            }
        }
        if isDone, !hasOmittedPart { absences = 0 }
    }

    private mutating func carryOut(
        _ step: SetUpStep, _ link: any ChipLink
    ) throws(SetUpFailure) {
        switch step {
        case .pause: break
        case .write(let value, let register, let part):
            do {
                try link.write(value, to: register, part: part)
            } catch {
                throw .bus(error, part: part)
            }
        case .expect(let value, let mask, let register, let part, let words):
            let found = UInt8(
                truncatingIfNeeded: try read(
                    RegisterRead(part: part, register: register, count: 1), link))
            guard found & mask == value & mask else { throw .chip(words) }
        case .find(let value, let register, let part, let steps, let words):
            let found = UInt8(
                truncatingIfNeeded: try read(
                    RegisterRead(part: part, register: register, count: 1), link))
            guard found != value else { return }
            absences = min(absences + 1, Self.mostAbsences)
            guard absences == Self.mostAbsences else { throw .chip(words) }
            hasOmittedPart = true
            next += steps
        case .keep(let slot, let registers):
            kept[slot] = try read(registers, link)
        case .require(let holds, let words):
            guard holds(kept) else { throw .chip(words) }
        }
    }

    private func read(
        _ registers: RegisterRead, _ link: any ChipLink
    ) throws(SetUpFailure) -> UInt64 {
        do {
            return try link.read(registers.register, count: registers.count, part: registers.part)
        } catch {
            throw .bus(error, part: registers.part)
        }
    }
}
