// expect: this code performs reference counting operations which can cause locking
// A message composed in the tick.

struct Loop {
    var message = ""
}

@_noLocks @_noAllocation
func tick(_ loop: inout Loop) { loop.message = "late by \(loop.message.count)" }
