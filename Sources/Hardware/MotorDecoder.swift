internal import Configuration
internal import GimbalCore

/// All decoders of bytes from motors, for the fuzzer.
package enum MotorDecoder {
    /// Names of the decoders.
    package static let names =
        ["feetech", "dynamixel2", "board"] + DriveProtocol.allCases.map(\.rawValue)
        + ["xgo", "odrive_sdo"]

    /// Decodes received bytes.
    ///
    /// - Parameters:
    ///   - decoder: Index in `names`.
    ///   - bytes: Received bytes. For CAN, each frame is a length byte, four bytes of identifier
    ///     and flags, and the data.
    /// - Returns: All numbers that the decoder has extracted.
    package static func values(of decoder: Int, in bytes: [UInt8]) -> [Double] {
        let ids = AxisVector(yaw: 1, roll: 2, pitch: 3)
        let name = names[decoder]
        if let kind = DriveProtocol(rawValue: name) {
            return drives(
                HardwareWiring.CANDrives(interface: "can0", protocolName: kind, ids: ids, host: 0)
                    .codec, bytes)
        }
        let servos = DriveIDs(servos: ids)
        switch name {
        case "feetech": return serial(FeetechCodec(ids: servos), bytes)
        case "dynamixel2":
            let goal = DynamixelCodec.Goal.current(ampsPerTorque: 1, step: 0.001)
            return serial(DynamixelCodec(ids: servos, goal: goal), bytes)
        case "xgo": return robot(bytes)
        case "odrive_sdo":
            let endpoints = ODriveEndpoints(firmware: 0x609, timeout: 0x123, enable: 0x124)
            return drives(
                ODriveCodec(
                    ids: DriveIDs(yaw: 1, roll: 2, pitch: 3), endpoints: endpoints, watchdog: 0.025),
                bytes)
        default: return serial(BoardCodec(), bytes)
        }
    }

    private static func serial(_ codec: some SerialCodec, _ bytes: [UInt8]) -> [Double] {
        var codec = codec
        var values: [Double] = []
        var received = SerialBytes()
        // The bytes arrive in pieces of different sizes.
        var rest = bytes[...]
        while !rest.isEmpty {
            let size = min(rest.count, 1 + Int(rest[rest.startIndex]) % 97)
            for byte in rest.prefix(size) { received.append(byte) }
            rest = rest.dropFirst(size)
            var before = received.count
            while codec.next(in: &received, { values += numbers(in: $0) }) != .incomplete {
                precondition(received.count < before, "the decoder has not consumed a byte")
                before = received.count
            }
        }
        return values
    }

    private static func robot(_ bytes: [UInt8]) -> [Double] {
        var values: [Double] = []
        var received = SerialBytes()
        for byte in bytes {
            received.append(byte)
            var isMore = true
            while isMore {
                let before = received.count
                switch XGOFrame.next(in: &received) {
                case .reply(let register, let start):
                    values.append(Double(received[start + Int(register.size) - 1]))
                    received.drop(XGOFrame.length(of: received))
                case .damaged: break
                case .incomplete: isMore = false
                }
                precondition(
                    !isMore || received.count < before, "the decoder has not consumed a byte")
            }
        }
        return values
    }

    private static func drives(_ codec: some DriveCodec, _ bytes: [UInt8]) -> [Double] {
        var values: [Double] = []
        var rest = bytes[...]
        while rest.count >= 5 {
            let head = Array(rest.prefix(5))
            rest = rest.dropFirst(5)
            let count = min(Int(head[0] & 0x7F) % 65, rest.count)
            let id = head[1...4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            var frame = CANFrame(
                id: id & 0x1FFF_FFFF, isExtended: id >> 31 == 1, isRemote: id >> 30 & 1 == 1,
                isFD: head[0] >> 7 == 1)
            frame.isError = id >> 29 & 1 == 1
            for byte in rest.prefix(count) { frame.append(byte) }
            rest = rest.dropFirst(count)
            if let news = codec.decode(in: frame) { values += numbers(in: news) }
        }
        return values
    }

    private static func numbers(in news: DriveReading) -> [Double] {
        [
            news.angle, news.rate, news.load, news.current, news.temperature, news.voltage,
            news.watchdog,
        ]
        .compactMap(\.self)
    }
}
