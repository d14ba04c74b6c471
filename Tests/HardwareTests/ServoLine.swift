import GimbalCore
import Glibc
import MotorModels
import Realtime
import Synchronization

@testable import Hardware

/// A pseudoterminal whose other end is a model of servos or of a motor board, on its own thread.
final class ServoLine: @unchecked Sendable {
    private let far: Int32
    /// Device file of the end that airframed opens.
    let path: String
    private var model = mm_model()
    private let lock = Mutex(())
    private let isDone = Atomic(false)
    private var thread: pthread_t?

    init(_ kind: mm_kind, count: Int32 = 3) {
        var name = [CChar](repeating: 0, count: 64)
        far = mm_open_line(&name, Int32(name.count))
        precondition(far >= 0, "no pseudoterminal")
        path = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        mm_begin(&model, kind, count)
        var id = pthread_t()
        let box = Unmanaged.passRetained(self)
        pthread_create(
            &id, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<ServoLine>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        thread = id
    }

    /// Reads or changes the model.
    func with<Result>(_ body: (inout mm_model) -> Result) -> Result {
        lock.withLock { _ in body(&model) }
    }

    /// Changes the servo of one joint, 0...2.
    func motor(_ index: Int, _ body: (inout mm_motor) -> Void) {
        with { model in
            switch index {
            case 0: body(&model.motors.0)
            case 1: body(&model.motors.1)
            default: body(&model.motors.2)
            }
        }
    }

    private func run() {
        var bytes = [UInt8](repeating: 0, count: 512)
        var last = MonotonicClock.now
        while !isDone.load(ordering: .relaxed) {
            var wait = pollfd(fd: far, events: Int16(POLLIN), revents: 0)
            poll(&wait, 1, 1)
            let count = read(far, &bytes, bytes.count)
            let now = MonotonicClock.now
            lock.withLock { _ in
                if count > 0 { mm_receive(&model, bytes, Int32(count), now.nanoseconds) }
                mm_move(&model, now.seconds(since: last), now.nanoseconds)
                last = now
                let size = mm_send(&model, &bytes, Int32(bytes.count))
                if size > 0 { _ = write(far, bytes, Int(size)) }
            }
        }
    }

    /// Ends the thread and closes the model's end, like an unplugged adapter.
    func unplug() {
        guard let thread else { return }
        isDone.store(true, ordering: .relaxed)
        pthread_join(thread, nil)
        self.thread = nil
        close(far)
        mm_end(&model)
    }
}
