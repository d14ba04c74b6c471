// The D-Bus objects of the peripheral and their properties, which bluetoothd reads.
#include "CBlueZPrivate.h"

#include <errno.h>
#include <string.h>

/// Appends properties to a message: all of them as entries of a dictionary, or only the value of one requested
/// property.
typedef struct {
    sd_bus_message *message;
    /// Name of the requested property; NULL means all.
    const char *only;
    bool found;
    int result;
} writer;

static bool begin(writer *w, const char *name, const char *signature) {
    if (w->result < 0 || (w->only && strcmp(w->only, name) != 0)) return false;
    w->found = true;
    if (!w->only) {
        w->result = sd_bus_message_open_container(w->message, 'e', "sv");
        if (w->result >= 0) w->result = sd_bus_message_append(w->message, "s", name);
    }
    if (w->result >= 0) w->result = sd_bus_message_open_container(w->message, 'v', signature);
    return w->result >= 0;
}

static void end(writer *w) {
    if (w->result >= 0) w->result = sd_bus_message_close_container(w->message);
    if (w->result >= 0 && !w->only) w->result = sd_bus_message_close_container(w->message);
}

static void put_text(writer *w, const char *name, const char *signature, const char *value) {
    if (!begin(w, name, signature)) return;
    w->result = sd_bus_message_append(w->message, signature, value);
    end(w);
}

static void put_number(writer *w, const char *name, const char *signature, uint32_t value) {
    if (!begin(w, name, signature)) return;
    // The function is variadic: it reads values of types 'b', 'q' and 'u' as int.
    w->result = sd_bus_message_append(w->message, signature, value);
    end(w);
}

static void put_texts(writer *w, const char *name, const char *const *values) {
    if (!begin(w, name, "as")) return;
    w->result = sd_bus_message_open_container(w->message, 'a', "s");
    for (; *values && w->result >= 0; values++)
        w->result = sd_bus_message_append(w->message, "s", *values);
    if (w->result >= 0) w->result = sd_bus_message_close_container(w->message);
    end(w);
}

static void put_service(cbz_peripheral *p, writer *w, const service *s) {
    put_text(w, "UUID", "s", s->uuid);
    put_number(w, "Primary", "b", 1);
    // bluetoothd assigns the handles after this handle to the characteristics, in the order of the list.
    if (p->requests_handles && s->handle) put_number(w, "Handle", "q", s->handle);
}

static void put_characteristic(cbz_peripheral *p, writer *w, const characteristic *c) {
    const char *flags[8];
    int n = 0;
    bool is_protected = c->flags & CBZ_PROTECTED;
    if (c->flags & CBZ_READ) flags[n++] = is_protected ? "encrypt-authenticated-read" : "read";
    if (c->flags & CBZ_WRITE) flags[n++] = is_protected ? "encrypt-authenticated-write" : "write";
    if (c->flags & CBZ_WRITE_WITHOUT_RESPONSE) {
        flags[n++] = "write-without-response";
        // With this flag bluetoothd requires an encrypted link with authenticated keys for writes of both kinds.
        if (is_protected && !(c->flags & CBZ_WRITE)) flags[n++] = "encrypt-authenticated-write";
    }
    if (c->flags & CBZ_NOTIFY) {
        flags[n++] = "notify";
        if (is_protected) flags[n++] = "encrypt-authenticated-notify";
    }
    flags[n] = NULL;
    put_text(w, "UUID", "s", c->uuid);
    put_text(w, "Service", "o", p->services[c->service].path);
    put_texts(w, "Flags", flags);
}

static void put_description(writer *w, const characteristic *c) {
    static const char *const flags[] = {"read", NULL};
    put_text(w, "UUID", "s", "00002901-0000-1000-8000-00805f9b34fb");
    put_text(w, "Characteristic", "o", c->path);
    put_texts(w, "Flags", flags);
}

