#include "include/FakeBlueZ.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define ADAPTER "/org/bluez/hci0"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define CHARACTERISTIC "org.bluez.GattCharacteristic1"

struct fake_bluez {
    sd_bus *bus;
    fake_state state;
    char objects[4096];
    char client[64];
    char refused[64], error[128], message[128];
};

static int append_adapter(fake_bluez *f, sd_bus_message *m) {
    return sd_bus_message_append(
        m, "{oa{sa{sv}}}", ADAPTER, 3, "org.bluez.Adapter1", 4, "Address", "s",
        "0A:1A:B0:00:00:01", "Alias", "s", f->state.alias, "Powered", "b", (int)f->state.powered,
        "Pairable", "b", (int)f->state.pairable, "org.bluez.GattManager1", 0,
        "org.bluez.LEAdvertisingManager1", 2, "ActiveInstances", "y", f->state.advertisements,
        "SupportedInstances", "y", 5 - f->state.advertisements);
}

static int reply_objects(fake_bluez *f, sd_bus_message *m) {
    sd_bus_message *reply = NULL;
    int r = sd_bus_message_new_method_return(m, &reply);
    if (r >= 0) r = sd_bus_message_open_container(reply, 'a', "{oa{sa{sv}}}");
    if (r >= 0) r = append_adapter(f, reply);
    if (r >= 0) r = sd_bus_message_close_container(reply);
    if (r >= 0) r = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return r < 0 ? r : 1;
}

/// The client's list of objects: their paths and handles.
static int on_objects(sd_bus_message *m, void *context, sd_bus_error *error) {
    (void)error;
    fake_bluez *f = context;
    f->objects[0] = 0;
    f->state.handle_count = 0;
    if (sd_bus_message_enter_container(m, 'a', "{oa{sa{sv}}}") < 0) return 0;
    while (sd_bus_message_enter_container(m, 'e', "oa{sa{sv}}") > 0) {
        const char *path, *interface, *name;
        sd_bus_message_read(m, "o", &path);
        size_t used = strlen(f->objects);
        snprintf(f->objects + used, sizeof f->objects - used, "%s\n", path);
        sd_bus_message_enter_container(m, 'a', "{sa{sv}}");
        while (sd_bus_message_enter_container(m, 'e', "sa{sv}") > 0) {
            sd_bus_message_read(m, "s", &interface);
            sd_bus_message_enter_container(m, 'a', "{sv}");
            while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
                sd_bus_message_read(m, "s", &name);
                if (strcmp(name, "Handle") == 0 && f->state.handle_count < 4)
                    sd_bus_message_read(
                        m, "v", "q", &f->state.handles[f->state.handle_count++]);
                else
                    sd_bus_message_skip(m, "v");
                sd_bus_message_exit_container(m);
            }
            sd_bus_message_exit_container(m);
            sd_bus_message_exit_container(m);
        }
        sd_bus_message_exit_container(m);
        sd_bus_message_exit_container(m);
    }
    return 0;
}

static int set_property(fake_bluez *f, sd_bus_message *m) {
    const char *interface, *name, *contents, *text;
    char type;
    int value;
    if (sd_bus_message_read(m, "ss", &interface, &name) < 0) return -EINVAL;
    if (sd_bus_message_peek_type(m, &type, &contents) < 0) return -EINVAL;
    if (strcmp(name, "Alias") == 0 && sd_bus_message_read(m, "v", "s", &text) >= 0)
        snprintf(f->state.alias, sizeof f->state.alias, "%s", text);
    else if (sd_bus_message_read(m, "v", "b", &value) < 0)
        return -EINVAL;
    else if (strcmp(name, "Powered") != 0)
        f->state.pairable = value;
    else {
        f->state.switched_off += !value;
        fake_say_powered(f, value);
    }
    return sd_bus_reply_method_return(m, "");
}

