public import Configuration
internal import GimbalCore
internal import Glibc
internal import Realtime

/// Error of a servo request: a message that names the remedy.
public struct ServoToolError: Error, Sendable, CustomStringConvertible {
    /// Cause of an error.
    public enum Cause: Sendable {
        /// The port cannot be used.
        case port
        /// A servo does not answer.
        case silence
        /// The request does not fit the servos.
        case request
    }

    /// Cause of the error.
    public let cause: Cause
    /// Error message.
    public let description: String

    init(_ cause: Cause, _ description: String) {
        self.cause = cause
        self.description = description
    }
}

/// A servo that has answered.
public struct FoundServo: Sendable, Equatable {
    /// Identifier on the bus.
    public var id: Int
    /// Baud rate at which the servo answered, bits per second.
    public var baud: Int
    /// Vendor's model number; for example, 777 for an STS3215 and 1200 for an XL330-M288.
    public var model: Int
    /// Angle, degrees, 0...360.
    public var angle: Double
    /// Voltage of the supply, V.
    public var voltage: Double
    /// Temperature, °C.
    public var temperature: Double
}

/// Tool that sets up one servo at a time before airframed uses the servos. Each call waits for the
/// servo's answer. While airframed uses the port, this tool cannot open it.
public final class ServoTool {
    private let path: String
    private let kind: ServoProtocol
    private let makeLine: (Int) -> any SerialTransport
    private var line: any SerialTransport
    private var baud: Int

    /// Timeout for an answer, s, in addition to the transmission time of the bytes: two transfers
    /// of a USB adapter at the slowest setting.
    private static let patience = 0.035
    /// Number of attempts for each request.
    private static let attempts = 2
    /// Time that a servo needs to store a setting, s.
    private static let settleSeconds = 0.05

    /// Opens the port.
    ///
    /// - Parameters:
    ///   - port: Device file of the port.
    ///   - kind: Protocol of the servos.
    ///   - baud: Baud rate of the bus, bits per second.
    /// - Throws: `ServoToolError` if the port is missing, or another program uses it.
    public convenience init(port: String, kind: ServoProtocol, baud: Int) throws(ServoToolError) {
        try self.init(port: port, kind: kind, baud: baud) {
            SerialLine(open: SerialLine.device(path: port, baud: $0))
        }
    }

    init(
        port: String, kind: ServoProtocol, baud: Int,
        line makeLine: @escaping (Int) -> any SerialTransport
    ) throws(ServoToolError) {
        path = port
        self.kind = kind
        self.baud = baud
        self.makeLine = makeLine
        line = makeLine(baud)
        try open()
    }

    private func open() throws(ServoToolError) {
        do throws(BusErrno) {
            try line.open(now: line.now)
        } catch {
            let fault = BusError(operation: .read, device: .serial, address: 0, code: error.code)
            throw ServoToolError(
                .port,
                "\(path) cannot be opened: \(String(cString: strerror(error.code))). \(fault.remedy())"
            )
        }
    }

    private func change(to speed: Int) throws(ServoToolError) {
        line.close()
        baud = speed
        line = makeLine(speed)
        try open()
    }

    // MARK: Requests

    /// Searches for servos.
    ///
    /// - Parameters:
    ///   - bauds: Baud rates for the search, bits per second.
    ///   - ids: Identifiers to search for.
    ///   - found: Closure that receives each servo that answers.
    /// - Throws: `ServoToolError` if the port fails.
    public func scan(
        bauds: [Int], ids: ClosedRange<Int>, found: (FoundServo) -> Void
    ) throws(ServoToolError) {
        let before = baud
        for speed in bauds {
            if speed != baud { try change(to: speed) }
            for id in ids { if let servo = try find(id) { found(servo) } }
        }
        if baud != before { try change(to: before) }
    }

