// Calls to bluetoothd, and notifications to phones.
#include "CBlueZPrivate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/// Largest number of messages that wait to be sent when a notification is added. Above this number a notification is
/// dropped, because later only a newer notification is useful.
enum { NOTIFICATIONS_WAITING_MAX = 64 };

static void forget(pending *call) {
    for (pending **at = &call->peripheral->calls; *at; at = &(*at)->next)
        if (*at == call) {
            *at = call->next;
            break;
        }
    sd_bus_slot_unref(call->slot);
    free(call->path);
    free(call);
}

static int on_reply(sd_bus_message *m, void *context, sd_bus_error *error) {
    (void)error;
    pending *call = context;
    cbz_peripheral *p = call->peripheral;
    cbz_event event = {.kind = CBZ_DONE, .call = call->call, .number = call->index};
    char *path = call->path;
    call->path = NULL;
    forget(call);
    event.path = path;
    const sd_bus_error *failure = sd_bus_message_get_error(m);
    // The system bus does not deliver an answer from another process than bluetoothd, but other buses can deliver one.
    // If bluetoothd has ended, the bus itself answers with an error.
    if (!cbz_is_from(m, p->owner) && !(failure && cbz_is_from(m, BUS_NAME))) {
        event.name = "org.airframe.Error.Stranger";
        event.text = "A stranger has answered for bluetoothd";
    } else if (failure) {
        event.name = failure->name;
        event.text = failure->message;
    } else if (event.call == CBZ_CALL_LIST && cbz_report_objects(p, m) < 0) {
        event.name = "org.airframe.Error.Malformed";
        event.text = "bluetoothd's list of objects cannot be read";
    }
    cbz_emit(p, &event);
    free(path);
    return 0;
}

static int begin(
    cbz_peripheral *p, sd_bus_message **m, const char *path, const char *interface,
    const char *member) {
    *m = NULL;
    if (!p->bus) return -ENOTCONN;
    int r = sd_bus_message_new_method_call(p->bus, m, "org.bluez", path, interface, member);
    // The flag prevents a call from starting bluetoothd.
    if (r >= 0) r = sd_bus_message_set_auto_start(*m, false);
    return r;
}

/// Sends the call `m` if it was created without an error (`r` >= 0), and releases it.
static int send_call(
    cbz_peripheral *p, sd_bus_message *m, int r, cbz_call kind, const char *path, uint32_t index) {
    pending *call = r < 0 ? NULL : calloc(1, sizeof *call);
    char *copy = call ? strdup(path) : NULL;
    if (r >= 0 && copy) {
        *call = (pending){.peripheral = p, .call = kind, .index = index, .path = copy};
        r = sd_bus_call_async(p->bus, &call->slot, m, on_reply, call, 0);
    } else if (r >= 0) {
        r = -ENOMEM;
    }
    sd_bus_message_unref(m);
    if (r < 0) {
        free(copy);
        free(call);
        return -r;
    }
    call->next = p->calls;
    p->calls = call;
    return 0;
}

