// Calls to the peripheral's objects: requests that bluetoothd passes on from phones, and requests of bluetoothd itself.
#include "CBlueZPrivate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_call(sd_bus_message *m, const char *interface, const char *member) {
    return sd_bus_message_is_method_call(m, interface, member) > 0;
}

static int refuse_arguments(sd_bus_message *m) {
    return sd_bus_reply_method_errorf(
        m, "org.bluez.Error.InvalidArguments", "Not called as documented");
}

/// Answers with the D-Bus error for which bluetoothd sends this ATT code (dbus_error_to_att_ecode in its
/// src/gatt-database.c).
static int refuse(sd_bus_message *m, uint8_t att) {
    switch (att) {
    case 0x06: return sd_bus_reply_method_errorf(m, "org.bluez.Error.NotSupported", "Not supported");
    case 0x07: return sd_bus_reply_method_errorf(m, "org.bluez.Error.InvalidOffset", "Offset");
    case 0x08: return sd_bus_reply_method_errorf(m, "org.bluez.Error.NotAuthorized", "Not now");
    case 0x0D:
        return sd_bus_reply_method_errorf(m, "org.bluez.Error.InvalidValueLength", "Length");
    default:
        if (att < 0x80 || att > 0x9F) att = CBZ_FAILED;
        return sd_bus_reply_method_errorf(m, "org.bluez.Error.Failed", "0x%02x", att);
    }
}

/// Reads the options of a request (a{sv}). Unknown options and options of another type are skipped.
static int read_options(sd_bus_message *m, cbz_request *request, uint16_t *offset) {
    int r = sd_bus_message_enter_container(m, 'a', "{sv}");
    while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
        const char *key, *contents;
        char type;
        r = sd_bus_message_read(m, "s", &key);
        if (r >= 0) r = sd_bus_message_peek_type(m, &type, &contents);
        if (r < 0) return r;
        if (strcmp(key, "device") == 0 && strcmp(contents, "o") == 0)
            r = sd_bus_message_read(m, "v", "o", &request->device);
        else if (strcmp(key, "mtu") == 0 && strcmp(contents, "q") == 0)
            r = sd_bus_message_read(m, "v", "q", &request->mtu);
        else if (strcmp(key, "offset") == 0 && strcmp(contents, "q") == 0)
            r = sd_bus_message_read(m, "v", "q", offset);
        else
            r = sd_bus_message_skip(m, "v");
        if (r >= 0) r = sd_bus_message_exit_container(m);
    }
    return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int reply_bytes(sd_bus_message *m, const void *bytes, size_t count, uint16_t offset) {
    if (offset > count) return refuse(m, 0x07);
    sd_bus_message *reply = NULL;
    int r = sd_bus_message_new_method_return(m, &reply);
    if (r >= 0)
        r = sd_bus_message_append_array(
            reply, 'y', (const char *)bytes + offset, count - offset);
    if (r >= 0) r = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return r < 0 ? r : 1;
}

static int read_value(cbz_peripheral *p, sd_bus_message *m, uint32_t index) {
    cbz_request request = {.characteristic = index, .device = ""};
    uint16_t offset = 0;
    if (sd_bus_message_has_signature(m, "a{sv}") <= 0) return refuse_arguments(m);
    if (read_options(m, &request, &offset) < 0) return refuse_arguments(m);
    if (!(p->characteristics[index].flags & CBZ_READ)) return refuse(m, 0x06);
    uint8_t bytes[CBZ_VALUE_MAX];
    size_t count = 0;
    uint8_t att = p->callbacks.read(p->callbacks.context, &request, bytes, &count);
    return att ? refuse(m, att) : reply_bytes(m, bytes, count, offset);
}

/// Keeps a write whose answer comes later, for example when the disk has stored a value. If LATER_MAX writes are
/// already waiting, the function refuses the write with ATT error 0x82, which means that the phone must try again.
static int keep_for_later(cbz_peripheral *p, sd_bus_message *m, uint64_t token) {
    for (int i = 0; i < LATER_MAX; i++)
        if (!p->later[i].message) {
            p->later[i] = (later_write){.token = token, .message = sd_bus_message_ref(m)};
            return 1;
        }
    return refuse(m, 0x82);
}