    /// The servo with this identifier; nil if none answers.
    public func find(_ id: Int) throws(ServoToolError) -> FoundServo? {
        switch kind {
        case .feetech:
            guard let values = try read(id, at: 56, count: 8, attempts: 1),
                let version = try read(id, at: 0, count: 5, attempts: Self.attempts)
            else { return nil }
            return FoundServo(
                id: id, baud: baud, model: Int(version[3]) | Int(version[4]) << 8,
                angle: Double(Int(values[0]) | Int(values[1] & 0x7F) << 8) / 4096 * 360,
                voltage: Double(values[6]) / 10, temperature: Double(values[7]))
        case .dynamixel2:
            guard let values = try read(id, at: 132, count: 15, attempts: 1),
                let model = try read(id, at: 0, count: 2, attempts: Self.attempts)
            else { return nil }
            let steps = SerialBytes(values).little32(at: 0)
            return FoundServo(
                id: id, baud: baud, model: Int(model[0]) | Int(model[1]) << 8,
                angle: (Double(Int32(bitPattern: steps)) / 4096 * 360)
                    .truncatingRemainder(dividingBy: 360),
                voltage: Double(Int(values[12]) | Int(values[13]) << 8) / 10,
                temperature: Double(values[14]))
        }
    }

    /// Stores a new identifier in a servo's permanent memory.
    public func setID(from old: Int, to new: Int) throws(ServoToolError) {
        guard old != new else {
            throw ServoToolError(.request, "Servo \(old) already has this identifier.")
        }
        try require(old)
        guard try find(new) == nil else {
            throw ServoToolError(
                .request,
                "Another servo already has the identifier \(new). Choose a different one, or disconnect that servo."
            )
        }
        try store(old, at: kind == .feetech ? 5 : 7, value: UInt8(new), answersAs: new)
        guard try find(new) != nil else {
            throw ServoToolError(
                .silence,
                "Servo \(old) did not accept the identifier \(new). Disconnect all other servos, and try again."
            )
        }
    }

    /// Stores a new baud rate in a servo's permanent memory. The tool's port then also uses the new
    /// baud rate.
    public func setBaud(id: Int, to speed: Int) throws(ServoToolError) {
        guard let code = code(of: speed) else {
            let list = kind.bauds.map(String.init).joined(separator: ", ")
            throw ServoToolError(
                .request,
                "These servos do not support the baud rate \(speed). Choose one of: \(list).")
        }
        try require(id)
        try store(id, at: kind == .feetech ? 6 : 8, value: code, answersAs: id, thenBaud: speed)
        guard try find(id) != nil else {
            throw ServoToolError(
                .silence,
                "Servo \(id) does not answer at \(speed) bit/s. Search for it: airframectl motor scan --all-speeds."
            )
        }
    }

    private func require(_ id: Int) throws(ServoToolError) {
        guard try find(id) == nil else { return }
        throw ServoToolError(
            .silence,
            "No servo with the identifier \(id) answers at \(baud) bit/s. Check its supply and its wires, and search for it: airframectl motor scan --all-speeds."
        )
    }

    private func code(of speed: Int) -> UInt8? {
        switch kind {
        // The baud rate code 0 means the highest baud rate.
        case .feetech: kind.bauds.firstIndex(of: speed).map { UInt8(kind.bauds.count - 1 - $0) }
        case .dynamixel2: kind.bauds.firstIndex(of: speed).map { UInt8($0) }
        }
    }

    /// Writes one byte to a servo's permanent memory.
    private func store(
        _ id: Int, at address: Int, value: UInt8, answersAs new: Int, thenBaud: Int? = nil
    ) throws(ServoToolError) {
        switch kind {
        case .feetech:
            try write(id, at: 40, value: 0)
            try write(id, at: 55, value: 0)
        case .dynamixel2: try write(id, at: 64, value: 0)
        }
        // The answer is not evaluated, because the servo answers with the new identifier or at the
        // new baud rate.
        _ = try transact(id, isWrite: true, at: address, data: [value], count: 0)
        line.pause(Self.settleSeconds)
        if let thenBaud { try change(to: thenBaud) }
        if kind == .feetech { try write(new, at: 55, value: 1) }
    }

