public import GimbalCore
import Synchronization

/// Who asks for motion. One value for each connection, not for each kind of link.
public struct CommandSource: Hashable, Sendable {
    /// The link that the request came in by.
    public enum Link: String, Sendable, CaseIterable {
        /// The diagnostics socket: somebody stands beside the machine. Pre-empts every other link.
        case diagnostics
        /// The AirOS service over Bluetooth.
        case airos
        /// The RedBearLab service over Bluetooth.
        case rbl
        /// The rider's datagrams.
        case udp
        /// A MAVLink peer.
        case mavlink
    }

    /// The link.
    public let link: Link
    /// Distinguishes the connections of one link.
    public let connection: UInt64

    /// The source with these values.
    public init(link: Link, connection: UInt64) {
        self.link = link
        self.connection = connection
    }
}

/// What a source may ask for. Angles in radians, earth frame, Z-X-Y order; rates in rad/s.
public enum MotionRequest: Sendable {
    /// Change the mode.
    case mode(Mode)
    /// Turn to these angles within `duration` seconds; 0 = as fast as the limits allow. An axis that is NaN keeps where it
    /// is going.
    case point(AxisVector, duration: Double)
    /// Turn at these rates until the next request, or until the source's dead-man expires.
    case rate(AxisVector)
    /// Take control without asking for motion.
    case take
    /// Give control back; a rate command stops.
    case release
    /// Outputs off, latched. Always granted.
    case emergencyStop
    /// End a latched emergency stop. The mode stays inactive.
    case resetEmergencyStop
}

/// Why a request was not carried out. Every case is told to the source that asked.
public enum MotionRefusal: Error, Sendable, Equatable {
    /// Somebody else is in control, and asked for something `age` seconds ago.
    case held(by: CommandSource, age: Double)
    /// A latched emergency stop; reset it first.
    case emergencyStopped
    /// The mode is inactive, nothing would move; ask for a mode first.
    case inactive
    /// A value is not finite or out of its range.
    case outOfRange(field: String, allowed: String)
    /// The loop has not taken earlier commands yet; try again. Never for an emergency stop, unless the loop hangs.
    case busy
    /// The process is ending.
    case shuttingDown
}

/// The one door for motion: decides who is in control and is the only producer of the command ring.
///
/// Links on ordinary threads call it; time is an argument. The dead-man has two halves: a rate command carries its
/// own end into the loop, which stops without anybody's help, and `advance` here gives control back after silence.
public final class Commander: Sendable {
    /// Times and limits.
    public struct Rules: Sendable, Equatable {
        /// A rate command lives this long after it was received, s.
        public var deadManSeconds = 1.0
        /// A holder that is silent this long loses control, s.
        public var releaseAfterSeconds = 10.0

        /// The defaults.
        public init() {}
    }

    /// The door as others see it.
    public struct View: Sendable {
        /// Who is in control, if anybody.
        public var holder: CommandSource?
        /// Seconds since the holder's last request.
        public var age: Double?
        /// The mode last asked for.
        public var mode: Mode
        /// Whether an emergency stop is latched.
        public var isStopped: Bool
        /// Requests refused since the start.
        public var refusals: UInt64
    }

    private struct State: ~Copyable {
        var rules: Rules
        var ring: RingWriter<Command>
        var mode: Mode
        var holder: CommandSource?
        var lastRequest = Instant(nanoseconds: 0)
        var isTurning = false
        var isStopped = false
        var isShuttingDown = false
        var refusals: UInt64 = 0
    }

    private let state: Mutex<State>

    /// A door that nobody holds.
    ///
    /// - Parameters:
    ///   - ring: The producing end of the command ring; nobody else may have it.
    ///   - bootMode: The mode that the stabilizer starts in.
    ///   - rules: Times and limits.
    public init(ring: consuming RingWriter<Command>, bootMode: Mode, rules: Rules) {
        state = Mutex(State(rules: rules, ring: ring, mode: bootMode))
    }

    /// Changes times and limits; the next request obeys them.
    public func apply(_ rules: Rules) {
        state.withLock { $0.rules = rules }
    }

    /// The door as it stands at `now`.
    public func view(now: Instant) -> View {
        state.withLock { state in
            View(
                holder: state.holder,
                age: state.holder == nil ? nil : now.seconds(since: state.lastRequest),
                mode: state.mode, isStopped: state.isStopped, refusals: state.refusals)
        }
    }

    /// Asks for motion. When it returns, the request is in force from the loop's next tick on.
    ///
    /// - Parameters:
    ///   - request: What is wanted.
    ///   - source: Who wants it.
    ///   - now: When it was received, on the loop's clock.
    /// - Throws: Why it was refused; then nothing has changed.
    public func request(
        _ request: MotionRequest, from source: CommandSource, now: Instant
    ) throws(MotionRefusal) {
        let refusal: MotionRefusal? = state.withLock { state in
            let refusal = Self.carryOut(request, from: source, now: now, &state)
            if refusal != nil { state.refusals &+= 1 }
            return refusal
        }
        if let refusal { throw refusal }
    }

