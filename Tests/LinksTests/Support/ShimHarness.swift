import FakeBlueZ
import CLinuxShim
import Foundation
import Glibc

@testable import Links

/// The shim and a fake bluetoothd on a private bus, both driven by the test's thread.
final class ShimHarness {
    static let char0 = "/org/airframe/service0/char00"
    static let char1 = "/org/airframe/service0/char01"
    static let char2 = "/org/airframe/service0/char02"

    let privateBus: PrivateBus
    var fake: FakeBlueZ?
    let bus: BlueZBus
    let service = RecordingService()
    var events: [BlueZBus.Event] = []
    var writes: [[UInt8]] = []
    var requests: [BlueZBus.Request] = []
    var subscriptions: [Bool] = []
    var readAnswer: Result<[UInt8], ATTError> = .success([7, 8, 9])
    var writeAnswer: ATTError?
    /// Writes are answered later, by `bus.answer`.
    var isLeftForLater = false
    var busError: Int32?

    init(isEncrypted: Bool = false) throws {
        privateBus = try PrivateBus()
        bus = BlueZBus([service, PlainService()], isEncrypted: isEncrypted)
        bus.responder = self
    }

    /// Connects both to the bus, and gives the fake the objects to call.
    func connect() throws -> FakeBlueZ {
        let fake = try FakeBlueZ(privateBus)
        self.fake = fake
        precondition(bus.open(address: privateBus.address) == 0)
        pump { events.contains(.radio(.daemon(isPresent: true))) }
        bus.ask(.registerApplication("/org/bluez/hci0", asksForHandles: true))
        pump { events.contains(.radio(.done(.registerApplication, nil))) && !fake.objects.isEmpty }
        return fake
    }

    /// Drives both until the condition holds; ends the test run after ten seconds, because then
    /// something hangs.
    func pump(_ isDone: () -> Bool) {
        let deadline = Date(timeIntervalSinceNow: 10)
        while true {
            drive()
            if isDone() { return }
            precondition(Date.now < deadline, "still waiting; events: \(events)")
            var entries = [pollfd]()
            if let fake { entries.append(pollfd(fd: fake.descriptor, events: 1, revents: 0)) }
            if let entry = bus.pollEntry()?.entry { entries.append(entry) }
            var ready: Int32 = 0
            _ = cl_socket_wait(&entries, entries.count, 20_000_000, &ready)
        }
    }

    /// The error name of the reply to one call of the fake; empty: success.
    func answered(_ call: (FakeBlueZ) -> Void) -> String {
        guard let fake else { return "no fake" }
        let replies = fake.replies
        call(fake)
        pump { fake.replies > replies }
        return fake.error
    }

    private func drive() {
        fake?.process()
        while busError == nil, bus.isOpen {
            switch bus.process() {
            case .success(true): continue
            case .success(false): break
            case .failure(let error): busError = error.errno
            }
            break
        }
        events += bus.takeEvents()
    }
}

/// Resident memory of this process in kB.
func residentKilobytes() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4
}

/// Open descriptors of this process.
func openDescriptors() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
}

extension ShimHarness: BlueZResponder {
    func read(_ request: BlueZBus.Request) -> Result<[UInt8], ATTError> {
        requests.append(request)
        return readAnswer
    }

    func write(
        _ request: BlueZBus.Request, _ bytes: UnsafeRawBufferPointer
    ) -> BlueZBus.WriteResult {
        requests.append(request)
        if writes.count < 1000 { writes.append(Array(bytes)) }
        if isLeftForLater { return .later }
        return writeAnswer.map { .refused($0) } ?? .done
    }

    func subscribe(_ characteristic: Int, isOn: Bool) { subscriptions.append(isOn) }
}
