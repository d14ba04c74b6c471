// Declarations that the files of this library share.
#ifndef CBLUEZPRIVATE_H
#define CBLUEZPRIVATE_H

#include <systemd/sd-bus.h>

#include "CBlueZ.h"

#define CBZ_PRIVATE __attribute__((visibility("hidden")))
#define ROOT_PATH "/org/airframe"
/// Sender name of the bus itself.
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

/// A call that bluetoothd has not answered yet.
typedef struct pending {
    struct pending *next;
    cbz_peripheral *peripheral;
    sd_bus_slot *slot;
    cbz_call call;
    uint32_t index;
    char *path;
} pending;

/// A phone's write that cbz_answer_write answers later.
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
    /// Unique name of bluetoothd on the bus; empty while bluetoothd does not run. The peripheral refuses calls from
    /// every other sender.
    char owner[64];
};

/// Answers a call to one of the peripheral's objects (sd_bus_message_handler_t).
CBZ_PRIVATE int cbz_answer(sd_bus_message *message, void *context, sd_bus_error *error);

/// Appends the properties of the peripheral's object at `path` (a{sv}). Returns -ENOENT if the object does not have the
/// interface.
CBZ_PRIVATE int cbz_append_properties(
    cbz_peripheral *peripheral, sd_bus_message *message, const char *path, const char *interface);

/// Appends the value of one property of the peripheral's object at `path` (v). Returns -ENOENT if no property has this
/// name.
CBZ_PRIVATE int cbz_append_property(
    cbz_peripheral *peripheral, sd_bus_message *message, const char *path, const char *interface,
    const char *name);

/// Appends all GATT objects (a{oa{sa{sv}}}), in the order in which they were added to the table.
CBZ_PRIVATE int cbz_append_objects(cbz_peripheral *peripheral, sd_bus_message *message);

/// Returns whether the bus states this name as the sender of a message. A match rule cannot replace
/// this check, because it selects only broadcasts: any process can send a signal with any contents
/// directly to this connection.
CBZ_PRIVATE bool cbz_is_from(sd_bus_message *message, const char *name);

/// Adds the match rules for signals of bluetoothd and its objects.
CBZ_PRIVATE int cbz_watch(cbz_peripheral *peripheral);

/// Reads objects with their interfaces and properties (a{oa{sa{sv}}}), and reports each of them.
CBZ_PRIVATE int cbz_report_objects(cbz_peripheral *peripheral, sd_bus_message *message);

CBZ_PRIVATE void cbz_emit(cbz_peripheral *peripheral, const cbz_event *event);

#endif
