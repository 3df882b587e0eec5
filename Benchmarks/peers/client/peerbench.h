// What the files of peerbench share; main.c says what the program does.
#pragma once
#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What the command line says.
typedef struct {
    const char *protocol, *address;
    const char *servers;   // process ids whose CPU time is told, with commas
    const char *request;   // file with the request of http and varlink
    const char *screen;    // file with the call that opens a screen
    int subscribers, size; // size: bytes of a payload
    int window, batch;     // messages ahead of their delivery; messages a write
    int connections, depth;
    uint64_t subjects;     // how many subjects %SUBJECT% goes round
    uint64_t first;        // the first sequence number of requests
    uint64_t count;        // requests after which to end; 0: by time alone
    double seconds, warm_up;
} Options;
extern Options options;

// ---- measuring (measure.c)

#define HISTOGRAM_STEPS (64 * 128)
// 128 steps an octave: under 0.8 % wide.
typedef struct {
    uint64_t count, largest, sum;
    uint32_t steps[HISTOGRAM_STEPS];
} Histogram;
void histogram_add(Histogram *h, uint64_t value);
void print_latency(const Histogram *h);
uint64_t now_ns(void);
uint64_t own_cpu_ns(void);
uint64_t server_cpu_ns(void);
void nap(double seconds);

// ---- connections (connection.c)

typedef struct {
    int fd, index;
    uint8_t *in;              // what came: from start to end
    size_t start, end, room;
    uint64_t expected;        // the sequence number of the next delivery
    uint64_t *asked;          // when outstanding requests were sent: a ring
    unsigned asked_head, asked_tail;
    size_t left, stride;      // Atrium: of a reply with several deliveries (atrium.c)
} Connection;
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
Connection *connection_new(int index);
void connection_renew(Connection *c);
void put(int fd, const void *bytes, size_t count);
// Reads what there is. 1: something came; 0: nothing, and not to be waited for; -1: closed.
int fill(Connection *c, bool wait);
// Drops lines until one begins like this.
void await_line(Connection *c, const char *prefix);

// ---- protocols

typedef enum { DELIVERY = 1, ACKNOWLEDGEMENT, SKIPPED, PING, FAILURE } Kind;
typedef struct {
    Kind kind;
    const uint8_t *bytes;
    size_t count;
    bool closes;              // the server closes the connection after this
} Message;
typedef struct {
    const char *name;
    void (*open)(Connection *);
    void (*subscribe)(Connection *);
    // Writes a message or request to out, and says how many bytes that took.
    size_t (*make)(Connection *, uint8_t *out, uint64_t sequence, uint64_t time);
    // The message that bytes begin with, and how many bytes it takes; 0: not whole yet.
    size_t (*parse)(Connection *, const uint8_t *bytes, size_t count, Message *);
    bool replies;             // each publish is answered
    // Whether a delivery is what has to come next; nil: size and sequence say so.
    bool (*follows)(Connection *, const Message *);
} Protocol;
extern const Protocol redis_bus, redis_ping, redis_xadd, mqtt_bus, nats_bus, dbus_bus, dbus_ping;
extern const Protocol http, varlink, atrium_bus, atrium_oneway, atrium_durable, atrium_screens;
extern const Protocol *protocol;
void dbus_prepare(void);
void template_load(void);
char *read_file(const char *path, size_t *length);
size_t template_make(Connection *c, uint8_t *out, uint64_t sequence, uint64_t time);
size_t varlink_parse(Connection *c, const uint8_t *bytes, size_t count, Message *m);
// Room that one message may take.
size_t message_room(void);

// ---- payloads (payload.c): text whose first 32 bytes are the sequence number and the time in hex

extern const uint8_t *payload;
void payload_prepare(void);
void stamp(uint8_t *payload, uint64_t sequence, uint64_t time);
uint64_t stamped_sequence(const uint8_t *payload);
uint64_t stamped_time(const uint8_t *payload);

// ---- deliveries (deliveries.c)

extern Connection *publisher, **subscribers;
extern uint64_t disorder;     // deliveries out of order, doubled or lost in between
// When set, the age of each delivery is kept here.
extern Histogram *_Atomic ages;
void open_all(void);
// Takes every whole message out of the buffer, checks it, and says how many were deliveries.
uint64_t take_deliveries(Connection *c);
uint64_t take_acknowledgements(Connection *c);
void print_head(const char *mode);

// ---- modes: each prints a line of JSON and returns the exit status

int measure_latency(void);
int measure_flow(void);
int measure_requests(void);
