// expect: this code performs reference counting operations which can cause locking
// A tick that appends to an array.

struct Loop {
    var history: [Double] = []
}

@_noLocks @_noAllocation
func tick(_ loop: inout Loop) { loop.history.append(1) }
