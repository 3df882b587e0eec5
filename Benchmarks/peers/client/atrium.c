// Varlink, requests from a template; and Atrium's notifications, which travel over it.
#include "peerbench.h"

#include <string.h>

#define PUBLISH "{\"method\":\"org.atrium.Notifications.Publish\","
#define TOPIC "\"parameters\":{\"topic\":\"bench.app.bus\","
#define PAYLOAD "\"payload\":{\"data\":\""
#define DATA "\"data\":\""
#define HAS(p, n, text) (memmem(p, n, text, sizeof text - 1) != NULL)

static void nothing(Connection *c) { (void)c; }

// Whether a reply is an error: it is searched, unless it is the same as the last one that was not.
static bool is_error(const uint8_t *p, size_t n) {
    static uint8_t known[4096];
    static size_t known_length;
    if (n && n == known_length && !memcmp(p, known, n)) return false;
    if (HAS(p, n, "\"error\"")) return true;
    known_length = n <= sizeof known ? n : 0;
    memcpy(known, p, known_length);
    return false;
}

size_t varlink_parse(Connection *c, const uint8_t *p, size_t n, Message *m) {
    (void)c;
    const uint8_t *end = n ? memchr(p, 0, n) : NULL;
    if (!end) return 0;
    m->bytes = p;
    m->count = (size_t)(end - p);
    m->kind = is_error(p, m->count) ? FAILURE : ACKNOWLEDGEMENT;
    return m->count + 1;
}

static void subscribe(Connection *c) {
    static const char call[] =
        "{\"method\":\"org.atrium.Notifications.Subscribe\",\"more\":true,"
        "\"parameters\":{\"topics\":[\"bench.app.bus\"]}}";
    put(c->fd, call, sizeof call);
    Message m = {0};
    while (!varlink_parse(c, c->in + c->start, c->end - c->start, &m))
        if (fill(c, true) != 1) die("atrium: closed before the reply to Subscribe");
    if (m.kind == FAILURE) die("atrium: %.*s", (int)m.count, m.bytes);
    c->start = c->end = 0;
}

static size_t make(uint8_t *out, const char *head, uint64_t sequence, uint64_t time) {
    size_t n = strlen(head), size = (size_t)options.size;
    memcpy(out, head, n);
    memcpy(out + n, payload, size);
    stamp(out + n, sequence, time);
    memcpy(out + n + size, "\"}}}", 5);
    return n + size + 5;
}

static size_t publish(Connection *c, uint8_t *out, uint64_t sequence, uint64_t time) {
    (void)c;
    return make(out, PUBLISH TOPIC PAYLOAD, sequence, time);
}

static size_t publish_oneway(Connection *c, uint8_t *out, uint64_t sequence, uint64_t time) {
    (void)c;
    return make(out, PUBLISH "\"oneway\":true," TOPIC PAYLOAD, sequence, time);
}

static size_t publish_durable(Connection *c, uint8_t *out, uint64_t sequence, uint64_t time) {
    (void)c;
    return make(out, PUBLISH TOPIC "\"durable\":true," PAYLOAD, sequence, time);
}

// Where the next payload of a reply begins, of which `left` bytes are to come. Notifications are
// alike but for their text: it is looked for at the last one's place before it is searched for.
static const uint8_t *next_payload(Connection *c, const uint8_t *p) {
    size_t mark = sizeof DATA - 1;
    if (c->stride >= mark && c->stride <= c->left && !memcmp(p + c->stride - mark, DATA, mark))
        return p + c->stride;
    const uint8_t *found = memmem(p, c->left, DATA, mark);
    return found ? found + mark : NULL;
}

// A reply holds any number of notifications: each is a message, and what is around them is skipped.
static size_t parse(Connection *c, const uint8_t *p, size_t n, Message *m) {
    bool begins = !c->left;
    if (begins) {
        const uint8_t *end = n ? memchr(p, 0, n) : NULL;
        if (!end) return 0;
        c->stride = 0;
        c->left = (size_t)(end - p) + 1;
    }
    size_t used = c->left, size = (size_t)options.size;
    const uint8_t *data = next_payload(c, p);
    if (data) {
        bool whole = (size_t)(data - p) + size < c->left && data[size] == '"';
        m->kind = DELIVERY;
        m->bytes = data;
        m->count = whole ? size : 0;
        c->stride = begins ? 0 : (size_t)(data - p);
        used = (size_t)(data - p) + m->count;
    } else {
        bool bad = HAS(p, used, "\"gap\":{") || (begins && HAS(p, used, "\"error\""));
        bool answer = begins && !HAS(p, used, "\"notifications\"");
        m->kind = bad ? FAILURE : answer ? ACKNOWLEDGEMENT : SKIPPED;
        m->bytes = p;
        m->count = used;
    }
    c->left -= used;
    return used;
}

const Protocol varlink = {
    .name = "varlink", .open = nothing, .make = template_make, .parse = varlink_parse,
    .replies = true};
const Protocol atrium_bus = {
    .name = "atrium", .open = nothing, .subscribe = subscribe, .make = publish, .parse = parse,
    .replies = true};
const Protocol atrium_oneway = {
    .name = "atrium-oneway", .open = nothing, .subscribe = subscribe, .make = publish_oneway,
    .parse = parse};
const Protocol atrium_durable = {
    .name = "atrium-durable", .open = nothing, .make = publish_durable, .parse = varlink_parse,
    .replies = true};