int cbz_list(cbz_peripheral *p) {
    sd_bus_message *m;
    int r = begin(p, &m, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects");
    return send_call(p, m, r, CBZ_CALL_LIST, "/", 0);
}

/// Calls a method whose first argument is the path of an object. With `has_options`, the second argument is an empty
/// dictionary.
static int call_with_object(
    cbz_peripheral *p, cbz_call kind, uint32_t index, const char *path, const char *interface,
    const char *member, const char *object, bool has_options) {
    sd_bus_message *m;
    int r = begin(p, &m, path, interface, member);
    if (r >= 0) r = sd_bus_message_append(m, "o", object);
    if (r >= 0 && has_options) r = sd_bus_message_append(m, "a{sv}", 0);
    return send_call(p, m, r, kind, path, index);
}

int cbz_register_application(cbz_peripheral *p, const char *adapter) {
    return call_with_object(
        p, CBZ_CALL_REGISTER_APPLICATION, 0, adapter, "org.bluez.GattManager1",
        "RegisterApplication", ROOT_PATH, true);
}

int cbz_register_advertisement(cbz_peripheral *p, const char *adapter, uint32_t index) {
    if (index >= p->advertisement_count) return EINVAL;
    return call_with_object(
        p, CBZ_CALL_REGISTER_ADVERTISEMENT, index, adapter, "org.bluez.LEAdvertisingManager1",
        "RegisterAdvertisement", p->advertisements[index].path, true);
}

int cbz_unregister_advertisement(cbz_peripheral *p, const char *adapter, uint32_t index) {
    if (index >= p->advertisement_count) return EINVAL;
    return call_with_object(
        p, CBZ_CALL_UNREGISTER_ADVERTISEMENT, index, adapter, "org.bluez.LEAdvertisingManager1",
        "UnregisterAdvertisement", p->advertisements[index].path, false);
}

int cbz_register_agent(cbz_peripheral *p) {
    static const char manager[] = "org.bluez.AgentManager1";
    sd_bus_message *m;
    int r = begin(p, &m, "/org/bluez", manager, "RegisterAgent");
    if (r >= 0) r = sd_bus_message_append(m, "os", AGENT_PATH, "DisplayOnly");
    int error = send_call(p, m, r, CBZ_CALL_REGISTER_AGENT, "/org/bluez", 0);
    if (error) return error;
    return call_with_object(
        p, CBZ_CALL_REGISTER_AGENT, 1, "/org/bluez", manager, "RequestDefaultAgent", AGENT_PATH,
        false);
}

static int set_property(
    cbz_peripheral *p, cbz_call kind, const char *adapter, const char *property,
    const char *alias, bool is_on) {
    sd_bus_message *m;
    int r = begin(p, &m, adapter, "org.freedesktop.DBus.Properties", "Set");
    if (r >= 0) r = sd_bus_message_append(m, "ss", "org.bluez.Adapter1", property);
    if (r >= 0)
        r = alias ? sd_bus_message_append(m, "v", "s", alias)
                  : sd_bus_message_append(m, "v", "b", (int)is_on);
    return send_call(p, m, r, kind, adapter, is_on);
}

int cbz_set_powered(cbz_peripheral *p, const char *adapter, bool is_on) {
    return set_property(p, CBZ_CALL_SET_POWERED, adapter, "Powered", NULL, is_on);
}

int cbz_set_pairable(cbz_peripheral *p, const char *adapter, bool is_on) {
    return set_property(p, CBZ_CALL_SET_PAIRABLE, adapter, "Pairable", NULL, is_on);
}

int cbz_set_alias(cbz_peripheral *p, const char *adapter, const char *alias) {
    return set_property(p, CBZ_CALL_SET_ALIAS, adapter, "Alias", alias, false);
}

int cbz_disconnect_device(cbz_peripheral *p, const char *device) {
    sd_bus_message *m;
    int r = begin(p, &m, device, "org.bluez.Device1", "Disconnect");
    return send_call(p, m, r, CBZ_CALL_DISCONNECT_DEVICE, device, 0);
}

int cbz_remove_device(cbz_peripheral *p, const char *adapter, const char *device) {
    return call_with_object(
        p, CBZ_CALL_REMOVE_DEVICE, 0, adapter, "org.bluez.Adapter1", "RemoveDevice", device,
        false);
}

int cbz_notify(
    cbz_peripheral *p, uint32_t characteristic, const uint8_t *bytes, size_t count) {
    if (characteristic >= p->characteristic_count || count > CBZ_VALUE_MAX) return EINVAL;
    if (!p->bus) return ENOTCONN;
    uint64_t waiting = 0;
    if (sd_bus_get_n_queued_write(p->bus, &waiting) >= 0 && waiting > NOTIFICATIONS_WAITING_MAX)
        return EAGAIN;
    sd_bus_message *m = NULL;
    int r = sd_bus_message_new_signal(
        p->bus, &m, p->characteristics[characteristic].path, "org.freedesktop.DBus.Properties",
        "PropertiesChanged");
    if (r >= 0) r = sd_bus_message_append(m, "s", "org.bluez.GattCharacteristic1");
    if (r >= 0) r = sd_bus_message_open_container(m, 'a', "{sv}");
    if (r >= 0) r = sd_bus_message_open_container(m, 'e', "sv");
    if (r >= 0) r = sd_bus_message_append(m, "s", "Value");
    if (r >= 0) r = sd_bus_message_open_container(m, 'v', "ay");
    if (r >= 0) r = sd_bus_message_append_array(m, 'y', bytes, count);
    for (int i = 0; i < 3 && r >= 0; i++) r = sd_bus_message_close_container(m);
    if (r >= 0) r = sd_bus_message_append(m, "as", 0);
    if (r >= 0) r = sd_bus_send(p->bus, m, NULL);
    sd_bus_message_unref(m);
    return r < 0 ? -r : 0;
}
