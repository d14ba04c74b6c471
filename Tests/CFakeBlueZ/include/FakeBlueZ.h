// bluetoothd as the tests of the shim need it, on a private bus: one adapter, takes registrations, calls
// characteristics as bluetoothd does and as it never would. Functions return 0 or a positive errno.
#ifndef FAKEBLUEZ_H
#define FAKEBLUEZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fake_bluez fake_bluez;

/// Numbers of received calls.
typedef struct {
    uint32_t applications, advertisements, agents, disconnections, switched_off;
    /// Properties that were set on the adapter.
    uint32_t powered, pairable;
    char alias[64];
    /// Answers to calls made here, how many of them were errors, and the name and text of the last error.
    uint64_t replies, errors;
    char error[128];
    char message[128];
    /// The last bytes read or notified.
    uint8_t value[512];
    size_t count;
    uint64_t notifications;
    /// Handles that the client asked for.
    uint16_t handles[4];
    uint32_t handle_count;
} fake_state;

/// Takes the name org.bluez on the bus at `address`.
int fake_open(const char *address, fake_bluez **fake);
/// Another program on the bus, with no name, which knows the client of `other`.
int fake_open_stranger(const char *address, fake_bluez *other, fake_bluez **fake);
/// Leaves the bus, as a killed bluetoothd.
void fake_close(fake_bluez *fake);
int fake_descriptor(fake_bluez *fake);
/// Handles what is there. Returns the number of messages, or a negative errno.
int fake_process(fake_bluez *fake);
const fake_state *fake_look(fake_bluez *fake);
/// Paths of the client's objects in the order of its list, each ended by a newline.
const char *fake_objects(fake_bluez *fake);
/// Gives the name up, but stays on the bus: a stranger.
int fake_abdicate(fake_bluez *fake);

/// The next calls of this member fail with this error; NULL: none does.
void fake_refuse(fake_bluez *fake, const char *member, const char *error, const char *message);
/// The adapter's unique traits: advertisements on air, and Powered.
int fake_say_active(fake_bluez *fake, uint8_t active);
int fake_say_powered(fake_bluez *fake, bool is_on);
/// A device is there and connected, or no longer.
int fake_connect(fake_bluez *fake, const char *device, bool is_on);
/// Reports the icon of a device.
int fake_say_icon(fake_bluez *fake, const char *device, const char *icon);
/// Reports whether there are keys for a device.
int fake_say_paired(fake_bluez *fake, const char *device, bool is_paired);

/// Asks the client's pairing agent to display a passkey, which a person types on the device.
int fake_show_passkey(fake_bluez *fake, const char *device, uint32_t passkey);

/// Calls a characteristic of the client as bluetoothd does; the answer is in the state.
int fake_write(
    fake_bluez *fake, const char *path, const char *device, const uint8_t *bytes, size_t count,
    uint16_t offset);
int fake_read(fake_bluez *fake, const char *path, const char *device, uint16_t offset);
/// Calls a method without arguments.
int fake_call(fake_bluez *fake, const char *path, const char *interface, const char *member);
/// Asks for a property.
int fake_get(fake_bluez *fake, const char *path, const char *interface, const char *name);
/// Calls a characteristic with arguments that bluetoothd would never send, of one of 8 kinds.
int fake_call_wrongly(fake_bluez *fake, const char *path, uint32_t kind);
/// Sends a signal that bluetoothd would never send, of one of 6 kinds.
int fake_signal_wrongly(fake_bluez *fake, uint32_t kind);
/// Sends the client a signal that looks like bluetoothd's or the bus's own, about `device`, of one of 5 kinds.
int fake_spoof(fake_bluez *fake, uint32_t kind, const char *device);

#endif
