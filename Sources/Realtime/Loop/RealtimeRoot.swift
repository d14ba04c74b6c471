import GimbalCore

/// The only root of checked code: from here on the compiler rejects allocation, locks, existentials
/// and reference counting in the whole call tree, in debug and release. The attributes are
/// unofficial and therefore used in few places. A test proves that this check is active, and a
/// counting malloc verifies the result independently.
@_noLocks @_noAllocation
func runTick(_ loop: inout ControlLoop, now: Instant) { loop.tick(now: now) }