int cbz_answer_write(cbz_peripheral *p, uint64_t token, uint8_t att) {
    for (int i = 0; i < LATER_MAX; i++) {
        sd_bus_message *m = p->later[i].message;
        if (!m || p->later[i].token != token) continue;
        p->later[i] = (later_write){0};
        int r = att ? refuse(m, att) : sd_bus_reply_method_return(m, "");
        sd_bus_message_unref(m);
        return r < 0 ? -r : 0;
    }
    return ENOENT;
}

static int write_value(cbz_peripheral *p, sd_bus_message *m, uint32_t index) {
    cbz_request request = {.characteristic = index, .device = ""};
    uint16_t offset = 0;
    const void *bytes;
    size_t count;
    if (sd_bus_message_has_signature(m, "aya{sv}") <= 0) return refuse_arguments(m);
    if (sd_bus_message_read_array(m, 'y', &bytes, &count) < 0) return refuse_arguments(m);
    if (read_options(m, &request, &offset) < 0) return refuse_arguments(m);
    if (!(p->characteristics[index].flags & (CBZ_WRITE | CBZ_WRITE_WITHOUT_RESPONSE)))
        return refuse(m, 0x06);
    // bluetoothd combines the parts of a long write. If a write still has an offset, its beginning is missing.
    if (offset) return refuse(m, 0x07);
    if (count > CBZ_VALUE_MAX) return refuse(m, 0x0D);
    request.token = ++p->last_token;
    uint8_t att = p->callbacks.write(p->callbacks.context, &request, bytes, count);
    if (att == CBZ_LATER) return keep_for_later(p, m, request.token);
    return att ? refuse(m, att) : sd_bus_reply_method_return(m, "");
}

static int subscription(cbz_peripheral *p, sd_bus_message *m, uint32_t index, bool is_on) {
    if (!(p->characteristics[index].flags & CBZ_NOTIFY)) return refuse(m, 0x06);
    p->callbacks.subscription(p->callbacks.context, index, is_on);
    return sd_bus_reply_method_return(m, "");
}

static int answer_gatt(cbz_peripheral *p, sd_bus_message *m, const char *path) {
    static const char gatt[] = "org.bluez.GattCharacteristic1";
    for (uint32_t i = 0; i < p->characteristic_count; i++) {
        const characteristic *c = &p->characteristics[i];
        if (strcmp(path, c->path) == 0) {
            if (is_call(m, gatt, "ReadValue")) return read_value(p, m, i);
            if (is_call(m, gatt, "WriteValue")) return write_value(p, m, i);
            if (is_call(m, gatt, "StartNotify")) return subscription(p, m, i, true);
            if (is_call(m, gatt, "StopNotify")) return subscription(p, m, i, false);
            if (is_call(m, gatt, "Confirm")) return sd_bus_reply_method_return(m, "");
        }
        if (strcmp(path, c->description_path) == 0
            && is_call(m, "org.bluez.GattDescriptor1", "ReadValue")) {
            cbz_request request = {.device = ""};
            uint16_t offset = 0;
            if (sd_bus_message_has_signature(m, "a{sv}") <= 0
                || read_options(m, &request, &offset) < 0)
                return refuse_arguments(m);
            return reply_bytes(m, c->name, strlen(c->name), offset);
        }
    }
    return 0;
}

