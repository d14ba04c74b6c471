internal import GimbalCore

/// One step of bringing a chip up.
enum SetUpStep: Sendable {
    /// Writes a register.
    case write(UInt8, to: UInt8, part: Int)
    /// Reads a register, which must have `value` in the bits of `mask`; otherwise the chip is what the words say.
    case expect(UInt8, mask: UInt8, in: UInt8, part: Int, otherwise: StaticString)
    /// Waits, s.
    case pause(Double)
    /// Keeps the three 16-bit numbers from a register on, the lower byte first, for a later `require`.
    case keep(slot: Int, register: UInt8, part: Int)
    /// Looks at what was kept in both slots: the first less the second must be at least `least` on each axis.
    case require(difference: (x: Int, y: Int, z: Int), otherwise: StaticString)
}

/// Why a chip did not come up.
enum SetUpFailure: Error {
    /// The bus did not carry a transfer.
    case bus(BusErrno, part: Int)
    /// The chip answered, but not as it should.
    case chip(StaticString)
}

/// Carries out the steps over several periods of the bus, so that the motors on the same bus are served meanwhile.
struct SetUpRun {
    private let steps: [SetUpStep]
    private var next = 0
    private var notBefore = Instant(nanoseconds: .min)
    private var kept: (Triple, Triple) = ((0, 0, 0), (0, 0, 0))

    private typealias Triple = (x: Int, y: Int, z: Int)

    /// How many transfers one period is given.
    private static let transfersPerPeriod = 2

    /// A run before its first step.
    init(_ steps: [SetUpStep]) { self.steps = steps }

    /// Whether all steps are done.
    var isDone: Bool { next == steps.count }

    /// Does what fits into this period.
    ///
    /// - Throws: Why the chip cannot be used; the run is to begin again.
    mutating func advance(_ link: any ChipLink, now: Instant) throws(SetUpFailure) {
        guard now >= notBefore else { return }
        for _ in 0..<Self.transfersPerPeriod where next < steps.count {
            let step = steps[next]
            next += 1
            if case .pause(let seconds) = step {
                notBefore = now.advanced(bySeconds: seconds)
                return
            }
            try carryOut(step, link)
        }
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
            let found = UInt8(truncatingIfNeeded: try read(register, 1, part, link))
            guard found & mask == value & mask else { throw .chip(words) }
        case .keep(let slot, let register, let part):
            let word = try read(register, 6, part, link)
            let triple = (axis(word, 0), axis(word, 1), axis(word, 2))
            if slot == 0 { kept.0 = triple } else { kept.1 = triple }
        case .require(let least, let words):
            guard kept.0.x - kept.1.x >= least.x, kept.0.y - kept.1.y >= least.y,
                kept.0.z - kept.1.z >= least.z
            else { throw .chip(words) }
        }
    }

    private func read(
        _ register: UInt8, _ count: Int, _ part: Int, _ link: any ChipLink
    ) throws(SetUpFailure) -> UInt64 {
        do {
            return try link.read(register, count: count, part: part)
        } catch {
            throw .bus(error, part: part)
        }
    }

    private func axis(_ word: UInt64, _ index: UInt64) -> Int {
        Int(Int16(truncatingIfNeeded: word >> (16 * index)))
    }
}
