// expect: called function is not available in this module and can have unpredictable performance
// A tick that calls the C library without a shim that is declared free of locks and allocation.

import Glibc

@_noLocks @_noAllocation
func tick(_ seconds: inout Double) { usleep(10) }
