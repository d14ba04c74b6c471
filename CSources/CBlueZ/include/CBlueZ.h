// A GATT peripheral that is registered with bluetoothd over D-Bus (sd-bus). This header hides D-Bus: Swift uses a
// handle, a table of services, requests from phones, and events.
//
// Conventions: All names begin with `cbz_`. A function that can fail returns 0 or a positive errno. The functions make
// no decisions, keep no global state, and write no log. Only one thread may use a handle. No function waits: the result
// of a call to bluetoothd arrives as a CBZ_DONE event. Only cbz_process calls the callbacks. Strings in callbacks are
// valid until the callback returns.
#ifndef CBLUEZ_H
#define CBLUEZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Longest value of an attribute, bytes (Bluetooth Core 5.3, Vol 3, Part F, 3.2.9).
#define CBZ_VALUE_MAX 512

/// A peripheral with its table of services, and at most one connection to a bus.
typedef struct cbz_peripheral cbz_peripheral;

/// Accesses to a characteristic that a central is permitted. CBZ_PROTECTED permits these accesses only over an
/// encrypted link whose keys come from pairing with a passkey.
enum {
    CBZ_READ = 1,
    CBZ_WRITE = 2,
    CBZ_WRITE_WITHOUT_RESPONSE = 4,
    CBZ_NOTIFY = 8,
    CBZ_PROTECTED = 16,
};

/// Calls to bluetoothd. A CBZ_DONE event states the call that has ended.
typedef enum {
    CBZ_CALL_LIST,
    CBZ_CALL_REGISTER_APPLICATION,
    CBZ_CALL_REGISTER_ADVERTISEMENT,
    CBZ_CALL_UNREGISTER_ADVERTISEMENT,
    CBZ_CALL_REGISTER_AGENT,
    CBZ_CALL_SET_POWERED,
    CBZ_CALL_SET_PAIRABLE,
    CBZ_CALL_SET_ALIAS,
    CBZ_CALL_DISCONNECT_DEVICE,
    CBZ_CALL_REMOVE_DEVICE,
} cbz_call;

/// Interfaces of bluetoothd's objects whose appearance and properties are reported as events.
typedef enum {
    CBZ_ADAPTER,
    CBZ_DEVICE,
    CBZ_GATT_MANAGER,
    CBZ_ADVERTISING_MANAGER,
    CBZ_INTERFACE_COUNT,
} cbz_interface;

typedef enum {
    /// bluetoothd has started (`number` 1) or ended (0). The first such event states whether bluetoothd runs.
    CBZ_DAEMON,
    /// `call` on `path` has ended. `name` and `text` are the error's name and message; they are empty after success.
    /// `number` is the index of the advertisement for a call about an advertisement, the value that was set, 0 or 1,
    /// for CBZ_CALL_SET_POWERED and CBZ_CALL_SET_PAIRABLE, and 1 for the second call of cbz_register_agent. For all
    /// other calls `number` is 0.
    CBZ_DONE,
    /// The object `path` has `interface` now (`number` 1) or has it no longer (0). CBZ_PROPERTY events with the
    /// properties of a new interface follow.
    CBZ_OBJECT,
    /// The property `name` of the object `path`'s `interface` has the value `text`, or `number` if the value is not a
    /// string.
    CBZ_PROPERTY,
    /// bluetoothd no longer sends the advertisement with index `number`.
    CBZ_ADVERTISEMENT_RELEASED,
    /// bluetoothd no longer calls the agent.
    CBZ_AGENT_RELEASED,
    /// The device `path` waits for a person to type the passkey `number`, which has six digits.
    CBZ_PASSKEY,
    /// Pairing has ended, with or without success.
    CBZ_PASSKEY_OVER,
} cbz_event_kind;

/// An event. The comment at the value of `kind` states which fields the event uses.
typedef struct {
    cbz_event_kind kind;
    cbz_call call;
    cbz_interface interface;
    const char *path;
    const char *name;
    const char *text;
    int64_t number;
} cbz_event;

/// A central's request to read or write a characteristic.
typedef struct {
    /// Number of the characteristic, in the order of the cbz_add_characteristic calls, from 0.
    uint32_t characteristic;
    /// D-Bus path of the central, such as "/org/bluez/hci0/dev_C0_1A_B0_00_00_02"; can be empty.
    const char *device;
    /// ATT MTU of the connection, bytes; 0 if bluetoothd has not stated it.
    uint16_t mtu;
    /// Identifies a write for cbz_answer_write.
    uint64_t token;
} cbz_request;

/// Result of `write` if cbz_answer_write will answer later.
#define CBZ_LATER 0xFF

/// ATT error for a failure inside the peripheral.
#define CBZ_FAILED 0x86

/// Functions of the user of this library. `read` writes at most CBZ_VALUE_MAX bytes. `read` and `write` return 0 or an
/// ATT error: 0x06, 0x07, 0x08, 0x0D or 0x80...0x9F. The central receives CBZ_FAILED instead of any other error.
typedef struct {
    void *context;
    uint8_t (*read)(void *context, const cbz_request *request, uint8_t *bytes, size_t *count);
    uint8_t (*write)(void *context, const cbz_request *request, const uint8_t *bytes, size_t count);
    /// The first central has subscribed (`is_on` true), or the last one has unsubscribed (false).
    void (*subscription)(void *context, uint32_t characteristic, bool is_on);
    void (*event)(void *context, const cbz_event *event);
} cbz_callbacks;

