import GimbalCore

/// The only entry point of the checked code: the compiler rejects allocation, locks, existentials
/// and reference counting in this function and in everything that it calls, in debug and release
/// builds. The attributes are not an official part of Swift and are therefore used in few places. A
/// test proves that this check is active, and a counting malloc also verifies the result.
@_noLocks @_noAllocation
func runTick(_ loop: inout ControlLoop, now: Instant) { loop.tick(now: now) }
