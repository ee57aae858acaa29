#pragma once

#include <stdio.h>
#include <string.h>
#include <tiffio.h>

/* A file that lies in memory, as libtiff wants to be given it: it reads where the bytes are ("mapped") and opens nothing.
   What it complains of goes into `message`, the first time, and nowhere else. The calls are C, so that none of libtiff's
   own jumps (its JPEG codec has some) could ever cross a frame of Swift's. */
struct shim_tiff {
    const uint8_t *base;
    uint64_t size;
    uint64_t at;
    char message[256];
};

static tmsize_t shim_tiff_read(thandle_t handle, void *target, tmsize_t count) {
    struct shim_tiff *file = (struct shim_tiff *)handle;
    if (count <= 0 || file->at >= file->size) return 0;
    uint64_t there = file->size - file->at;
    tmsize_t now = (uint64_t)count < there ? count : (tmsize_t)there;
    memcpy(target, file->base + file->at, (size_t)now);
    file->at += (uint64_t)now;
    return now;
}

static tmsize_t shim_tiff_write(thandle_t handle, void *source, tmsize_t count) {
    (void)handle, (void)source, (void)count;
    return -1;
}

static toff_t shim_tiff_seek(thandle_t handle, toff_t offset, int whence) {
    struct shim_tiff *file = (struct shim_tiff *)handle;
    uint64_t from = whence == SEEK_CUR ? file->at : whence == SEEK_END ? file->size : 0;
    file->at = from + offset;
    return file->at;
}

static int shim_tiff_close(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t shim_tiff_size(thandle_t handle) { return ((struct shim_tiff *)handle)->size; }

static int shim_tiff_map(thandle_t handle, void **base, toff_t *size) {
    struct shim_tiff *file = (struct shim_tiff *)handle;
    *base = (void *)(uintptr_t)file->base;
    *size = file->size;
    return 1;
}

static void shim_tiff_unmap(thandle_t handle, void *base, toff_t size) { (void)handle, (void)base, (void)size; }

static int shim_tiff_note(TIFF *tiff, void *context, const char *module, const char *format, va_list values) {
    (void)tiff, (void)module;
    struct shim_tiff *file = (struct shim_tiff *)context;
    if (!file->message[0]) vsnprintf(file->message, sizeof file->message, format, values);
    return 1;
}

static int shim_tiff_ignore(TIFF *tiff, void *context, const char *module, const char *format, va_list values) {
    (void)tiff, (void)context, (void)module, (void)format, (void)values;
    return 1;
}

/* `file` has to outlive the handle. No single allocation for what the file states is larger than `limit`. */
static inline TIFF *shim_tiff_open(struct shim_tiff *file, tmsize_t limit) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, limit);
    TIFFOpenOptionsSetErrorHandlerExtR(options, shim_tiff_note, file);
    TIFFOpenOptionsSetWarningHandlerExtR(options, shim_tiff_ignore, file);
    TIFF *tiff = TIFFClientOpenExt("", "r", (thandle_t)file, shim_tiff_read, shim_tiff_write, shim_tiff_seek,
                                   shim_tiff_close, shim_tiff_size, shim_tiff_map, shim_tiff_unmap, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

/* TIFFGetField is variadic. 0: the tag is not there and has no default. */
static inline int shim_tiff_get16(TIFF *tiff, uint32_t tag, uint16_t *value) {
    return TIFFGetFieldDefaulted(tiff, tag, value);
}
static inline int shim_tiff_get32(TIFF *tiff, uint32_t tag, uint32_t *value) {
    return TIFFGetFieldDefaulted(tiff, tag, value);
}
static inline int shim_tiff_bytes(TIFF *tiff, uint32_t tag, uint32_t *count, void **bytes) {
    return TIFFGetField(tiff, tag, count, bytes);
}
static inline int shim_tiff_extras(TIFF *tiff, uint16_t *count, uint16_t **kinds) {
    return TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, count, kinds);
}
static inline int shim_tiff_map_of_colours(TIFF *tiff, uint16_t **red, uint16_t **green, uint16_t **blue) {
    return TIFFGetField(tiff, TIFFTAG_COLORMAP, red, green, blue);
}
/* JPEG inside hands out red, green and blue instead of what it stores. */
static inline int shim_tiff_set_rgb(TIFF *tiff) { return TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB); }
