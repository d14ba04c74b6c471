import CHardwareShim
import Glibc

@testable import Hardware

/// Simulated I2C bus behind the system call. Its chips increment the register pointer after each
/// byte; the bus counts the calls.
final class I2CWire {
    private var registers: [UInt16: [UInt8]] = [:]
    private(set) var calls = 0
    private(set) var messages = 0
    /// Addresses of chips that do not answer.
    var absent: Set<UInt16> = []
    /// Errno of opening the bus; 0 if it opens.
    var openError: Int32 = 0
    private(set) var opens = 0
    /// Errno of every call; 0 if calls succeed.
    var error: Int32 = 0
    /// True if the adapter refuses a read before the last message, like i2c-bcm2835.
    var mustReadLast = false

    subscript(address: UInt16, register: Int) -> UInt8 {
        get { registers[address]?[register] ?? 0 }
        set { registers[address, default: [UInt8](repeating: 0, count: 256)][register] = newValue }
    }

    func bus() -> I2CBus {
        I2CBus(
            path: "/dev/i2c-1",
            open: { _, fd in
                self.opens += 1
                guard self.openError == 0 else { return self.openError }
                fd.pointee = dup(0)
                return 0
            },
            transfer: { _, messages, count in
                self.carry(UnsafeBufferPointer(start: messages, count: Int(count)))
            })
    }

    private func carry(_ list: UnsafeBufferPointer<i2c_msg>) -> Int32 {
        calls += 1
        messages += list.count
        guard error == 0 else { return error }
        if mustReadLast, list.dropLast().contains(where: { $0.flags & UInt16(I2C_M_RD) != 0 }) {
            return EOPNOTSUPP
        }
        var at = 0
        for message in list {
            guard registers[message.addr] != nil, !absent.contains(message.addr),
                let bytes = message.buf
            else { return ENXIO }
            for index in 0..<Int(message.len) {
                if message.flags & UInt16(I2C_M_RD) != 0 {
                    bytes[index] = self[message.addr, at & 0xFF]
                    at += 1
                } else if index == 0 {
                    at = Int(bytes[0])
                } else {
                    self[message.addr, at & 0xFF] = bytes[index]
                    at += 1
                }
            }
        }
        return 0
    }
}
