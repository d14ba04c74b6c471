import GimbalCore
import Glibc
import Testing

private let isOptimised: Bool = {
    #if DEBUG
        false
    #else
        true
    #endif
}()

/// For a call of a method that is not inlined, the compiler copies a large structure to the stack.
/// The copies of `Stabilizer` and of the motor controllers once took a third of a tick.
@Suite(
    "Stack of a tick",
    .enabled(if: isOptimised, "without optimisation, the compiler copies every structure"))
struct TickStackTests {
    /// Stabilizer on its own thread, with a camera that trembles.
    private final class Run {
        let stabilizer = UnsafeMutablePointer<Stabilizer>.allocate(capacity: 1)
        var enabledTicks = 0

        init(_ type: MotorType) {
            var parameters = Stabilizer.Parameters()
            parameters.motorType = type
            stabilizer.initialize(to: Stabilizer(parameters: parameters))
            stabilizer.pointee.apply(.mode(.locked), now: Instant(nanoseconds: 0))
        }

        deinit { stabilizer.deallocate() }

        func tick(_ number: Int) {
            let now = Instant(nanoseconds: Int64(number) * 1_000_000)
            // The camera rests until the estimate has converged.
            let wave = number > 5000 ? Double(number % 500) / 250 - 1 : 0
            var sample = IMUSample(
                time: now, gyro: Vector3(0.05 * wave, -0.03 * wave, 0.01 * wave),
                accel: Vector3(0.1 * wave, 0.05 * wave, -9.81))
            sample.contents.insert(.joints)
            stabilizer.pointee.integrate(sample)
            stabilizer.pointee.report(.none)
            if stabilizer.pointee.step(now: now).enabled { enabledTicks += 1 }
        }
    }

    /// Size of the thread's stack and pattern of its unused bytes.
    private static let (size, pattern) = (1 << 20, UInt8(0xA5))
    /// Measured: at most 31 kB, including the thread's own data. A copy of a controller has 8 to 29
    /// kB.
    private static let limit = 35_000

    @Test(
        "a tick does not copy the state of a motor controller",
        arguments: [MotorType.torque, .servo, .field])
    func copies(type: MotorType) throws {
        let stack = try #require(
            mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        defer { munmap(stack, Self.size) }
        memset(stack, Int32(Self.pattern), Self.size)
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstack(&attributes, stack, Self.size)
        let run = Run(type)
        var thread = pthread_t()
        let error = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                let run = Unmanaged<Run>.fromOpaque(argument).takeUnretainedValue()
                for number in 1...20_000 { run.tick(number) }
                return nil
            }, Unmanaged.passUnretained(run).toOpaque())
        try #require(error == 0)
        pthread_join(thread, nil)
        let bytes = UnsafeRawBufferPointer(start: stack, count: Self.size)
        let used = Self.size - (bytes.firstIndex { $0 != Self.pattern } ?? Self.size)
        #expect(run.enabledTicks > 10_000)
        #expect(used < Self.limit, "\(used) bytes")
    }
}