/// Resources that a handle uses at present. Tests compare these numbers before and after an action.
typedef struct {
    /// Number of objects published on the bus.
    uint32_t objects;
    /// Number of match rules for signals.
    uint32_t matches;
    /// Number of calls that bluetoothd has not answered yet.
    uint32_t calls;
    /// Number of messages that wait to be sent or to be processed.
    uint64_t queued;
} cbz_resources;

// MARK: The table, complete before the first connection

/// Creates a peripheral without services; returns NULL if there is not enough memory.
cbz_peripheral *cbz_new(const cbz_callbacks *callbacks);

/// Closes the connection to the bus, and frees all memory of the peripheral.
void cbz_free(cbz_peripheral *peripheral);

/// Adds a primary service. `handle` is the GATT handle that bluetoothd is asked to assign; with 0, bluetoothd assigns a
/// free handle.
int cbz_add_service(cbz_peripheral *peripheral, const char *uuid, uint16_t handle);

/// Adds a characteristic to the last service. Characteristics are numbered from 0 over all services, and receive their
/// handles in this order. `name` is the characteristic's user description.
int cbz_add_characteristic(
    cbz_peripheral *peripheral, const char *uuid, uint32_t flags, const char *name);

/// Adds an advertisement of a service's UUID with a complete local name. Advertisements are numbered from 0.
int cbz_add_advertisement(cbz_peripheral *peripheral, const char *uuid, const char *name);

/// Changes the local name of an advertisement. The new name applies from the next registration on.
int cbz_rename_advertisement(cbz_peripheral *peripheral, uint32_t index, const char *name);

/// Sets whether bluetoothd is asked to assign the handles given to cbz_add_service; initially true.
void cbz_request_handles(cbz_peripheral *peripheral, bool is_on);

// MARK: The bus

/// Connects to the bus at `address`, or to the system bus if `address` is NULL. The event CBZ_DAEMON follows. The
/// handle can be opened again only after cbz_close.
int cbz_open(cbz_peripheral *peripheral, const char *address);

/// Disconnects from the bus. bluetoothd then removes all registrations, and no CBZ_DONE follows for pending calls.
void cbz_close(cbz_peripheral *peripheral);

/// Returns true if cbz_open has succeeded and cbz_close has not been called since. The result is true even if the bus
/// has ended; cbz_process reports the end of the bus.
bool cbz_is_open(cbz_peripheral *peripheral);

/// Returns the arguments for poll(2): the descriptor, its events, and the absolute CLOCK_MONOTONIC time at which the
/// wait must end; INT64_MAX means no end.
int cbz_poll(cbz_peripheral *peripheral, int *descriptor, int16_t *events, int64_t *deadline_ns);

/// Sends and processes waiting messages, at most `limit`, and calls the callbacks. If `*is_more` is true, messages
/// still wait, and the function must be called again. An error (ECONNRESET, ENOTCONN) means that the connection to the
/// bus has ended: the caller must then call cbz_close, and can open the bus again later.
int cbz_process(cbz_peripheral *peripheral, uint32_t limit, bool *is_more);

/// Reads the resources that the handle uses at present.
void cbz_count(cbz_peripheral *peripheral, cbz_resources *resources);

// MARK: To bluetoothd; each is answered by CBZ_DONE

/// Requests all objects of bluetoothd. CBZ_OBJECT and CBZ_PROPERTY follow for each object, then CBZ_DONE.
int cbz_list(cbz_peripheral *peripheral);

int cbz_register_application(cbz_peripheral *peripheral, const char *adapter);
int cbz_register_advertisement(cbz_peripheral *peripheral, const char *adapter, uint32_t index);
int cbz_unregister_advertisement(cbz_peripheral *peripheral, const char *adapter, uint32_t index);

/// Registers the handle as the agent that shows passkeys for every device (capability DisplayOnly). The function makes
/// two calls, so two CBZ_DONE events follow.
int cbz_register_agent(cbz_peripheral *peripheral);

/// Switches an adapter on or off. If rfkill blocks the radio, the call ends with org.bluez.Error.Blocked or Failed.
int cbz_set_powered(cbz_peripheral *peripheral, const char *adapter, bool is_on);
/// Sets whether phones can pair with an adapter.
int cbz_set_pairable(cbz_peripheral *peripheral, const char *adapter, bool is_on);
/// Sets the GAP device name, which connected phones can read.
int cbz_set_alias(cbz_peripheral *peripheral, const char *adapter, const char *alias);

/// Answers a write for which the callback returned CBZ_LATER, with 0 or an ATT error. If the write has ended with its
/// connection, the function returns ENOENT and has no effect.
int cbz_answer_write(cbz_peripheral *peripheral, uint64_t token, uint8_t att);

int cbz_disconnect_device(cbz_peripheral *peripheral, const char *device);
/// Removes a device and its keys from bluetoothd.
int cbz_remove_device(cbz_peripheral *peripheral, const char *adapter, const char *device);

/// Sends a value to all centrals that have subscribed. Returns EAGAIN if the bus has not accepted earlier values yet;
/// the function then drops this value.
int cbz_notify(
    cbz_peripheral *peripheral, uint32_t characteristic, const uint8_t *bytes, size_t count);

#endif
