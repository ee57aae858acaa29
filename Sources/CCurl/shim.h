#pragma once

#include <curl/curl.h>

/* curl_easy_setopt(3) and curl_easy_getinfo(3) are variadic, which Swift cannot call: one function per type of value. */

static inline CURLcode curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

/* libcurl copies the text, except for CURLOPT_POSTFIELDS. */
static inline CURLcode curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

/* libcurl copies CURLOPT_POSTFIELDSIZE_LARGE bytes, so the size goes first. */
static inline CURLcode curl_set_body(CURL *easy, const void *bytes, curl_off_t count) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, count);
    if (code != CURLE_OK) return code;
    return curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes);
}

/* libcurl keeps the list: it has to outlive the transfer. */
static inline CURLcode curl_set_headers(CURL *easy, struct curl_slist *list) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
}

/* libcurl keeps the context: it has to outlive the transfer. */
static inline CURLcode curl_set_writer(CURL *easy, curl_write_callback function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
    if (code != CURLE_OK) return code;
    return curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, function);
}

static inline CURLcode curl_set_progress(CURL *easy, curl_xferinfo_callback function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_XFERINFODATA, context);
    if (code != CURLE_OK) return code;
    code = curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, function);
    if (code != CURLE_OK) return code;
    return curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
}

static inline CURLcode curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

/* The text belongs to the handle and is good until its next transfer. */
static inline CURLcode curl_get_text(CURL *easy, CURLINFO info, const char **value) {
    char *text = NULL;
    CURLcode code = curl_easy_getinfo(easy, info, &text);
    *value = text;
    return code;
}

/* Whether the one transfer of `multi` is over, and how: 1 and its result, or 0. */
static inline int curl_multi_is_done(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL)
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return 1;
        }
    return 0;
}

/* Of the library that is loaded; CURLVERSION_NOW is a macro that Swift does not see. */
static inline const char *curl_loaded_version(void) { return curl_version_info(CURLVERSION_NOW)->version; }
