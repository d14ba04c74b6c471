import CBlueZ

/// Converts bluetoothd's signals to events for the supervisor and for the list of centrals. Other
/// signals of bluetoothd are ignored.
enum BlueZEvents {
    static func translate(_ event: cbz_event) -> BlueZBus.Event? {
        let path = text(event.path)
        switch event.kind {
        case CBZ_DAEMON: return .radio(.daemon(isPresent: event.number != 0))
        case CBZ_DONE: return .radio(.done(call(event), failure(event)))
        case CBZ_OBJECT: return object(event, path)
        case CBZ_PROPERTY: return property(event, path)
        case CBZ_ADVERTISEMENT_RELEASED: return .radio(.released(Int(event.number)))
        case CBZ_AGENT_RELEASED: return .radio(.agentReleased)
        case CBZ_PASSKEY: return .device(.passkey(path, UInt32(clamping: event.number)))
        case CBZ_PASSKEY_OVER: return .device(.passkeyOver)
        default: return nil
        }
    }

    private static func call(_ event: cbz_event) -> RadioCall {
        switch event.call {
        case CBZ_CALL_LIST: .list
        case CBZ_CALL_SET_POWERED: event.number == 1 ? .powerOn : .powerOff
        case CBZ_CALL_SET_ALIAS: .setAlias
        case CBZ_CALL_SET_PAIRABLE: .setPairable
        // Two calls register the pairing agent: call 0 registers the agent, and call 1 makes the
        // agent the default. The answer to call 1 completes the registration.
        case CBZ_CALL_REGISTER_AGENT: event.number == 1 ? .registerAgent : .other
        case CBZ_CALL_REGISTER_APPLICATION: .registerApplication
        case CBZ_CALL_REGISTER_ADVERTISEMENT: .registerAdvertisement(Int(event.number))
        case CBZ_CALL_UNREGISTER_ADVERTISEMENT: .unregisterAdvertisement(Int(event.number))
        default: .other
        }
    }

    private static func failure(_ event: cbz_event) -> RadioFailure? {
        let name = text(event.name)
        return name.isEmpty ? nil : RadioFailure(name: name, message: text(event.text))
    }

    private static func object(_ event: cbz_event, _ path: String) -> BlueZBus.Event? {
        let isPresent = event.number != 0
        switch event.interface {
        case CBZ_ADAPTER: return .radio(.interface(.adapter, of: path, isPresent: isPresent))
        case CBZ_GATT_MANAGER:
            return .radio(.interface(.gattManager, of: path, isPresent: isPresent))
        case CBZ_ADVERTISING_MANAGER:
            return .radio(.interface(.advertisingManager, of: path, isPresent: isPresent))
        case CBZ_DEVICE: return isPresent ? nil : .device(.removed(path))
        default: return nil
        }
    }

    private static func property(_ event: cbz_event, _ path: String) -> BlueZBus.Event? {
        let isOn = event.number != 0
        switch (event.interface, text(event.name)) {
        case (CBZ_ADAPTER, "Powered"): return .radio(.powered(path, isOn))
        case (CBZ_ADAPTER, "Pairable"): return .radio(.pairable(path, isOn))
        case (CBZ_ADAPTER, "Alias"): return .radio(.alias(path, text(event.text)))
        case (CBZ_ADAPTER, "Address"):
            return .device(.address(adapter: path, text(event.text)))
        case (CBZ_ADVERTISING_MANAGER, "ActiveInstances"):
            return .radio(.active(path, Int(event.number)))
        case (CBZ_ADVERTISING_MANAGER, "SupportedInstances"):
            return .radio(.slots(path, Int(event.number)))
        case (CBZ_DEVICE, "Connected"): return .device(.connected(path, isOn))
        case (CBZ_DEVICE, "Paired"): return .device(.paired(path, isOn))
        case (CBZ_DEVICE, "Alias"): return .device(.name(path, text(event.text)))
        case (CBZ_DEVICE, "Icon"): return .device(.icon(path, text(event.text)))
        default: return nil
        }
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
        pointer.map { String(cString: $0) } ?? ""
    }
}
