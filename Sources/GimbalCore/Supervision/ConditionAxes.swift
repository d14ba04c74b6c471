/// On which axes the conditions hold that belong to a motor or a joint. Empty where a condition
/// does not hold.
public struct ConditionAxes: Sendable, BitwiseCopyable {
    /// Of `motorSaturated`.
    public var saturated = AxisSet.none
    /// Of `motorHot`.
    public var hot = AxisSet.none
    /// Of `motorStalled`.
    public var stalled = AxisSet.none
    /// Of `motorSlipped`.
    public var slipped = AxisSet.none
    /// Of `jointLimit`.
    public var atLimit = AxisSet.none
    /// Of `jointsOutOfReach`.
    public var outOfReach = AxisSet.none
    /// Of `responseReversed`, until it is reset.
    public var reversed = AxisSet.none
    /// Of `loopOscillating`, the camera's axes.
    public var oscillating = AxisSet.none
    /// Of `inertiaNotFound`, the camera's axes.
    public var abandoned = AxisSet.none
    /// Of `tuningStale`, the camera's axes.
    public var stale = AxisSet.none

    /// Nothing holds.
    @_noLocks
    public init() {}

    /// Everything about motors and joints that holds on some axis.
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
            return result
        }
    }

    /// The axes of one condition; none where it belongs to no axis.
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
        default: .none
        }
    }
}