    /// The source's connection is gone: if it was in control, its rates stop at once.
    public func disconnected(_ source: CommandSource, now: Instant) {
        state.withLock { state in
            guard state.holder == source else { return }
            Self.release(&state, now: now)
        }
    }

    /// Gives control back after silence. Call at least every 0.1 s.
    public func advance(now: Instant) {
        state.withLock { state in
            guard state.holder != nil,
                now.seconds(since: state.lastRequest) > state.rules.releaseAfterSeconds
            else { return }
            Self.release(&state, now: now)
        }
    }

    /// Begins afresh, as after a start: nobody in control, the boot mode. A latched emergency stop stays latched.
    ///
    /// - Parameters:
    ///   - bootMode: The mode that the stabilizer starts in.
    ///   - restartLoop: Makes the loop start afresh and forget what it was asked for; no request comes between. Must not
    ///     call back.
    public func restart(bootMode: Mode, restartLoop: () -> Void) {
        state.withLock { state in
            restartLoop()
            state.holder = nil
            state.isTurning = false
            state.mode = state.isStopped ? .inactive : bootMode
            if state.isStopped { _ = state.ring.push(.emergencyStop) }
            if state.isShuttingDown { _ = state.ring.push(.shutdown) }
        }
    }

    /// The process is ending: outputs off for good; nothing is accepted any more.
    public func shutDown() {
        state.withLock { state in
            state.isShuttingDown = true
            _ = state.ring.push(.shutdown)
        }
    }

    /// Places in the ring that requests leave free for what must get through whoever floods the door: an emergency stop,
    /// the standstill of a release, the shutdown.
    private static let reserve = 3

    private static func carryOut(
        _ request: MotionRequest, from source: CommandSource, now: Instant, _ state: inout State
    ) -> MotionRefusal? {
        if state.isShuttingDown { return .shuttingDown }
        if case .emergencyStop = request {
            // One that is latched, or on its way, need not be sent again: repeating it cannot use up the reserve.
            guard state.isStopped || state.ring.push(.emergencyStop) else { return .busy }
            state.isStopped = true
            state.mode = .inactive
            state.isTurning = false
            return nil
        }
        if let refusal = admit(source, now: now, state) { return refusal }
        if let refusal = check(request, state) { return refusal }
        if case .release = request {
            if state.holder == source { release(&state, now: now) }
            return nil
        }
        if let command = command(for: request, now: now, state.rules) {
            guard state.ring.room > reserve, state.ring.push(command) else { return .busy }
        }
        state.holder = source
        state.lastRequest = now
        switch request {
        case .mode(let mode): state.mode = mode
        case .rate(let rate): state.isTurning = rate != .zero
        case .point: state.isTurning = false
        case .resetEmergencyStop: state.isStopped = false
        case .take, .release, .emergencyStop: break
        }
        return nil
    }

    /// Whether the source may speak: nobody is in control, it is itself, or it pre-empts.
    private static func admit(
        _ source: CommandSource, now: Instant, _ state: borrowing State
    ) -> MotionRefusal? {
        guard let holder = state.holder, holder != source else { return nil }
        let age = now.seconds(since: state.lastRequest)
        if source.link == .diagnostics || age > state.rules.releaseAfterSeconds { return nil }
        return .held(by: holder, age: age)
    }

    private static func check(
        _ request: MotionRequest, _ state: borrowing State
    ) -> MotionRefusal? {
        switch request {
        case .mode:
            return state.isStopped ? .emergencyStopped : nil
        case .point(let angles, let duration):
            if let refusal = blocked(state) { return refusal }
            guard
                [angles.yaw, angles.roll, angles.pitch].allSatisfy({ $0.isNaN || abs($0) <= .pi })
            else {
                return .outOfRange(field: "angle", allowed: "-180...180 degrees")
            }
            guard duration >= 0, duration <= 3600 else {
                return .outOfRange(field: "duration", allowed: "0...3600 seconds")
            }
            return nil
        case .rate(let rate):
            if let refusal = blocked(state) { return refusal }
            guard rate.isFinite, rate.clamped(to: AxisVector(repeating: 4 * .pi)) == rate else {
                return .outOfRange(field: "rate", allowed: "-720...720 degrees per second")
            }
            return nil
        case .take, .release, .emergencyStop, .resetEmergencyStop:
            return nil
        }
    }

    private static func blocked(_ state: borrowing State) -> MotionRefusal? {
        if state.isStopped { return .emergencyStopped }
        return state.mode == .inactive ? .inactive : nil
    }

    private static func command(
        for request: MotionRequest, now: Instant, _ rules: Rules
    ) -> Command? {
        switch request {
        case .mode(let mode): .mode(mode)
        case .point(let angles, let duration): .point(target: angles, duration: duration)
        case .rate(let rate):
            .rate(rate, validUntil: now.advanced(bySeconds: rules.deadManSeconds))
        case .emergencyStop: .emergencyStop
        case .resetEmergencyStop: .resetEmergencyStop
        case .take, .release: nil
        }
    }

    /// Nobody is in control any more; what was turning stands still.
    private static func release(_ state: inout State, now: Instant) {
        if state.isTurning { _ = state.ring.push(.rate(.zero, validUntil: now)) }
        state.isTurning = false
        state.holder = nil
    }
}
