#include "CBlueZPrivate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Time within which bluetoothd must answer a call, µs. A later answer is a failure.
enum { CALL_TIMEOUT_US = 10000000 };

// MARK: The table

cbz_peripheral *cbz_new(const cbz_callbacks *callbacks) {
    cbz_peripheral *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->callbacks = *callbacks;
    p->requests_handles = true;
    return p;
}

void cbz_free(cbz_peripheral *p) {
    if (!p) return;
    cbz_close(p);
    free(p);
}

static int copy(char *target, size_t capacity, const char *text) {
    size_t count = strlen(text);
    if (count >= capacity) return EINVAL;
    memcpy(target, text, count + 1);
    return 0;
}

int cbz_add_service(cbz_peripheral *p, const char *uuid, uint16_t handle) {
    if (p->bus) return EBUSY;
    if (p->service_count == SERVICES_MAX) return ENOSPC;
    service *s = &p->services[p->service_count];
    int error = copy(s->uuid, sizeof s->uuid, uuid);
    if (error) return error;
    s->handle = handle;
    snprintf(s->path, sizeof s->path, ROOT_PATH "/service%u", p->service_count);
    p->service_count++;
    return 0;
}

int cbz_add_characteristic(
    cbz_peripheral *p, const char *uuid, uint32_t flags, const char *name) {
    if (p->bus) return EBUSY;
    if (p->service_count == 0) return EINVAL;
    if (p->characteristic_count == CHARACTERISTICS_MAX) return ENOSPC;
    characteristic *c = &p->characteristics[p->characteristic_count];
    int error = copy(c->uuid, sizeof c->uuid, uuid);
    if (!error) error = copy(c->name, sizeof c->name, name);
    if (error) return error;
    c->service = p->service_count - 1;
    c->flags = flags;
    uint32_t index = p->characteristic_count++;
    snprintf(
        c->path, sizeof c->path, ROOT_PATH "/service%u/char%02u", c->service, index);
    snprintf(
        c->description_path, sizeof c->description_path, ROOT_PATH "/service%u/char%02u/name",
        c->service, index);
    return 0;
}

int cbz_add_advertisement(cbz_peripheral *p, const char *uuid, const char *name) {
    if (p->bus) return EBUSY;
    if (p->advertisement_count == ADVERTISEMENTS_MAX) return ENOSPC;
    advertisement *a = &p->advertisements[p->advertisement_count];
    int error = copy(a->uuid, sizeof a->uuid, uuid);
    if (!error) error = copy(a->name, sizeof a->name, name);
    if (error) return error;
    snprintf(a->path, sizeof a->path, ROOT_PATH "/advertisement%u", p->advertisement_count);
    p->advertisement_count++;
    return 0;
}

int cbz_rename_advertisement(cbz_peripheral *p, uint32_t index, const char *name) {
    if (index >= p->advertisement_count) return EINVAL;
    return copy(p->advertisements[index].name, sizeof p->advertisements[index].name, name);
}

void cbz_request_handles(cbz_peripheral *p, bool is_on) { p->requests_handles = is_on; }

// MARK: The bus

static int connect_bus(cbz_peripheral *p, const char *address) {
    if (!address) return sd_bus_open_system(&p->bus);
    int r = sd_bus_new(&p->bus);
    if (r >= 0) r = sd_bus_set_address(p->bus, address);
    if (r >= 0) r = sd_bus_set_bus_client(p->bus, true);
    if (r >= 0) r = sd_bus_start(p->bus);
    return r;
}

int cbz_open(cbz_peripheral *p, const char *address) {
    if (p->bus) return EISCONN;
    int r = connect_bus(p, address);
    if (r >= 0) r = sd_bus_set_method_call_timeout(p->bus, CALL_TIMEOUT_US);
    if (r >= 0) r = sd_bus_add_fallback(p->bus, &p->objects, ROOT_PATH, cbz_answer, p);
    if (r >= 0) r = cbz_watch(p);
    if (r >= 0) return 0;
    cbz_close(p);
    return -r;
}

static void free_pending(pending *call) {
    sd_bus_slot_unref(call->slot);
    free(call->path);
    free(call);
}

void cbz_close(cbz_peripheral *p) {
    while (p->calls) {
        pending *call = p->calls;
        p->calls = call->next;
        free_pending(call);
    }
    for (int i = 0; i < LATER_MAX; i++)
        p->later[i] = (later_write){.message = sd_bus_message_unref(p->later[i].message)};
    for (int i = 0; i < MATCHES; i++) p->matches[i] = sd_bus_slot_unref(p->matches[i]);
    p->owner_query = sd_bus_slot_unref(p->owner_query);
    p->objects = sd_bus_slot_unref(p->objects);
    p->owner[0] = 0;
    // The connection is closed without a flush, because a flush would wait for the bus, which can hang.
    if (p->bus) sd_bus_close(p->bus);
    p->bus = sd_bus_unref(p->bus);
}

bool cbz_is_open(cbz_peripheral *p) { return p->bus != NULL; }

int cbz_poll(cbz_peripheral *p, int *descriptor, int16_t *events, int64_t *deadline_ns) {
    if (!p->bus) return ENOTCONN;
    int fd = sd_bus_get_fd(p->bus), wanted = sd_bus_get_events(p->bus);
    uint64_t deadline_us = UINT64_MAX;
    int r = sd_bus_get_timeout(p->bus, &deadline_us);
    if (fd < 0) return -fd;
    if (wanted < 0) return -wanted;
    if (r < 0) return -r;
    *descriptor = fd;
    *events = (int16_t)wanted;
    *deadline_ns = deadline_us > INT64_MAX / 1000 ? INT64_MAX : (int64_t)deadline_us * 1000;
    return 0;
}

int cbz_process(cbz_peripheral *p, uint32_t limit, bool *is_more) {
    *is_more = false;
    for (uint32_t i = 0; i < limit; i++) {
        if (!p->bus) return ENOTCONN;
        int r = sd_bus_process(p->bus, NULL);
        if (r < 0) return -r;
        if (r == 0) return sd_bus_is_open(p->bus) > 0 ? 0 : ENOTCONN;
    }
    *is_more = true;
    return 0;
}

void cbz_count(cbz_peripheral *p, cbz_resources *resources) {
    *resources = (cbz_resources){0};
    if (!p->bus) return;
    resources->objects = p->objects ? 1 + p->service_count + 2 * p->characteristic_count
            + p->advertisement_count + 1 : 0;
    for (int i = 0; i < MATCHES; i++) resources->matches += p->matches[i] != NULL;
    for (pending *call = p->calls; call; call = call->next) resources->calls++;
    uint64_t reading = 0, writing = 0;
    if (sd_bus_get_n_queued_read(p->bus, &reading) >= 0
        && sd_bus_get_n_queued_write(p->bus, &writing) >= 0)
        resources->queued = reading + writing;
}

void cbz_emit(cbz_peripheral *p, const cbz_event *event) {
    cbz_event full = *event;
    if (!full.path) full.path = "";
    if (!full.name) full.name = "";
    if (!full.text) full.text = "";
    p->callbacks.event(p->callbacks.context, &full);
}
