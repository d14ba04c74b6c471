// expect: Using type 'Note' can cause metadata allocation or locks
// A tick that creates an object in a function three calls down.

final class Note {
    var text = 0
}

struct Loop {
    var last = 0
    mutating func step() { deeper() }
    mutating func deeper() { last = Note().text }
}

@_noLocks @_noAllocation
func tick(_ loop: inout Loop) { loop.step() }
