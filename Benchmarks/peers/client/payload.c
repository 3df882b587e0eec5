// What is published: text, as an event's JSON would be.
#include "peerbench.h"

#include <stdlib.h>
#include <string.h>

const uint8_t *payload;

void payload_prepare(void) {
    uint8_t *text = malloc((size_t)options.size + 1);
    memset(text, 'x', (size_t)options.size);
    text[options.size] = 0;
    payload = text;
}

static void write_hex(uint8_t *at, uint64_t value) {
    for (int i = 15; i >= 0; i--, value >>= 4) at[i] = (uint8_t)"0123456789abcdef"[value & 15];
}

static uint64_t read_hex(const uint8_t *at) {
    uint64_t value = 0;
    for (int i = 0; i < 16; i++)
        value = value << 4 | (uint64_t)(at[i] <= '9' ? at[i] - '0' : at[i] - 'a' + 10);
    return value;
}

void stamp(uint8_t *payload, uint64_t sequence, uint64_t time) {
    write_hex(payload, sequence);
    write_hex(payload + 16, time);
}

uint64_t stamped_sequence(const uint8_t *payload) { return read_hex(payload); }
uint64_t stamped_time(const uint8_t *payload) { return read_hex(payload + 16); }
