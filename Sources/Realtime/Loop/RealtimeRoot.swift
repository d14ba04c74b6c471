import GimbalCore

/// The only root of checked code: from here on the compiler refuses allocation, locks, existentials
/// and reference counting in the whole call tree, in debug and release. The attributes are
/// unofficial, therefore they stand in few places; a test proves that this one is alive, and a
/// counting malloc checks the same independently.
@_noLocks @_noAllocation
func runTick(_ loop: inout ControlLoop, now: Instant) { loop.tick(now: now) }