static int on_call(sd_bus_message *m, void *context, sd_bus_error *error) {
    (void)error;
    fake_bluez *f = context;
    const char *member = sd_bus_message_get_member(m);
    snprintf(f->client, sizeof f->client, "%s", sd_bus_message_get_sender(m));
    if (f->refused[0] && strcmp(member, f->refused) == 0)
        return sd_bus_reply_method_errorf(m, f->error, "%s", f->message);
    if (strcmp(member, "GetManagedObjects") == 0) return reply_objects(f, m);
    if (strcmp(member, "Set") == 0) return set_property(f, m);
    if (strcmp(member, "RegisterApplication") == 0) {
        f->state.applications++;
        sd_bus_call_method_async(
            f->bus, NULL, f->client, "/org/airframe", "org.freedesktop.DBus.ObjectManager",
            "GetManagedObjects", on_objects, f, "");
    }
    if (strcmp(member, "RegisterAdvertisement") == 0) f->state.advertisements++;
    if (strcmp(member, "UnregisterAdvertisement") == 0) f->state.advertisements--;
    if (strcmp(member, "RegisterAgent") == 0) f->state.agents++;
    if (strcmp(member, "Disconnect") == 0) f->state.disconnections++;
    return sd_bus_reply_method_return(m, "");
}

static int on_notification(sd_bus_message *m, void *context, sd_bus_error *error) {
    (void)error;
    fake_bluez *f = context;
    const char *interface, *name;
    const void *bytes;
    if (sd_bus_message_read(m, "s", &interface) < 0) return 0;
    if (strcmp(interface, CHARACTERISTIC) != 0) return 0;
    if (sd_bus_message_enter_container(m, 'a', "{sv}") <= 0) return 0;
    if (sd_bus_message_enter_container(m, 'e', "sv") <= 0) return 0;
    if (sd_bus_message_read(m, "s", &name) < 0) return 0;
    if (sd_bus_message_enter_container(m, 'v', "ay") <= 0) return 0;
    if (sd_bus_message_read_array(m, 'y', &bytes, &f->state.count) < 0) return 0;
    memcpy(f->state.value, bytes, f->state.count);
    f->state.notifications++;
    return 0;
}

static int connect_bus(const char *address, fake_bluez *f) {
    f->state.powered = 1;
    strcpy(f->state.alias, "fake");
    int r = sd_bus_new(&f->bus);
    if (r >= 0) r = sd_bus_set_address(f->bus, address);
    if (r >= 0) r = sd_bus_set_bus_client(f->bus, true);
    if (r >= 0) r = sd_bus_start(f->bus);
    return r;
}

int fake_open_stranger(const char *address, fake_bluez *other, fake_bluez **fake) {
    fake_bluez *f = calloc(1, sizeof *f);
    if (!f) return ENOMEM;
    strcpy(f->client, other->client);
    int r = connect_bus(address, f);
    if (r >= 0) *fake = f;
    else fake_close(f);
    return r < 0 ? -r : 0;
}

int fake_open(const char *address, fake_bluez **fake) {
    fake_bluez *f = calloc(1, sizeof *f);
    if (!f) return ENOMEM;
    int r = connect_bus(address, f);
    if (r >= 0) r = sd_bus_add_fallback(f->bus, NULL, "/", on_call, f);
    if (r >= 0)
        r = sd_bus_add_match(
            f->bus, NULL,
            "type='signal',path_namespace='/org/airframe',interface='" PROPERTIES "'",
            on_notification, f);
    if (r >= 0) r = sd_bus_request_name(f->bus, "org.bluez", 0);
    if (r >= 0) {
        *fake = f;
        return 0;
    }
    fake_close(f);
    return -r;
}

void fake_close(fake_bluez *f) {
    if (f->bus) sd_bus_close(f->bus);
    sd_bus_unref(f->bus);
    free(f);
}

int fake_descriptor(fake_bluez *f) { return sd_bus_get_fd(f->bus); }

int fake_process(fake_bluez *f) {
    int count = 0, r;
    while ((r = sd_bus_process(f->bus, NULL)) > 0) count++;
    return r < 0 ? r : count;
}

const fake_state *fake_look(fake_bluez *f) { return &f->state; }

const char *fake_objects(fake_bluez *f) { return f->objects; }

int fake_abdicate(fake_bluez *f) { return sd_bus_release_name(f->bus, "org.bluez") < 0; }

void fake_refuse(fake_bluez *f, const char *member, const char *error, const char *message) {
    snprintf(f->refused, sizeof f->refused, "%s", member ? member : "");
    snprintf(f->error, sizeof f->error, "%s", error ? error : "");
    snprintf(f->message, sizeof f->message, "%s", message ? message : "");
}

static int emit_change(fake_bluez *f, const char *path, const char *types, ...) {
    sd_bus_message *m = NULL;
    va_list arguments;
    int r = sd_bus_message_new_signal(f->bus, &m, path, PROPERTIES, "PropertiesChanged");
    va_start(arguments, types);
    if (r >= 0) r = sd_bus_message_appendv(m, types, arguments);
    va_end(arguments);
    if (r >= 0) r = sd_bus_send(f->bus, m, NULL);
    sd_bus_message_unref(m);
    return r < 0 ? -r : 0;
}

