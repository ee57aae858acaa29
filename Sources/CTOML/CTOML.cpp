#include "CTOML.h"

#include <deque>
#include <new>
#include <string>
#include <string_view>
#include <vector>

/* Errors come back as values, so nothing is thrown on bad text; what still can be (bad_alloc) is caught below. */
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

struct ctoml_document {
    std::vector<ctoml_node> nodes;
    std::deque<std::string> strings; /* a deque never moves what it holds: the nodes point into it */
    bool failed = false;
    ctoml_text reason{nullptr, 0};
    uint32_t line = 0, column = 0;

    ctoml_text keep(std::string_view text) {
        const std::string &kept = strings.emplace_back(text);
        return {kept.data(), kept.size()};
    }

    void fail(std::string_view why, const toml::source_position &at) {
        nodes.clear();
        failed = true;
        reason = keep(why);
        line = at.line;
        column = at.column;
    }

    /* Recursion is bounded: toml++ refuses more than 256 nested values. */
    void add(const toml::node &value, const toml::key *key, size_t parent) {
        ctoml_node node{};
        node.parent = parent;
        if (key) {
            node.key = keep(key->str());
            node.key_line = key->source().begin.line;
            node.key_column = key->source().begin.column;
        }
        node.line = value.source().begin.line;
        node.column = value.source().begin.column;
        const size_t self = nodes.size();
        if (const auto *table = value.as_table()) {
            node.kind = CTOML_TABLE;
            nodes.push_back(node);
            for (const auto &[name, child] : *table) add(child, &name, self);
        } else if (const auto *array = value.as_array()) {
            node.kind = CTOML_ARRAY;
            nodes.push_back(node);
            for (const auto &child : *array) add(child, nullptr, self);
        } else {
            node.kind = CTOML_DATE;
            if (const auto *string = value.as_string()) {
                node.kind = CTOML_STRING;
                node.string = keep(string->get());
            } else if (const auto *integer = value.as_integer()) {
                node.kind = CTOML_INTEGER;
                node.integer = integer->get();
            } else if (const auto *number = value.as_floating_point()) {
                node.kind = CTOML_FLOAT;
                node.number = number->get();
            } else if (const auto *boolean = value.as_boolean()) {
                node.kind = CTOML_BOOLEAN;
                node.boolean = boolean->get();
            }
            nodes.push_back(node);
        }
    }
};

extern "C" ctoml_document *ctoml_parse(const char *bytes, size_t length) {
    ctoml_document *document = nullptr;
    try {
        document = new ctoml_document;
        toml::parse_result result = toml::parse(std::string_view(bytes, length));
        if (result)
            document->add(result.table(), nullptr, SIZE_MAX);
        else
            document->fail(result.error().description(), result.error().source().begin);
        return document;
    } catch (...) {
        delete document;
        return nullptr;
    }
}

extern "C" void ctoml_free(ctoml_document *document) { delete document; }

extern "C" size_t ctoml_count(const ctoml_document *document) { return document->nodes.size(); }

extern "C" bool ctoml_node_at(const ctoml_document *document, size_t index, ctoml_node *node) {
    if (index >= document->nodes.size()) return false;
    *node = document->nodes[index];
    return true;
}

extern "C" bool ctoml_error(
    const ctoml_document *document, ctoml_text *reason, uint32_t *line, uint32_t *column) {
    if (!document->failed) return false;
    *reason = document->reason;
    *line = document->line;
    *column = document->column;
    return true;
}
