/// Affected axes of each condition that concerns a motor, a joint or a camera axis.
public struct ConditionAxes: Sendable, BitwiseCopyable {
    /// Axes on which the condition `motorSaturated` holds.
    public var saturated = AxisSet.none
    /// Axes on which the condition `motorHot` holds.
    public var hot = AxisSet.none
    /// Axes on which the condition `motorStalled` holds.
    public var stalled = AxisSet.none
    /// Axes on which the condition `motorSlipped` holds.
    public var slipped = AxisSet.none
    /// Axes on which the condition `jointLimit` holds.
    public var atLimit = AxisSet.none
    /// Axes on which the condition `jointsOutOfReach` holds.
    public var outOfReach = AxisSet.none
    /// Axes on which the condition `responseReversed` holds, until the fault is reset.
    public var reversed = AxisSet.none
    /// Camera axes on which the condition `loopOscillating` holds.
    public var oscillating = AxisSet.none
    /// Camera axes on which the condition `inertiaNotFound` holds.
    public var abandoned = AxisSet.none
    /// Camera axes on which the condition `tuningStale` holds.
    public var stale = AxisSet.none
    /// Joints on which the condition `cameraPushed` holds.
    public var pushed = AxisSet.none

    /// Creates empty sets: no condition holds on any axis.
    @_noLocks
    public init() {}

    /// The conditions that hold on at least one axis.
    var conditions: Conditions {
        @_noLocks get {
            var result = Conditions.none
            if !saturated.isEmpty { result.insert(.motorSaturated) }
            if !hot.isEmpty { result.insert(.motorHot) }
            if !stalled.isEmpty { result.insert(.motorStalled) }
            if !slipped.isEmpty { result.insert(.motorSlipped) }
            if !atLimit.isEmpty { result.insert(.jointLimit) }
            if !outOfReach.isEmpty { result.insert(.jointsOutOfReach) }
            if !reversed.isEmpty { result.insert(.responseReversed) }
            if !oscillating.isEmpty { result.insert(.loopOscillating) }
            if !abandoned.isEmpty { result.insert(.inertiaNotFound) }
            if !stale.isEmpty { result.insert(.tuningStale) }
            if !pushed.isEmpty { result.insert(.cameraPushed) }
            return result
        }
    }

    /// The affected axes of one condition; empty if the condition does not concern single axes.
    public subscript(condition: Conditions) -> AxisSet {
        switch condition {
        case .motorSaturated: saturated
        case .motorHot: hot
        case .motorStalled: stalled
        case .motorSlipped: slipped
        case .jointLimit: atLimit
        case .jointsOutOfReach: outOfReach
        case .responseReversed: reversed
        case .loopOscillating: oscillating
        case .inertiaNotFound: abandoned
        case .tuningStale: stale
        case .cameraPushed: pushed
        default: .none
        }
    }
}