static int answer_properties(cbz_peripheral *p, sd_bus_message *m, const char *path) {
    static const char properties[] = "org.freedesktop.DBus.Properties";
    const char *interface, *name;
    bool is_all = is_call(m, properties, "GetAll");
    if (!is_all && !is_call(m, properties, "Get")) return 0;
    if (sd_bus_message_has_signature(m, is_all ? "s" : "ss") <= 0) return refuse_arguments(m);
    int r = is_all ? sd_bus_message_read(m, "s", &interface)
                   : sd_bus_message_read(m, "ss", &interface, &name);
    if (r < 0) return refuse_arguments(m);
    sd_bus_message *reply = NULL;
    r = sd_bus_message_new_method_return(m, &reply);
    if (r >= 0)
        r = is_all ? cbz_append_properties(p, reply, path, interface)
                   : cbz_append_property(p, reply, path, interface, name);
    if (r >= 0) r = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    if (r != -ENOENT) return r < 0 ? r : 1;
    return sd_bus_reply_method_errorf(
        m, is_all ? SD_BUS_ERROR_UNKNOWN_INTERFACE : SD_BUS_ERROR_UNKNOWN_PROPERTY,
        "There is no such property");
}

static int answer_objects(cbz_peripheral *p, sd_bus_message *m) {
    sd_bus_message *reply = NULL;
    int r = sd_bus_message_new_method_return(m, &reply);
    if (r >= 0) r = cbz_append_objects(p, reply);
    if (r >= 0) r = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return r < 0 ? r : 1;
}

static int answer_agent(cbz_peripheral *p, sd_bus_message *m) {
    static const char agent[] = "org.bluez.Agent1";
    const char *device;
    uint32_t passkey;
    if (is_call(m, agent, "DisplayPasskey")) {
        // bluetoothd calls this method once with the passkey, and again for each digit that has been typed on the
        // phone.
        uint16_t entered;
        if (sd_bus_message_has_signature(m, "ouq") <= 0
            || sd_bus_message_read(m, "ouq", &device, &passkey, &entered) < 0)
            return refuse_arguments(m);
        if (entered == 0)
            cbz_emit(p, &(cbz_event){.kind = CBZ_PASSKEY, .path = device, .number = passkey});
    } else if (is_call(m, agent, "Release")) {
        cbz_emit(p, &(cbz_event){.kind = CBZ_AGENT_RELEASED});
    } else if (is_call(m, agent, "Cancel")) {
        cbz_emit(p, &(cbz_event){.kind = CBZ_PASSKEY_OVER});
    } else {
        // The call would allow a pairing without a passkey, or with a passkey that the user must type on this computer.
        return sd_bus_reply_method_errorf(
            m, "org.bluez.Error.Rejected", "Only pairing with a passkey shown here is accepted");
    }
    return sd_bus_reply_method_return(m, "");
}

static int answer_release(cbz_peripheral *p, sd_bus_message *m, const char *path) {
    for (uint32_t i = 0; i < p->advertisement_count; i++)
        if (strcmp(path, p->advertisements[i].path) == 0) {
            cbz_emit(p, &(cbz_event){.kind = CBZ_ADVERTISEMENT_RELEASED, .number = i});
            return sd_bus_reply_method_return(m, "");
        }
    return 0;
}

int cbz_answer(sd_bus_message *m, void *context, sd_bus_error *error) {
    (void)error;
    cbz_peripheral *p = context;
    const char *path = sd_bus_message_get_path(m);
    const char *interface = sd_bus_message_get_interface(m);
    if (!path || !interface || strcmp(interface, "org.freedesktop.DBus.Peer") == 0) return 0;
    if (!cbz_is_from(m, p->owner))
        return sd_bus_reply_method_errorf(m, SD_BUS_ERROR_ACCESS_DENIED, "Only for bluetoothd");

    if (strncmp(interface, "org.bluez.Gatt", 14) == 0) return answer_gatt(p, m, path);
    if (strcmp(interface, "org.freedesktop.DBus.Properties") == 0)
        return answer_properties(p, m, path);
    if (strcmp(path, AGENT_PATH) == 0) return answer_agent(p, m);
    if (is_call(m, "org.bluez.LEAdvertisement1", "Release")) return answer_release(p, m, path);
    if (strcmp(path, ROOT_PATH) == 0
        && is_call(m, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))
        return answer_objects(p, m);
    return 0;
}
