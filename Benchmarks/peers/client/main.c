// peerbench: one client for every server, so that each is driven with the same work.
//
//     peerbench lat  --protocol P --address A [--subscribers N] [--request FILE --screen FILE]
//     peerbench flow --protocol P --address A [--subscribers N] [--window W] [--batch B]
//     peerbench req  --protocol P --address A [--connections C] [--depth K] [--request FILE]
//
// lat, flow: redis, mqtt, nats, dbus, atrium, atrium-oneway; lat: atrium-screens
// req: redis-ping, redis-xadd, dbus-ping, http, varlink, atrium-durable
//
// The address is unix:PATH or tcp:HOST:PORT. --servers PID,… adds the CPU time of the server a
// delivery or reply. Protocols are spoken directly on the socket, without a library, so that the
// client's share is small and alike. Every delivery is parsed, its size and sequence checked: one
// that is lost, doubled or out of order makes the exit status 1.
#include "peerbench.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Options options = {.protocol = "redis", .address = "", .servers = "", .subscribers = 1,
                   .size = 256, .window = 1024, .batch = 1, .connections = 1, .depth = 1,
                   .subjects = 1, .seconds = 2, .warm_up = 0.2};
const Protocol *protocol;

static const Protocol *const protocols[] = {
    &redis_bus, &redis_ping, &redis_xadd, &mqtt_bus, &nats_bus, &dbus_bus, &dbus_ping,
    &http, &varlink, &atrium_bus, &atrium_oneway, &atrium_durable,
    &atrium_screens};

static const struct {
    const char *name;
    const char **text;
    int *number;
    uint64_t *large;
    double *real;
} flags[] = {
    {"--protocol", .text = &options.protocol},
    {"--address", .text = &options.address},
    {"--servers", .text = &options.servers},
    {"--request", .text = &options.request},
    {"--screen", .text = &options.screen},
    {"--subscribers", .number = &options.subscribers},
    {"--size", .number = &options.size},
    {"--window", .number = &options.window},
    {"--batch", .number = &options.batch},
    {"--connections", .number = &options.connections},
    {"--depth", .number = &options.depth},
    {"--subjects", .large = &options.subjects},
    {"--first", .large = &options.first},
    {"--count", .large = &options.count},
    {"--seconds", .real = &options.seconds},
    {"--warm-up", .real = &options.warm_up},
};

static void read_flag(const char *name, const char *value) {
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strcmp(flags[i].name, name)) continue;
        if (flags[i].text) *flags[i].text = value;
        if (flags[i].number) *flags[i].number = atoi(value);
        if (flags[i].large) *flags[i].large = strtoull(value, NULL, 10);
        if (flags[i].real) *flags[i].real = atof(value);
        return;
    }
    die("there is no option %s", name);
}

int main(int argc, char **argv) {
    if (argc < 2 || argc % 2) die("a mode and options, each with a value");
    signal(SIGPIPE, SIG_IGN);
    for (int i = 2; i < argc; i += 2) read_flag(argv[i], argv[i + 1]);
    if (options.size < 33 || options.size > 4096) die("a size is 33 to 4,096");
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++)
        if (!strcmp(protocols[i]->name, options.protocol)) protocol = protocols[i];
    if (!protocol) die("there is no protocol %s", options.protocol);
    payload_prepare();
    if (options.request) template_load();
    if (protocol == &dbus_bus || protocol == &dbus_ping) dbus_prepare();
    bool requests = !strcmp(argv[1], "req");
    if (!requests && !protocol->subscribe) die("%s is for req", options.protocol);
    if (requests) return measure_requests();
    if (!strcmp(argv[1], "lat")) return measure_latency();
    if (!strcmp(argv[1], "flow")) return measure_flow();
    die("there is no mode %s", argv[1]);
}
