#pragma once

#include <stddef.h>
#include <stdint.h>

/* Loops over 8-bit planes that have to be fast: scaling, transposing, and changing colour. No allocation, no state; the
   caller owns every buffer and has checked every length. Coordinates are continuous: sample i covers [i, i + 1). */

#if defined(__cplusplus)
extern "C" {
#endif

/* --- scaling: separable Lanczos3, 8 bits in and out, 14-bit coefficients (resample.c) --- */

/* How many source samples one output sample is made of, when neighbouring outputs are `step` source samples apart, and
   each sample is the mean of `reduction` pixels. */
int32_t cr_taps(double step, int32_t reduction, int32_t length);

/* Fills one axis' filter: for output i in 0..<count, centred at first + i * step in a source of `length` samples,
   starts[i] and taps coefficients that sum to 1 << 14. A negative step reads the source backwards. Samples beyond an
   edge are the edge's. What the mean of `reduction` pixels took from fine detail is given back: 1 for none. `taps` is
   cr_taps(step, reduction, length); `weights` is room for as many. */
void cr_build_axis(double first, double step, int32_t reduction, int32_t length, int32_t count, int32_t taps,
                   int32_t *starts, int16_t *coefficients, double *weights);

/* Which code runs. All give the same bytes; tests compare them. */
enum cr_kernel { cr_kernel_plain, cr_kernel_sse2, cr_kernel_avx2 };

/* The fastest that this processor can run. */
enum cr_kernel cr_best_kernel(void);

/* Scales vertically: `count` rows of `width` bytes each. The kernel is one up to cr_best_kernel(). */
void cr_scale_rows(enum cr_kernel kernel, const uint8_t *source, size_t source_stride, int32_t width,
                   const int32_t *starts, const int16_t *coefficients, int32_t taps, int32_t count, uint8_t *target,
                   size_t target_stride);

/* target[x][y] = source[y][x] for a source of `width` by `height` bytes. */
void cr_transpose(enum cr_kernel kernel, const uint8_t *source, size_t source_stride, int32_t width, int32_t height,
                  uint8_t *target, size_t target_stride);

/* --- colour (colour.c) --- */

/* What Y, Cb and Cr mean: RGB = (Y - black) * gain + (C - 128) * factors, all in 0...255, 16.16 fixed point. */
struct cr_matrix {
    int32_t black;
    int32_t luma_gain;
    int32_t red_cr, green_cb, green_cr, blue_cb;
};

void cr_ycc_to_rgb(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, size_t count,
                   const struct cr_matrix *matrix, uint8_t *rgb);

void cr_interleave(const uint8_t *red, const uint8_t *green, const uint8_t *blue, size_t count, uint8_t *rgb);

/* JFIF: BT.601, full range. Three planes of the same size. */
void cr_rgb_to_ycc(const uint8_t *rgb, size_t count, uint8_t *y, uint8_t *cb, uint8_t *cr);

/* As above from RGBA on white. */
void cr_rgba_to_ycc(const uint8_t *rgba, size_t count, uint8_t *y, uint8_t *cb, uint8_t *cr);

/* Two rows of `width` pixels to two rows of luma and one of centred chroma, (width + 1) / 2 samples. `second` may be
   `first`, for the last row of an odd height. Luma rows get one more sample when width is odd. */
void cr_rgb_rows_to_420(const uint8_t *first, const uint8_t *second, int32_t width, uint8_t *y_first,
                        uint8_t *y_second, uint8_t *cb, uint8_t *cr);

/* Ink to light for pictures without a profile: 0 is no ink, K multiplies. `inverted` for Adobe's 255 is no ink. */
void cr_cmyk_to_rgb(const uint8_t *cmyk, size_t count, int inverted, uint8_t *rgb);

void cr_lookup(uint8_t *bytes, size_t count, const uint8_t table[256]);

/* Samples of `depth` bits in 16-bit words to 8 bits. Full range maps the largest value to 255, otherwise shifts. */
void cr_narrow(const uint16_t *source, size_t count, int32_t depth, int is_full_range, uint8_t *target);

/* target = target * a + white * (1 - a), or target + white * (1 - a) where it is multiplied already, for a row of samples,
   each `horizontal` by `vertical` pixels of alpha (rows from `alpha` on, alpha_stride apart, `alpha_width` wide,
   `alpha_rows` of them). */
void cr_flatten_row(uint8_t *target, int32_t width, uint8_t white, const uint8_t *alpha, size_t alpha_stride,
                    int32_t alpha_width, int32_t alpha_rows, int32_t horizontal, int32_t vertical,
                    int is_premultiplied);

/* Scene or display light of HDR video to sRGB: table gives linear light 0...65535 for each 8-bit code, matrix the
   primaries' change (16.16), tone the sRGB code for each linear value / 16. */
void cr_tone_map(uint8_t *rgb, size_t count, const float linear[256], const float matrix[9], const uint8_t *tone,
                 int32_t tone_count);

#if defined(__cplusplus)
}
#endif
