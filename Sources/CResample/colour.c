#include <string.h>

#include "CResample.h"

static inline uint8_t clamp(int32_t value) { return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value; }

void cr_ycc_to_rgb(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, size_t count,
                   const struct cr_matrix *matrix, uint8_t *rgb) {
    const struct cr_matrix m = *matrix;
    for (size_t i = 0; i < count; i++) {
        const int32_t luma = (y[i] - m.black) * m.luma_gain + (1 << 15), b = cb[i] - 128, r = cr[i] - 128;
        rgb[3 * i] = clamp((luma + m.red_cr * r) >> 16);
        rgb[3 * i + 1] = clamp((luma - m.green_cb * b - m.green_cr * r) >> 16);
        rgb[3 * i + 2] = clamp((luma + m.blue_cb * b) >> 16);
    }
}

/* ITU-T T.871: the JPEG file interchange format's YCbCr, 16.16. */
static inline uint8_t luma(int32_t r, int32_t g, int32_t b) {
    return (uint8_t)((19595 * r + 38470 * g + 7471 * b + (1 << 15)) >> 16);
}
static inline uint8_t blue_difference(int32_t r, int32_t g, int32_t b, int32_t bits) {
    return clamp((-11059 * r - 21709 * g + 32768 * b + (128 << (16 + bits)) + (1 << (15 + bits)) - 1) >> (16 + bits));
}
static inline uint8_t red_difference(int32_t r, int32_t g, int32_t b, int32_t bits) {
    return clamp((32768 * r - 27439 * g - 5329 * b + (128 << (16 + bits)) + (1 << (15 + bits)) - 1) >> (16 + bits));
}

void cr_rgb_to_ycc(const uint8_t *rgb, size_t count, uint8_t *y, uint8_t *cb, uint8_t *cr) {
    for (size_t i = 0; i < count; i++) {
        const int32_t r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
        y[i] = luma(r, g, b);
        cb[i] = blue_difference(r, g, b, 0);
        cr[i] = red_difference(r, g, b, 0);
    }
}

/* value * alpha / 255, rounded, exact for all 8-bit operands */
static inline int32_t scaled(int32_t value, int32_t alpha) {
    const int32_t product = value * alpha + 128;
    return (product + (product >> 8)) >> 8;
}

void cr_rgba_to_ycc(const uint8_t *rgba, size_t count, uint8_t *y, uint8_t *cb, uint8_t *cr) {
    for (size_t i = 0; i < count; i++) {
        const int32_t a = rgba[4 * i + 3], white = 255 - a;
        const int32_t r = scaled(rgba[4 * i], a) + white, g = scaled(rgba[4 * i + 1], a) + white;
        const int32_t b = scaled(rgba[4 * i + 2], a) + white;
        y[i] = luma(r, g, b);
        cb[i] = blue_difference(r, g, b, 0);
        cr[i] = red_difference(r, g, b, 0);
    }
}

void cr_rgb_rows_to_420(const uint8_t *first, const uint8_t *second, int32_t width, uint8_t *y_first,
                        uint8_t *y_second, uint8_t *cb, uint8_t *cr) {
    for (int32_t x = 0; x < width; x += 2) {
        const int32_t left = 3 * x, right = x + 1 < width ? left + 3 : left;
        y_first[x] = luma(first[left], first[left + 1], first[left + 2]);
        y_first[x + 1] = luma(first[right], first[right + 1], first[right + 2]);
        y_second[x] = luma(second[left], second[left + 1], second[left + 2]);
        y_second[x + 1] = luma(second[right], second[right + 1], second[right + 2]);
        const int32_t r = first[left] + first[right] + second[left] + second[right];
        const int32_t g = first[left + 1] + first[right + 1] + second[left + 1] + second[right + 1];
        const int32_t b = first[left + 2] + first[right + 2] + second[left + 2] + second[right + 2];
        cb[x / 2] = blue_difference(r, g, b, 2);
        cr[x / 2] = red_difference(r, g, b, 2);
    }
}

void cr_cmyk_to_rgb(const uint8_t *cmyk, size_t count, int inverted, uint8_t *rgb) {
    const int32_t flip = inverted ? 0 : 255;
    for (size_t i = 0; i < count; i++) {
        const int32_t light = cmyk[4 * i + 3] ^ flip;
        for (size_t c = 0; c < 3; c++) rgb[3 * i + c] = (uint8_t)scaled(cmyk[4 * i + c] ^ flip, light);
    }
}

void cr_lookup(uint8_t *bytes, size_t count, const uint8_t table[256]) {
    for (size_t i = 0; i < count; i++) bytes[i] = table[bytes[i]];
}

void cr_narrow(const uint16_t *source, size_t count, int32_t depth, int is_full_range, uint8_t *target) {
    const uint32_t largest = (1u << depth) - 1;
    /* 32 bits behind the point: 255 / 65535 with fewer would round 128 * 257 up. */
    const uint64_t factor = is_full_range ? ((255ull << 32) + largest - 1) / largest : 1ull << (40 - depth);
    for (size_t i = 0; i < count; i++) {
        const uint64_t value = source[i] > largest ? largest : source[i];
        const uint64_t narrow = (value * factor + (1ull << 31)) >> 32;
        target[i] = narrow > 255 ? 255 : (uint8_t)narrow;
    }
}

void cr_flatten_row(uint8_t *target, int32_t width, uint8_t white, const uint8_t *alpha, size_t alpha_stride,
                    int32_t alpha_width, int32_t alpha_rows, int32_t horizontal, int32_t vertical,
                    int is_premultiplied) {
    for (int32_t x = 0; x < width; x++) {
        int32_t sum = 0;
        for (int32_t v = 0; v < vertical; v++) {
            const uint8_t *row = alpha + (size_t)(v < alpha_rows ? v : alpha_rows - 1) * alpha_stride;
            for (int32_t h = 0; h < horizontal; h++) {
                const int32_t column = x * horizontal + h;
                sum += row[column < alpha_width ? column : alpha_width - 1];
            }
        }
        const int32_t a = sum / (horizontal * vertical);
        const int32_t own = is_premultiplied ? target[x] : scaled(target[x], a);
        target[x] = clamp(own + scaled(white, 255 - a));
    }
}

void cr_tone_map(uint8_t *rgb, size_t count, const float linear[256], const float matrix[9], const uint8_t *tone,
                 int32_t tone_count) {
    const float scale = (float)(tone_count - 1);
    for (size_t i = 0; i < count; i++) {
        const float r = linear[rgb[3 * i]], g = linear[rgb[3 * i + 1]], b = linear[rgb[3 * i + 2]];
        for (size_t c = 0; c < 3; c++) {
            const float light = matrix[3 * c] * r + matrix[3 * c + 1] * g + matrix[3 * c + 2] * b;
            const float limited = light < 0 ? 0 : light > 1 ? 1 : light;
            rgb[3 * i + c] = tone[(int32_t)(limited * scale + 0.5f)];
        }
    }
}

void cr_interleave(const uint8_t *red, const uint8_t *green, const uint8_t *blue, size_t count, uint8_t *rgb) {
    for (size_t i = 0; i < count; i++) {
        rgb[3 * i] = red[i];
        rgb[3 * i + 1] = green[i];
        rgb[3 * i + 2] = blue[i];
    }
}
