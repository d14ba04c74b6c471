// expect: called function is not available in this module and can have unpredictable performance
// The C library without the promise of a shim.

import Glibc

@_noLocks @_noAllocation
func tick(_ seconds: inout Double) { usleep(10) }
