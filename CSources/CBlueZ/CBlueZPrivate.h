// What the files of this shim share.
#ifndef CBLUEZPRIVATE_H
#define CBLUEZPRIVATE_H

#include <systemd/sd-bus.h>

#include "CBlueZ.h"

#define CBZ_PRIVATE __attribute__((visibility("hidden")))
#define ROOT_PATH "/org/airframe"
/// The bus itself, as a sender.
#define BUS_NAME "org.freedesktop.DBus"
#define AGENT_PATH ROOT_PATH "/agent"

enum { SERVICES_MAX = 4, CHARACTERISTICS_MAX = 32, ADVERTISEMENTS_MAX = 4, PATH_MAX_BYTES = 64, LATER_MAX = 16 };

typedef struct {
    char path[PATH_MAX_BYTES];
    char uuid[37];
    uint16_t handle;
} service;

typedef struct {
    char path[PATH_MAX_BYTES];
    char description_path[PATH_MAX_BYTES];
    char uuid[37];
    char name[64];
    uint32_t service;
    uint32_t flags;
} characteristic;

typedef struct {
    char path[PATH_MAX_BYTES];
    char uuid[37];
    char name[64];
} advertisement;

/// A call to bluetoothd that has no answer yet.
typedef struct pending {
    struct pending *next;
    cbz_peripheral *peripheral;
    sd_bus_slot *slot;
    cbz_call call;
    uint32_t index;
    char *path;
} pending;

/// A write that is answered later.
typedef struct {
    uint64_t token;
    sd_bus_message *message;
} later_write;

enum { MATCH_OWNER, MATCH_ADDED, MATCH_REMOVED, MATCH_CHANGED, MATCHES };

struct cbz_peripheral {
    cbz_callbacks callbacks;
    service services[SERVICES_MAX];
    characteristic characteristics[CHARACTERISTICS_MAX];
    advertisement advertisements[ADVERTISEMENTS_MAX];
    uint32_t service_count, characteristic_count, advertisement_count;
    bool requests_handles;

    sd_bus *bus;
    sd_bus_slot *objects;
    sd_bus_slot *owner_query;
    sd_bus_slot *matches[MATCHES];
    pending *calls;
    later_write later[LATER_MAX];
    uint64_t last_token;
    /// bluetoothd's unique name on the bus; empty while it is absent. Nobody else is served.
    char owner[64];
};

/// Answers a call to one of our objects (sd_bus_message_handler_t).
CBZ_PRIVATE int cbz_answer(sd_bus_message *message, void *context, sd_bus_error *error);

/// Appends a{sv}: the properties of our object at `path`; -ENOENT when it has no such interface.
CBZ_PRIVATE int cbz_append_properties(
    cbz_peripheral *peripheral, sd_bus_message *message, const char *path, const char *interface);

/// Appends v: one of these properties; -ENOENT when there is none of this name.
CBZ_PRIVATE int cbz_append_property(
    cbz_peripheral *peripheral, sd_bus_message *message, const char *path, const char *interface,
    const char *name);

/// Appends a{oa{sa{sv}}}: every GATT object, in the order in which the table was made.
CBZ_PRIVATE int cbz_append_objects(cbz_peripheral *peripheral, sd_bus_message *message);

/// Whether the bus says that a message comes from this name. A match rule is no such check: it selects broadcasts, but a signal
/// that is sent to this connection alone arrives from every sender, with any contents.
CBZ_PRIVATE bool cbz_is_from(sd_bus_message *message, const char *name);

/// Follows bluetoothd and its objects.
CBZ_PRIVATE int cbz_watch(cbz_peripheral *peripheral);

/// Reads a{oa{sa{sv}}} and reports each object and property.
CBZ_PRIVATE int cbz_report_objects(cbz_peripheral *peripheral, sd_bus_message *message);

CBZ_PRIVATE void cbz_emit(cbz_peripheral *peripheral, const cbz_event *event);

#endif