static void put_advertisement(writer *w, const advertisement *a) {
    const char *uuids[] = {a->uuid, NULL};
    put_text(w, "Type", "s", "peripheral");
    put_texts(w, "ServiceUUIDs", uuids);
    put_text(w, "LocalName", "s", a->name);
    put_number(w, "Discoverable", "b", 1);
    // Interval in ms. With this interval, phones find the peripheral immediately, and the radio has enough time for
    // connections.
    put_number(w, "MinInterval", "u", 100);
    put_number(w, "MaxInterval", "u", 150);
}

/// Writes the properties of one interface of one object; returns false if the object does not have the interface.
static bool put_object(
    cbz_peripheral *p, writer *w, const char *path, const char *interface) {
    if (strcmp(interface, "org.bluez.GattService1") == 0)
        for (uint32_t i = 0; i < p->service_count; i++)
            if (strcmp(path, p->services[i].path) == 0)
                return put_service(p, w, &p->services[i]), true;
    for (uint32_t i = 0; i < p->characteristic_count; i++) {
        const characteristic *c = &p->characteristics[i];
        if (strcmp(interface, "org.bluez.GattCharacteristic1") == 0 && strcmp(path, c->path) == 0)
            return put_characteristic(p, w, c), true;
        if (strcmp(interface, "org.bluez.GattDescriptor1") == 0
            && strcmp(path, c->description_path) == 0)
            return put_description(w, c), true;
    }
    if (strcmp(interface, "org.bluez.LEAdvertisement1") == 0)
        for (uint32_t i = 0; i < p->advertisement_count; i++)
            if (strcmp(path, p->advertisements[i].path) == 0)
                return put_advertisement(w, &p->advertisements[i]), true;
    return false;
}

int cbz_append_properties(
    cbz_peripheral *p, sd_bus_message *message, const char *path, const char *interface) {
    writer w = {.message = message};
    w.result = sd_bus_message_open_container(message, 'a', "{sv}");
    if (w.result < 0) return w.result;
    if (!put_object(p, &w, path, interface)) return -ENOENT;
    return w.result < 0 ? w.result : sd_bus_message_close_container(message);
}

int cbz_append_property(
    cbz_peripheral *p, sd_bus_message *message, const char *path, const char *interface,
    const char *name) {
    writer w = {.message = message, .only = name};
    if (!put_object(p, &w, path, interface) || !w.found) return -ENOENT;
    return w.result;
}

static int append_object(
    cbz_peripheral *p, sd_bus_message *m, const char *path, const char *interface) {
    int r = sd_bus_message_open_container(m, 'e', "oa{sa{sv}}");
    if (r >= 0) r = sd_bus_message_append(m, "o", path);
    if (r >= 0) r = sd_bus_message_open_container(m, 'a', "{sa{sv}}");
    if (r >= 0) r = sd_bus_message_open_container(m, 'e', "sa{sv}");
    if (r >= 0) r = sd_bus_message_append(m, "s", interface);
    if (r >= 0) r = cbz_append_properties(p, m, path, interface);
    for (int i = 0; i < 3 && r >= 0; i++) r = sd_bus_message_close_container(m);
    return r;
}

int cbz_append_objects(cbz_peripheral *p, sd_bus_message *m) {
    // bluetoothd assigns handles in the order of this list. The object manager of sd-bus is not used, because it does
    // not guarantee an order.
    int r = sd_bus_message_open_container(m, 'a', "{oa{sa{sv}}}");
    for (uint32_t s = 0; s < p->service_count && r >= 0; s++) {
        r = append_object(p, m, p->services[s].path, "org.bluez.GattService1");
        for (uint32_t i = 0; i < p->characteristic_count && r >= 0; i++) {
            const characteristic *c = &p->characteristics[i];
            if (c->service != s) continue;
            r = append_object(p, m, c->path, "org.bluez.GattCharacteristic1");
            if (r >= 0) r = append_object(p, m, c->description_path, "org.bluez.GattDescriptor1");
        }
    }
    return r < 0 ? r : sd_bus_message_close_container(m);
}
