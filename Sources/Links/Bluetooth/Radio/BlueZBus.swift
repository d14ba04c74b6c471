import CBlueZ
import GimbalCore
import Glibc

/// Swift interface of the C library CBlueZ: a table of services, a connection to bluetoothd, and
/// the events of the connection. Only one thread uses a `BlueZBus`.
///
/// `process` answers requests from phones. The method collects other events for `takeEvents`.
/// Therefore no callback of CBlueZ opens or closes the connection to bluetoothd.
final class BlueZBus {
    /// Request of a phone; `device` is the phone's D-Bus object path.
    struct Request {
        var characteristic: Int
        var device: String
        /// Largest size of an ATT packet (MTU), bytes; nil if unknown.
        var mtu: Int?
        /// ID of the write, for a later call of `answer`.
        var token: UInt64 = 0
    }

    /// Answer to a write.
    enum WriteResult {
        case done
        case refused(ATTError)
        /// The write response follows later, in a call of `answer`.
        case later

        /// Result of CBlueZ's callback `write`.
        fileprivate var code: UInt8 {
            switch self {
            case .done: 0
            case .refused(let error): error.code
            case .later: UInt8(CBZ_LATER)
            }
        }
    }

    /// Event of a device.
    enum DeviceEvent: Equatable {
        case connected(String, Bool)
        case paired(String, Bool)
        case name(String, String)
        /// Icon of the device, such as "phone" or "input-gaming". bluetoothd derives the icon from
        /// the device's class or appearance.
        case icon(String, String)
        case removed(String)
        case passkey(String, UInt32)
        case passkeyOver
        case address(adapter: String, String)
    }

    /// Event from bluetoothd.
    enum Event: Equatable {
        case radio(RadioEvent)
        case device(DeviceEvent)
    }

    /// Handler of requests to the services. Without a handler, requests are refused.
    weak var responder: (any BlueZResponder)?

    fileprivate var events: [Event] = []
    private var handle: OpaquePointer?

    /// Creates a table of the given services, each with its advertisement.
    init(_ services: [any GATTService], isEncrypted: Bool) {
        var callbacks = cbz_callbacks()
        callbacks.context = Unmanaged.passUnretained(self).toOpaque()
        callbacks.read = { context, request, bytes, count in
            guard let request, let bytes, let count, let responder = bus(context).responder else {
                return ATTError.internalFailure.code
            }
            switch responder.read(Request(request.pointee)) {
            case .failure(let error): return error.code
            case .success(let value):
                count.pointee = min(value.count, Int(CBZ_VALUE_MAX))
                bytes.update(from: value, count: count.pointee)
                return 0
            }
        }
        callbacks.write = { context, request, bytes, count in
            guard let request, let responder = bus(context).responder else {
                return ATTError.internalFailure.code
            }
            let value = UnsafeRawBufferPointer(start: bytes, count: count)
            return responder.write(Request(request.pointee), value).code
        }
        callbacks.subscription = { bus($0).responder?.subscribe(Int($1), isOn: $2) }
        callbacks.event = { context, event in
            guard let event, let event = BlueZEvents.translate(event.pointee) else { return }
            bus(context).events.append(event)
        }
        guard let handle = cbz_new(&callbacks) else { fatalError("no memory") }
        self.handle = handle
        for (index, service) in services.enumerated() {
            // Phones cache attribute handles. Therefore the services have fixed handles, far above
            // bluetoothd's own handles. Each service has room for 80 attributes. Services without
            // an advertisement have a separate range of handles. Therefore a new advertised service
            // does not change the handles of the services without an advertisement.
            let first = service.isAdvertised ? 0x100 + 0x50 * index : 0x800
            expect(cbz_add_service(handle, "\(service.uuid)", UInt16(first)))
            for characteristic in service.characteristics {
                expect(
                    cbz_add_characteristic(
                        handle, "\(characteristic.uuid)", characteristic.flags(isEncrypted),
                        characteristic.name))
            }
            guard service.isAdvertised else { continue }
            expect(cbz_add_advertisement(handle, "\(service.uuid)", service.advertisedName))
        }
    }

    deinit {
        cbz_free(handle)
    }

    /// Connects to the system bus or to another bus.
    ///
    /// - Returns: 0 or an errno.
    func open(address: String?) -> Int32 {
        cbz_close(handle)
        return cbz_open(handle, address)
    }

    /// Disconnects from the bus.
    func close() {
        cbz_close(handle)
        events = []
    }

    /// True if `process` must be called, because a connection exists, or because the end of the
    /// last connection has not been reported yet.
    var isOpen: Bool { cbz_is_open(handle) }

    /// Descriptor of the connection to the bus, and events for poll(2); nil if there is no
    /// connection.
    func pollEntry() -> (entry: pollfd, deadline: Instant?)? {
        var entry = pollfd(fd: -1, events: 0, revents: 0)
        var deadline: Int64 = 0
        guard cbz_poll(handle, &entry.fd, &entry.events, &deadline) == 0 else { return nil }
        return (entry, deadline == .max ? nil : Instant(nanoseconds: deadline))
    }

    /// Reads and handles one pending D-Bus message, if there is one.
    ///
    /// - Returns: On success, true if more messages can be waiting. On failure, the errno that
    ///   ended the connection to the bus.
    func process() -> Result<Bool, RadioBusError> {
        var isMore = false
        let error = cbz_process(handle, 1, &isMore)
        return error == 0 ? .success(isMore) : .failure(RadioBusError(errno: error))
    }

