// A GATT peripheral at bluetoothd, over D-Bus (sd-bus). D-Bus stays behind this header: Swift sees a handle, a table of
// services, requests from phones, and events.
//
// Conventions: prefix `cbz_`; functions that can fail return 0 or a positive errno; no policy, no global state, no
// logging. One handle belongs to one thread. Nothing waits: calls to bluetoothd are answered by a CBZ_DONE event, and
// every callback comes from inside cbz_process. Strings in callbacks live until the callback returns.
#ifndef CBLUEZ_H
#define CBLUEZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Longest value of an attribute (Bluetooth Core 5.3, Vol 3, Part F, 3.2.9).
#define CBZ_VALUE_MAX 512

/// A peripheral: its table of services and at most one connection to a bus.
typedef struct cbz_peripheral cbz_peripheral;

/// What a central may do with a characteristic. CBZ_PROTECTED: only over a link encrypted with keys that were made with a
/// passkey.
enum {
    CBZ_READ = 1,
    CBZ_WRITE = 2,
    CBZ_WRITE_WITHOUT_RESPONSE = 4,
    CBZ_NOTIFY = 8,
    CBZ_PROTECTED = 16,
};

/// What bluetoothd is asked to do; names a call in a CBZ_DONE event.
typedef enum {
    CBZ_CALL_LIST,
    CBZ_CALL_REGISTER_APPLICATION,
    CBZ_CALL_UNREGISTER_APPLICATION,
    CBZ_CALL_REGISTER_ADVERTISEMENT,
    CBZ_CALL_UNREGISTER_ADVERTISEMENT,
    CBZ_CALL_REGISTER_AGENT,
    CBZ_CALL_UNREGISTER_AGENT,
    CBZ_CALL_SET_POWERED,
    CBZ_CALL_SET_PAIRABLE,
    CBZ_CALL_SET_ALIAS,
    CBZ_CALL_DISCONNECT_DEVICE,
    CBZ_CALL_REMOVE_DEVICE,
} cbz_call;

/// Interfaces of bluetoothd's objects that are followed.
typedef enum {
    CBZ_ADAPTER,
    CBZ_DEVICE,
    CBZ_GATT_MANAGER,
    CBZ_ADVERTISING_MANAGER,
    CBZ_INTERFACE_COUNT,
} cbz_interface;

typedef enum {
    /// bluetoothd has come (`number` 1) or gone (0). The first one says how it is.
    CBZ_DAEMON,
    /// `call` on `path` has ended; `name` and `text` are the error's name and message, empty after success; `number` is
    /// what the call was about: the advertisement's index, else 0.
    CBZ_DONE,
    /// `path` has (`number` 1) or no longer has (0) `interface`. Its properties follow.
    CBZ_OBJECT,
    /// `name` of `path`'s `interface` is `text` or, when it is not a string, `number`.
    CBZ_PROPERTY,
    /// bluetoothd no longer sends advertisement `number`.
    CBZ_ADVERTISEMENT_RELEASED,
    /// The agent is no longer asked.
    CBZ_AGENT_RELEASED,
    /// The device `path` waits for a person who types the passkey `number`, six digits.
    CBZ_PASSKEY,
    /// Pairing ended or was given up.
    CBZ_PASSKEY_OVER,
} cbz_event_kind;

/// Something that bluetoothd said.
typedef struct {
    cbz_event_kind kind;
    cbz_call call;
    cbz_interface interface;
    const char *path;
    const char *name;
    const char *text;
    int64_t number;
} cbz_event;

/// Who reads or writes a characteristic.
typedef struct {
    /// Characteristic, as cbz_add_characteristic counted it.
    uint32_t characteristic;
    /// bluetoothd's name of the device, "/org/bluez/hci0/dev_C0_1A_B0_00_00_02"; may be empty.
    const char *device;
    /// ATT MTU of the connection; 0: not said.
    uint16_t mtu;
    /// Of a write: names it in cbz_answer_write.
    uint64_t token;
} cbz_request;

/// What `write` returns when the answer comes later, by cbz_answer_write.
#define CBZ_LATER 0xFF

/// The ATT error of a fault of the peripheral's own.
#define CBZ_FAILED 0x86

/// What the peripheral's owner does. `read` fills at most CBZ_VALUE_MAX bytes. `read` and `write` return 0 or an ATT
/// error: 0x06, 0x07, 0x08, 0x0D or 0x80...0x9F; any other reaches the central as CBZ_FAILED.
typedef struct {
    void *context;
    uint8_t (*read)(void *context, const cbz_request *request, uint8_t *bytes, size_t *count);
    uint8_t (*write)(void *context, const cbz_request *request, const uint8_t *bytes, size_t count);
    /// The first central subscribed or the last unsubscribed.
    void (*subscription)(void *context, uint32_t characteristic, bool is_on);
    void (*event)(void *context, const cbz_event *event);
} cbz_callbacks;

