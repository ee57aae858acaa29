#pragma once

#include <gif_lib.h>
#include <stdint.h>
#include <string.h>

/* A file that lies in memory. */
struct shim_gif {
    const uint8_t *base;
    size_t size;
    size_t at;
};

static int shim_gif_read(GifFileType *gif, GifByteType *target, int count) {
    struct shim_gif *file = (struct shim_gif *)gif->UserData;
    size_t there = file->size - file->at;
    size_t now = count < 0 ? 0 : (size_t)count < there ? (size_t)count : there;
    memcpy(target, file->base + file->at, now);
    file->at += now;
    return (int)now;
}

/* `file` has to outlive the handle. */
static inline GifFileType *shim_gif_open(struct shim_gif *file, int *error) {
    return DGifOpen(file, shim_gif_read, error);
}
