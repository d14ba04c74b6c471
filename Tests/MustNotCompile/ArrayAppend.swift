// expect: this code performs reference counting operations which can cause locking
// An array that grows.

struct Loop {
    var history: [Double] = []
}

@_noLocks @_noAllocation
func tick(_ loop: inout Loop) { loop.history.append(1) }