/// What a handle holds at the moment, to be compared before and after.
typedef struct {
    /// Objects published on the bus.
    uint32_t objects;
    /// Signals subscribed to.
    uint32_t matches;
    /// Calls without an answer so far.
    uint32_t calls;
    /// Messages that wait to be sent or to be read.
    uint64_t queued;
} cbz_resources;

// MARK: The table, complete before the first connection

/// A peripheral without services; NULL when there is no memory.
cbz_peripheral *cbz_new(const cbz_callbacks *callbacks);

/// Closes the bus and frees everything.
void cbz_free(cbz_peripheral *peripheral);

/// Adds a primary service. `handle` is the GATT handle that is asked for, 0: whichever is free.
int cbz_add_service(cbz_peripheral *peripheral, const char *uuid, uint16_t handle);

/// Adds a characteristic to the last service; they are counted from 0 over all services, and get their handles in this
/// order. `name` is its user description.
int cbz_add_characteristic(
    cbz_peripheral *peripheral, const char *uuid, uint32_t flags, const char *name);

/// Adds an advertisement for a service's UUID with a complete name; counted from 0.
int cbz_add_advertisement(cbz_peripheral *peripheral, const char *uuid, const char *name);

/// Gives an advertisement another name, from its next registration on.
int cbz_rename_advertisement(cbz_peripheral *peripheral, uint32_t index, const char *name);

/// Whether the handles given to cbz_add_service are asked for (they are, at first).
void cbz_request_handles(cbz_peripheral *peripheral, bool is_on);

// MARK: The bus

/// Connects to the system bus, or to the bus at `address`; the answer is CBZ_DAEMON. Once until cbz_close.
int cbz_open(cbz_peripheral *peripheral, const char *address);

/// Leaves the bus: bluetoothd drops everything that was registered, no pending call is answered any more.
void cbz_close(cbz_peripheral *peripheral);

/// Whether cbz_open has succeeded and cbz_close not been called. The bus may have ended meanwhile: cbz_process says so.
bool cbz_is_open(cbz_peripheral *peripheral);

/// What poll(2) has to wait for: a descriptor, its events, and an absolute CLOCK_MONOTONIC time (INT64_MAX: none).
int cbz_poll(cbz_peripheral *peripheral, int *descriptor, int16_t *events, int64_t *deadline_ns);

/// Does what is due, at most `limit` messages, and calls back. `*is_more`: call again. An error (ECONNRESET, ENOTCONN)
/// means that the bus is gone: cbz_close, and open again later.
int cbz_process(cbz_peripheral *peripheral, uint32_t limit, bool *is_more);

/// What is held at the moment.
void cbz_count(cbz_peripheral *peripheral, cbz_resources *resources);

// MARK: To bluetoothd; each is answered by CBZ_DONE

/// Asks for all objects: CBZ_OBJECT and CBZ_PROPERTY for each, then CBZ_DONE.
int cbz_list(cbz_peripheral *peripheral);

int cbz_register_application(cbz_peripheral *peripheral, const char *adapter);
int cbz_unregister_application(cbz_peripheral *peripheral, const char *adapter);
int cbz_register_advertisement(cbz_peripheral *peripheral, const char *adapter, uint32_t index);
int cbz_unregister_advertisement(cbz_peripheral *peripheral, const char *adapter, uint32_t index);

/// Becomes the agent that shows passkeys (capability DisplayOnly), for every device.
int cbz_register_agent(cbz_peripheral *peripheral);
int cbz_unregister_agent(cbz_peripheral *peripheral);

/// On or off; a radio that rfkill blocks answers with org.bluez.Error.Blocked or Failed.
int cbz_set_powered(cbz_peripheral *peripheral, const char *adapter, bool is_on);
/// Whether phones may make new keys.
int cbz_set_pairable(cbz_peripheral *peripheral, const char *adapter, bool is_on);
/// The name that connected phones read (GAP device name).
int cbz_set_alias(cbz_peripheral *peripheral, const char *adapter, const char *alias);

/// Answers a write whose callback returned CBZ_LATER: 0 or an ATT error. Harmless when it has ended with its connection.
int cbz_answer_write(cbz_peripheral *peripheral, uint64_t token, uint8_t att);

int cbz_disconnect_device(cbz_peripheral *peripheral, const char *device);
/// Forgets a device and its keys.
int cbz_remove_device(cbz_peripheral *peripheral, const char *adapter, const char *device);

/// Sends a value to whoever subscribed. EAGAIN: the bus has not taken earlier ones yet; this one is dropped.
int cbz_notify(
    cbz_peripheral *peripheral, uint32_t characteristic, const uint8_t *bytes, size_t count);

#endif