    // MARK: Transfers

    private func write(_ id: Int, at address: Int, value: UInt8) throws(ServoToolError) {
        for _ in 0..<Self.attempts {
            if try transact(id, isWrite: true, at: address, data: [value], count: 0) != nil {
                return
            }
        }
        throw ServoToolError(
            .silence,
            "Servo \(id) does not confirm a write. Disconnect all other servos, check the wires, and try again."
        )
    }

    private func read(
        _ id: Int, at address: Int, count: Int, attempts: Int
    ) throws(ServoToolError) -> [UInt8]? {
        for _ in 0..<attempts {
            let data = try transact(id, isWrite: false, at: address, data: [], count: count)
            if let data, data.count == count { return data }
        }
        return nil
    }

    /// Sends one instruction, and waits for its answer.
    ///
    /// - Returns: The data of the answer; nil if no valid answer arrived.
    private func transact(
        _ id: Int, isWrite: Bool, at address: Int, data: [UInt8], count: Int
    ) throws(ServoToolError) -> [UInt8]? {
        var request = SerialBytes()
        switch kind {
        case .feetech:
            let parameters = isWrite ? [UInt8(address)] + data : [UInt8(address), UInt8(count)]
            let start = FeetechCodec.begin(
                UInt8(id),
                isWrite ? FeetechCodec.Instruction.write : FeetechCodec.Instruction.read,
                count: parameters.count, into: &request)
            for byte in parameters { request.append(byte) }
            FeetechCodec.end(start, &request)
        case .dynamixel2:
            let start = DynamixelCodec.begin(
                UInt8(id),
                isWrite ? DynamixelCodec.Instruction.write : DynamixelCodec.Instruction.read,
                into: &request)
            request.append(little: UInt16(address))
            if !isWrite { request.append(little: UInt16(count)) }
            for byte in data { request.append(byte) }
            DynamixelCodec.end(start, &request)
        }
        do throws(BusErrno) {
            return try exchange(request, id: UInt8(id), count: count)
        } catch {
            throw ServoToolError(
                .port,
                "\(path) has failed: \(String(cString: strerror(error.code))). Check the adapter and its cable."
            )
        }
    }

    private func exchange(
        _ request: SerialBytes, id: UInt8, count: Int
    ) throws(BusErrno) -> [UInt8]? {
        var received = SerialBytes()
        while try line.receive(into: &received, until: line.now) > 0 {
            received.removeAll()
        }
        try line.send(request)
        let bytes = Double(request.count + count + 12)
        let deadline = line.now.advanced(
            bySeconds: bytes * 10 / Double(baud) + Self.patience)
        while try line.receive(into: &received, until: deadline) > 0 {
            while let data = answer(in: &received, id: id, count: count) {
                if let data { return data }
            }
        }
        return nil
    }

    /// Removes the next packet from the received bytes.
    ///
    /// - Returns: The data of the answer. The outer optional is nil if no complete packet has been
    ///   received; the inner optional is nil for another packet, such as an echo.
    private func answer(in received: inout SerialBytes, id: UInt8, count: Int) -> [UInt8]?? {
        let (skip, size) =
            kind == .feetech
            ? FeetechCodec.packet(in: received) : DynamixelCodec.packet(in: received)
        received.drop(skip)
        guard let size else { return nil }
        defer { received.drop(size) }
        switch kind {
        case .feetech:
            // The length of an echo differs from the length of the answer.
            guard received[2] == id, size == 6 + count else { return .some(nil) }
            return .some((5..<size - 1).map { received[$0] })
        case .dynamixel2:
            let packet = DynamixelCodec.unstuffed(received, count: size)
            guard packet[7] == DynamixelCodec.Instruction.status, packet[4] == id,
                packet[8] & 0x7F == 0
            else { return .some(nil) }
            return .some((9..<packet.count - 2).map { packet[$0] })
        }
    }
}
