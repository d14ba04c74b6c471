// expect: called function is not available in this module and can have unpredictable performance
// A tick that locks a mutex around shared state.

import Synchronization

struct Loop: ~Copyable {
    let shared = Mutex(0)
}

@_noLocks @_noAllocation
func tick(_ loop: inout Loop) { loop.shared.withLock { $0 += 1 } }