int fake_say_active(fake_bluez *f, uint8_t active) {
    return emit_change(
        f, ADAPTER, "sa{sv}as", "org.bluez.LEAdvertisingManager1", 1, "ActiveInstances", "y",
        active, 0);
}

int fake_say_powered(fake_bluez *f, bool is_on) {
    f->state.powered = is_on;
    return emit_change(
        f, ADAPTER, "sa{sv}as", "org.bluez.Adapter1", 1, "Powered", "b", (int)is_on, 0);
}

int fake_connect(fake_bluez *f, const char *device, bool is_on) {
    return emit_change(
        f, device, "sa{sv}as", "org.bluez.Device1", 1, "Connected", "b", (int)is_on, 0);
}

int fake_say_icon(fake_bluez *f, const char *device, const char *icon) {
    return emit_change(f, device, "sa{sv}as", "org.bluez.Device1", 1, "Icon", "s", icon, 0);
}

int fake_say_paired(fake_bluez *f, const char *device, bool is_paired) {
    return emit_change(
        f, device, "sa{sv}as", "org.bluez.Device1", 1, "Paired", "b", (int)is_paired, 0);
}

static int on_reply(sd_bus_message *m, void *context, sd_bus_error *error) {
    (void)error;
    fake_bluez *f = context;
    const sd_bus_error *failure = sd_bus_message_get_error(m);
    const void *bytes;
    f->state.replies++;
    f->state.error[0] = f->state.message[0] = 0;
    if (failure) {
        f->state.errors++;
        snprintf(f->state.error, sizeof f->state.error, "%s", failure->name);
        snprintf(f->state.message, sizeof f->state.message, "%s", failure->message);
    } else if (sd_bus_message_has_signature(m, "ay")
        && sd_bus_message_read_array(m, 'y', &bytes, &f->state.count) >= 0) {
        memcpy(f->state.value, bytes, f->state.count);
    }
    return 0;
}

static int begin(
    fake_bluez *f, sd_bus_message **m, const char *path, const char *interface,
    const char *member) {
    return sd_bus_message_new_method_call(f->bus, m, f->client, path, interface, member);
}

static int send_call(fake_bluez *f, sd_bus_message *m, int r) {
    if (r >= 0) r = sd_bus_call_async(f->bus, NULL, m, on_reply, f, 0);
    sd_bus_message_unref(m);
    return r < 0 ? -r : 0;
}

int fake_show_passkey(fake_bluez *f, const char *device, uint32_t passkey) {
    sd_bus_message *m = NULL;
    int r = begin(f, &m, "/org/airframe/agent", "org.bluez.Agent1", "DisplayPasskey");
    if (r >= 0) r = sd_bus_message_append(m, "ouq", device, passkey, 0);
    return send_call(f, m, r);
}

static int append_options(sd_bus_message *m, const char *device, uint16_t offset) {
    return sd_bus_message_append(
        m, "a{sv}", 4, "device", "o", device, "offset", "q", offset, "link", "s", "LE", "mtu",
        "q", 185);
}

int fake_write(
    fake_bluez *f, const char *path, const char *device, const uint8_t *bytes, size_t count,
    uint16_t offset) {
    sd_bus_message *m = NULL;
    int r = begin(f, &m, path, CHARACTERISTIC, "WriteValue");
    if (r >= 0) r = sd_bus_message_append_array(m, 'y', bytes, count);
    if (r >= 0) r = append_options(m, device, offset);
    return send_call(f, m, r);
}

int fake_read(fake_bluez *f, const char *path, const char *device, uint16_t offset) {
    sd_bus_message *m = NULL;
    int r = begin(f, &m, path, CHARACTERISTIC, "ReadValue");
    if (r >= 0) r = append_options(m, device, offset);
    return send_call(f, m, r);
}

int fake_call(fake_bluez *f, const char *path, const char *interface, const char *member) {
    sd_bus_message *m = NULL;
    int r = begin(f, &m, path, interface, member);
    return send_call(f, m, r);
}

int fake_get(fake_bluez *f, const char *path, const char *interface, const char *name) {
    sd_bus_message *m = NULL;
    int r = begin(f, &m, path, PROPERTIES, "Get");
    if (r >= 0) r = sd_bus_message_append(m, "ss", interface, name);
    return send_call(f, m, r);
}

