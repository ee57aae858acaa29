#pragma once
/* toml++ (TOML 1.0) behind a C face: bytes in, a flat list of positioned nodes out. No exception leaves it, and no C++
   type shows. Strings belong to the document and live until ctoml_free; they are UTF-8, of `length` bytes, and may hold
   NUL. Lines and columns count from 1, columns in characters; 0 means unknown. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ctoml_document;

enum ctoml_kind {
    CTOML_TABLE,
    CTOML_ARRAY,
    CTOML_STRING,
    CTOML_INTEGER,
    CTOML_FLOAT,
    CTOML_BOOLEAN,
    CTOML_DATE, /* any of TOML's date and time types; has no value here */
};

struct ctoml_text {
    const char *bytes;
    size_t length;
};

/* Parents come before their children; node 0 is the root table. */
struct ctoml_node {
    enum ctoml_kind kind;
    size_t parent; /* SIZE_MAX for the root */
    struct ctoml_text key; /* empty for the root and for elements of an array */
    uint32_t key_line, key_column;
    uint32_t line, column; /* of the value; of an element's header for [[name]] */
    struct ctoml_text string;
    int64_t integer;
    double number;
    bool boolean;
};

/* NULL only without memory. When the text is not TOML the document has no node, and ctoml_error says why and where. */
struct ctoml_document *ctoml_parse(const char *bytes, size_t length);
void ctoml_free(struct ctoml_document *document);

size_t ctoml_count(const struct ctoml_document *document);
/* False when `index` is not below ctoml_count. */
bool ctoml_node_at(const struct ctoml_document *document, size_t index, struct ctoml_node *node);
/* False when the text was parsed. */
bool ctoml_error(const struct ctoml_document *document, struct ctoml_text *reason, uint32_t *line, uint32_t *column);

#ifdef __cplusplus
}
#endif
