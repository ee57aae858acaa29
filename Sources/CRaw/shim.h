#pragma once

#include <libraw/libraw.h>

/* A pointer to the first byte behind a structure that ends in `data[1]`, which Swift sees as one byte. */
static inline const unsigned char *shim_raw_bytes(const libraw_processed_image_t *image) { return image->data; }
