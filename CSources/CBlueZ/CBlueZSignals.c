// State of bluetoothd: whether it runs, its objects, and their properties.
#include "CBlueZPrivate.h"

#include <errno.h>
#include <string.h>

static const char *const interfaces[CBZ_INTERFACE_COUNT] = {
    [CBZ_ADAPTER] = "org.bluez.Adapter1",
    [CBZ_DEVICE] = "org.bluez.Device1",
    [CBZ_GATT_MANAGER] = "org.bluez.GattManager1",
    [CBZ_ADVERTISING_MANAGER] = "org.bluez.LEAdvertisingManager1",
};

static bool is_followed(const char *name, cbz_interface *interface) {
    for (int i = 0; i < CBZ_INTERFACE_COUNT; i++)
        if (strcmp(name, interfaces[i]) == 0) {
            *interface = (cbz_interface)i;
            return true;
        }
    return false;
}

bool cbz_is_from(sd_bus_message *m, const char *name) {
    const char *sender = sd_bus_message_get_sender(m);
    return sender && name[0] && strcmp(sender, name) == 0;
}

static bool is_from_daemon(sd_bus_message *m, const cbz_peripheral *p) {
    return cbz_is_from(m, p->owner);
}

/// Reads a variant into the event; returns false if the value is neither a text nor an integer.
static int read_variant(sd_bus_message *m, cbz_event *event, bool *is_known) {
    const char *contents;
    char type;
    int r = sd_bus_message_peek_type(m, &type, &contents);
    if (r < 0) return r;
    *is_known = strlen(contents) == 1 && strchr("sobynqiu", contents[0]) != NULL;
    if (!*is_known) return sd_bus_message_skip(m, "v");
    union { uint8_t y; int16_t n; uint16_t q; int32_t i; uint32_t u; int b; const char *s; } value;
    r = sd_bus_message_read(m, "v", contents, &value);
    if (r < 0) return r;
    switch (contents[0]) {
    case 's': case 'o': event->text = value.s; break;
    case 'b': event->number = value.b != 0; break;
    case 'y': event->number = value.y; break;
    case 'n': event->number = value.n; break;
    case 'q': event->number = value.q; break;
    case 'i': event->number = value.i; break;
    case 'u': event->number = value.u; break;
    }
    return r;
}

/// Reads properties (a{sv}) and reports each as CBZ_PROPERTY.
static int report_properties(
    cbz_peripheral *p, sd_bus_message *m, const char *path, cbz_interface interface) {
    int r = sd_bus_message_enter_container(m, 'a', "{sv}");
    while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
        cbz_event event = {.kind = CBZ_PROPERTY, .path = path, .interface = interface};
        bool is_known = false;
        r = sd_bus_message_read(m, "s", &event.name);
        if (r >= 0) r = read_variant(m, &event, &is_known);
        if (r >= 0) r = sd_bus_message_exit_container(m);
        if (r >= 0 && is_known) cbz_emit(p, &event);
    }
    return r < 0 ? r : sd_bus_message_exit_container(m);
}

/// Reads interfaces with their properties (a{sa{sv}}), and reports each interface that `cbz_interface` contains.
static int report_interfaces(cbz_peripheral *p, sd_bus_message *m, const char *path) {
    int r = sd_bus_message_enter_container(m, 'a', "{sa{sv}}");
    while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sa{sv}")) > 0) {
        const char *name;
        cbz_interface interface;
        r = sd_bus_message_read(m, "s", &name);
        if (r < 0) return r;
        if (is_followed(name, &interface)) {
            cbz_emit(p, &(cbz_event){
                .kind = CBZ_OBJECT, .path = path, .interface = interface, .number = 1});
            r = report_properties(p, m, path, interface);
        } else {
            r = sd_bus_message_skip(m, "a{sv}");
        }
        if (r >= 0) r = sd_bus_message_exit_container(m);
    }
    return r < 0 ? r : sd_bus_message_exit_container(m);
}

int cbz_report_objects(cbz_peripheral *p, sd_bus_message *m) {
    if (sd_bus_message_has_signature(m, "a{oa{sa{sv}}}") <= 0) return -EBADMSG;
    int r = sd_bus_message_enter_container(m, 'a', "{oa{sa{sv}}}");
    while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "oa{sa{sv}}")) > 0) {
        const char *path;
        r = sd_bus_message_read(m, "o", &path);
        if (r >= 0) r = report_interfaces(p, m, path);
        if (r >= 0) r = sd_bus_message_exit_container(m);
    }
    return r < 0 ? r : sd_bus_message_exit_container(m);
}