    /// Removes and returns the events that have been collected since the last call.
    func takeEvents() -> [Event] {
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    /// Resources that the connection to the bus uses.
    var resources: Resources {
        var resources = cbz_resources()
        cbz_count(handle, &resources)
        return Resources(
            objects: Int(resources.objects), matches: Int(resources.matches),
            calls: Int(resources.calls), queued: Int(resources.queued))
    }

    /// Sends a value to all subscribers.
    ///
    /// - Returns: 0 after success, otherwise an errno; EAGAIN if too many messages wait for the
    ///   bus.
    func notify(_ characteristic: Int, _ value: [UInt8]) -> Int32 {
        value.withUnsafeBufferPointer {
            cbz_notify(handle, UInt32(characteristic), $0.baseAddress, $0.count)
        }
    }

    /// Sends a request to bluetoothd. If the request cannot be sent, the connection is closed.
    func ask(_ action: RadioAction) {
        switch action {
        case .openBus: break
        case .list: cbz_list(handle)
        case .powerOn(let adapter): cbz_set_powered(handle, adapter, true)
        case .powerOff(let adapter): cbz_set_powered(handle, adapter, false)
        case .setAlias(let adapter, let name): cbz_set_alias(handle, adapter, name)
        case .setPairable(let adapter, let isOn): cbz_set_pairable(handle, adapter, isOn)
        case .registerAgent: cbz_register_agent(handle)
        case .registerApplication(let adapter, let asksForHandles):
            cbz_request_handles(handle, asksForHandles)
            cbz_register_application(handle, adapter)
        case .registerAdvertisement(let adapter, let index):
            cbz_register_advertisement(handle, adapter, UInt32(index))
        case .unregisterAdvertisement(let adapter, let index):
            cbz_unregister_advertisement(handle, adapter, UInt32(index))
        }
    }

    /// Changes the name of an advertisement; the new name is used at the next registration. A name
    /// that is too long is omitted from the advertisement.
    func rename(advertisement index: Int, _ name: String) {
        cbz_rename_advertisement(handle, UInt32(index), name)
    }

    /// Sends the deferred write response to a phone; `nil` as the error means success.
    func answer(_ token: UInt64, _ error: ATTError?) {
        _ = cbz_answer_write(handle, token, error?.code ?? 0)
    }

    /// Ends a phone's connection.
    func disconnect(device: String) { cbz_disconnect_device(handle, device) }

    /// Requests the removal of a device and its keys from bluetoothd.
    func remove(device: String, adapter: String) { cbz_remove_device(handle, adapter, device) }

    private func expect(_ error: Int32) {
        precondition(error == 0, "The table of services is too large: \(error)")
    }
}

extension BlueZBus {
    /// Counts of the resources that the connection uses. Tests compare the numbers of resources to
    /// find leaks.
    struct Resources: Equatable {
        /// Number of objects that the connection has published on D-Bus.
        var objects = 0
        /// Number of D-Bus signals that the connection has subscribed to.
        var matches = 0
        /// Number of D-Bus calls that bluetoothd has not answered yet.
        var calls = 0
        /// Number of D-Bus messages that wait to be sent.
        var queued = 0
    }
}

/// Handler that answers the requests of phones. All calls are made on the thread `airframed-ble`.
protocol BlueZResponder: AnyObject {
    /// A phone reads a characteristic.
    func read(_ request: BlueZBus.Request) -> Result<[UInt8], ATTError>
    /// A phone writes a characteristic; the bytes are valid during the call.
    func write(
        _ request: BlueZBus.Request, _ bytes: UnsafeRawBufferPointer
    ) -> BlueZBus.WriteResult
    /// The first central has subscribed to a characteristic, or the last central has unsubscribed.
    func subscribe(_ characteristic: Int, isOn: Bool)
}

/// The errno that ended the connection to the bus.
struct RadioBusError: Error {
    var errno: Int32
}

extension GATTCharacteristic {
    /// The properties of the characteristic, as CBlueZ flags.
    fileprivate func flags(_ isEncrypted: Bool) -> UInt32 {
        var flags = isEncrypted ? UInt32(CBZ_PROTECTED) : 0
        for property in properties {
            switch property {
            case .read: flags |= UInt32(CBZ_READ)
            case .write: flags |= UInt32(CBZ_WRITE)
            case .writeWithoutResponse: flags |= UInt32(CBZ_WRITE_WITHOUT_RESPONSE)
            case .notify: flags |= UInt32(CBZ_NOTIFY)
            }
        }
        return flags
    }
}

extension ATTError {
    /// Code of the ATT error that is sent to the central.
    var code: UInt8 {
        switch self {
        case .notSupported: 0x06
        case .notAuthorized: 0x08
        case .invalidLength: 0x0D
        case .application(let code): code
        }
    }
}

// MARK: Callbacks from C

private func bus(_ context: UnsafeMutableRawPointer?) -> BlueZBus {
    guard let context else {
        fatalError(
            "internal error: a callback of the D-Bus connection came without its BlueZBus object")
    }
    return Unmanaged<BlueZBus>.fromOpaque(context).takeUnretainedValue()
}

extension BlueZBus.Request {
    fileprivate init(_ request: cbz_request) {
        self.init(
            characteristic: Int(request.characteristic), device: text(request.device),
            mtu: request.mtu == 0 ? nil : Int(request.mtu), token: request.token)
    }
}

private func text(_ pointer: UnsafePointer<CChar>?) -> String {
    pointer.map { String(cString: $0) } ?? ""
}
