import GimbalCore

/// Entry point of the real-time code. In this function and in all functions that it calls, the
/// compiler rejects allocation, locks, existentials and reference counting, in debug and release
/// builds. The attributes `@_noLocks` and `@_noAllocation` are not an official part of Swift.
/// Therefore the attributes are used only in few places. A test shows that the compiler's check is
/// active, and a counting malloc verifies the result.
@_noLocks @_noAllocation
func runTick(_ loop: inout ControlLoop, now: Instant) { loop.tick(now: now) }