// Handlers of signals. They ignore a signal that they cannot read, because the return of an error would end the
// connection.

static int on_added(sd_bus_message *m, void *context, sd_bus_error *error) {
    (void)error;
    const char *path;
    if (!is_from_daemon(m, context)) return 0;
    if (sd_bus_message_has_signature(m, "oa{sa{sv}}") > 0 && sd_bus_message_read(m, "o", &path) > 0)
        report_interfaces(context, m, path);
    return 0;
}

static int on_removed(sd_bus_message *m, void *context, sd_bus_error *error) {
    (void)error;
    const char *path, *name;
    if (!is_from_daemon(m, context)) return 0;
    if (sd_bus_message_has_signature(m, "oas") <= 0 || sd_bus_message_read(m, "o", &path) <= 0)
        return 0;
    if (sd_bus_message_enter_container(m, 'a', "s") <= 0) return 0;
    while (sd_bus_message_read(m, "s", &name) > 0) {
        cbz_interface interface;
        if (is_followed(name, &interface))
            cbz_emit(context, &(cbz_event){
                .kind = CBZ_OBJECT, .path = path, .interface = interface, .number = 0});
    }
    return 0;
}

static int on_changed(sd_bus_message *m, void *context, sd_bus_error *error) {
    (void)error;
    const char *name;
    cbz_interface interface;
    if (!is_from_daemon(m, context)) return 0;
    if (sd_bus_message_has_signature(m, "sa{sv}as") > 0 && sd_bus_message_read(m, "s", &name) > 0
        && is_followed(name, &interface))
        report_properties(context, m, sd_bus_message_get_path(m), interface);
    return 0;
}

static void set_owner(cbz_peripheral *p, const char *owner) {
    bool was = p->owner[0] != 0, is = owner[0] != 0;
    if (strcmp(owner, p->owner) == 0 || strlen(owner) >= sizeof p->owner) return;
    strcpy(p->owner, owner);
    // If the bus name passes directly to a new process, bluetoothd has also restarted.
    if (was) cbz_emit(p, &(cbz_event){.kind = CBZ_DAEMON, .number = 0});
    if (is) cbz_emit(p, &(cbz_event){.kind = CBZ_DAEMON, .number = 1});
}

static int on_owner_changed(sd_bus_message *m, void *context, sd_bus_error *error) {
    (void)error;
    const char *name, *before, *after;
    if (!cbz_is_from(m, BUS_NAME)) return 0;
    if (sd_bus_message_has_signature(m, "sss") > 0
        && sd_bus_message_read(m, "sss", &name, &before, &after) > 0
        && strcmp(name, "org.bluez") == 0)
        set_owner(context, after);
    return 0;
}

static int on_owner(sd_bus_message *m, void *context, sd_bus_error *error) {
    (void)error;
    cbz_peripheral *p = context;
    const char *owner;
    p->owner_query = sd_bus_slot_unref(p->owner_query);
    if (cbz_is_from(m, BUS_NAME) && !sd_bus_message_is_method_error(m, NULL)
        && sd_bus_message_read(m, "s", &owner) > 0)
        set_owner(p, owner);
    else
        cbz_emit(p, &(cbz_event){.kind = CBZ_DAEMON, .number = 0});
    return 0;
}

int cbz_watch(cbz_peripheral *p) {
    static const struct {
        const char *rule;
        sd_bus_message_handler_t handler;
    } rules[MATCHES] = {
        [MATCH_OWNER] = {
            "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
            "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.bluez'",
            on_owner_changed},
        [MATCH_ADDED] = {
            "type='signal',sender='org.bluez',"
            "interface='org.freedesktop.DBus.ObjectManager',member='InterfacesAdded'",
            on_added},
        [MATCH_REMOVED] = {
            "type='signal',sender='org.bluez',"
            "interface='org.freedesktop.DBus.ObjectManager',member='InterfacesRemoved'",
            on_removed},
        [MATCH_CHANGED] = {
            "type='signal',sender='org.bluez',path_namespace='/org/bluez',"
            "interface='org.freedesktop.DBus.Properties',member='PropertiesChanged'",
            on_changed},
    };
    int r = 0;
    for (int i = 0; i < MATCHES && r >= 0; i++)
        r = sd_bus_add_match_async(
            p->bus, &p->matches[i], rules[i].rule, rules[i].handler, NULL, p);
    if (r >= 0)
        r = sd_bus_call_method_async(
            p->bus, &p->owner_query, "org.freedesktop.DBus", "/org/freedesktop/DBus",
            "org.freedesktop.DBus", "GetNameOwner", on_owner, p, "s", "org.bluez");
    return r;
}
