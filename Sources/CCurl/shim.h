/* libcurl as the plugin Remote sees it. Swift calls no function that takes any number of arguments: those are
   wrapped here, one wrapper for each type of what is set or read. */
#ifndef ATRIUM_CCURL_H
#define ATRIUM_CCURL_H

#include <curl/curl.h>

typedef size_t (*curl_take_bytes)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode curl_set_take(CURL *easy, CURLoption option, curl_take_bytes value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode curl_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}

/* What a transfer that is done ended with; the message holds it in a union. */
static inline CURLcode curl_result_of(const CURLMsg *message) {
    return message->data.result;
}

#endif