int fake_call_wrongly(fake_bluez *f, const char *path, uint32_t kind) {
    static const char *const members[] = {
        "WriteValue", "WriteValue", "ReadValue", "ReadValue", "StartNotify", "AcquireWrite",
        "WriteValue", "WriteValue"};
    sd_bus_message *m = NULL;
    int r = begin(f, &m, path, CHARACTERISTIC, members[kind % 8]);
    if (r < 0) return -r;
    switch (kind % 8) {
    case 0: break;                                                      // no arguments
    case 1: r = sd_bus_message_append(m, "s", "not bytes"); break;
    case 2: r = sd_bus_message_append(m, "a{ss}", 1, "device", "/x"); break;
    case 3: r = sd_bus_message_append(m, "a{sv}", 2, "device", "u", 7, "offset", "s", "x"); break;
    case 4: r = sd_bus_message_append(m, "ay", 3, 1, 2, 3); break;      // one too many
    case 5: r = sd_bus_message_append(m, "a{sv}", 0); break;            // not implemented
    case 6: r = sd_bus_message_append(                                  // nested option
                m, "aya{sv}", 1, 9, 1, "device", "a{sv}", 1, "mtu", "as", 1, "x"); break;
    case 7: r = sd_bus_message_append(m, "aya{sv}", 0, 1, "mtu", "q", 0); break;
    }
    return send_call(f, m, r);
}

int fake_spoof(fake_bluez *f, uint32_t kind, const char *device) {
    static const char manager[] = "org.freedesktop.DBus.ObjectManager";
    static const char bus[] = "org.freedesktop.DBus";
    sd_bus_message *m = NULL;
    int r;
    switch (kind % 5) {
    case 0: // bluetoothd is gone
        r = sd_bus_message_new_signal(f->bus, &m, "/org/freedesktop/DBus", bus, "NameOwnerChanged");
        if (r >= 0) r = sd_bus_message_append(m, "sss", "org.bluez", ":1.0", "");
        break;
    case 1: // a phone is connected
    case 2: // a phone is gone
        r = sd_bus_message_new_signal(f->bus, &m, device, PROPERTIES, "PropertiesChanged");
        if (r >= 0)
            r = sd_bus_message_append(
                m, "sa{sv}as", "org.bluez.Device1", 1, "Connected", "b", (int)(kind % 5 == 1), 0);
        break;
    case 3: // a device has appeared
        r = sd_bus_message_new_signal(f->bus, &m, "/", manager, "InterfacesAdded");
        if (r >= 0)
            r = sd_bus_message_append(
                m, "oa{sa{sv}}", device, 1, "org.bluez.Device1", 1, "Connected", "b", 1);
        break;
    default: // the adapter is gone
        r = sd_bus_message_new_signal(f->bus, &m, "/", manager, "InterfacesRemoved");
        if (r >= 0) r = sd_bus_message_append(m, "oas", ADAPTER, 1, "org.bluez.Adapter1");
    }
    if (r >= 0) r = sd_bus_message_set_destination(m, f->client);
    if (r >= 0) r = sd_bus_send(f->bus, m, NULL);
    sd_bus_message_unref(m);
    return r < 0 ? -r : 0;
}

int fake_signal_wrongly(fake_bluez *f, uint32_t kind) {
    static const char manager[] = "org.freedesktop.DBus.ObjectManager";
    switch (kind % 6) {
    case 0: return emit_change(f, ADAPTER, "s", "org.bluez.Adapter1");
    case 1: return emit_change(
            f, ADAPTER, "sa{sv}as", "org.bluez.Adapter1", 2, "Powered", "s", "perhaps", "Alias",
            "b", 1, 0);
    case 2: return emit_change(
            f, ADAPTER, "sa{sv}as", "org.bluez.Device1", 1, "Connected", "as", 1, "x", 0);
    case 3: return -sd_bus_emit_signal(f->bus, "/", manager, "InterfacesAdded", "s", "x") > 0;
    case 4: return -sd_bus_emit_signal(f->bus, "/", manager, "InterfacesRemoved", "o", "/x") > 0;
    default: return -sd_bus_emit_signal(
            f->bus, "/", manager, "InterfacesAdded", "oa{sa{sv}}", "/x", 1, "org.bluez.Device1",
            1, "Connected", "d", 1.5) > 0;
    }
}
