#include <string.h>

#include "CResample.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { half = 1 << 13, shift = 14 };

static inline uint8_t clamp(int32_t sum) {
    const int32_t value = (sum + half) >> shift;
    return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
}

/* One output row, columns from..<to. Blocks of fixed width keep the sums in registers and let the compiler vectorise. */
static void row_plain(const uint8_t *source, size_t stride, const int16_t *coefficients, int32_t taps, int32_t from,
                      int32_t to, uint8_t *target) {
    enum { block = 64 };
    for (int32_t x = from; x < to; x += block) {
        const int32_t wide = to - x < block ? to - x : block;
        int32_t sums[block] = {0};
        for (int32_t k = 0; k < taps; k++) {
            const uint8_t *row = source + (size_t)k * stride + x;
            const int32_t coefficient = coefficients[k];
            for (int32_t i = 0; i < wide; i++) sums[i] += coefficient * row[i];
        }
        for (int32_t i = 0; i < wide; i++) target[x + i] = clamp(sums[i]);
    }
}

#if defined(__x86_64__)
/* Two coefficients as the pair that pmaddwd takes. */
static inline int32_t pair(int16_t first, int16_t second) {
    return (int32_t)((uint32_t)(uint16_t)first | (uint32_t)(uint16_t)second << 16);
}

static inline void block_sse2(const uint8_t *source, size_t stride, const int16_t *coefficients, int32_t taps,
                              uint8_t *target) {
    const __m128i zero = _mm_setzero_si128(), rounding = _mm_set1_epi32(half);
    __m128i a = rounding, b = rounding, c = rounding, d = rounding;
    for (int32_t k = 0; k < taps; k += 2) {
        const int has_second = k + 1 < taps;
        const uint8_t *row = source + (size_t)k * stride;
        const __m128i first = _mm_loadu_si128((const __m128i *)row);
        const __m128i second = has_second ? _mm_loadu_si128((const __m128i *)(row + stride)) : zero;
        const __m128i factors = _mm_set1_epi32(pair(coefficients[k], has_second ? coefficients[k + 1] : 0));
        const __m128i low = _mm_unpacklo_epi8(first, second), high = _mm_unpackhi_epi8(first, second);
        a = _mm_add_epi32(a, _mm_madd_epi16(_mm_unpacklo_epi8(low, zero), factors));
        b = _mm_add_epi32(b, _mm_madd_epi16(_mm_unpackhi_epi8(low, zero), factors));
        c = _mm_add_epi32(c, _mm_madd_epi16(_mm_unpacklo_epi8(high, zero), factors));
        d = _mm_add_epi32(d, _mm_madd_epi16(_mm_unpackhi_epi8(high, zero), factors));
    }
    const __m128i low = _mm_packs_epi32(_mm_srai_epi32(a, shift), _mm_srai_epi32(b, shift));
    const __m128i high = _mm_packs_epi32(_mm_srai_epi32(c, shift), _mm_srai_epi32(d, shift));
    _mm_storeu_si128((__m128i *)target, _mm_packus_epi16(low, high));
}

static void row_sse2(const uint8_t *source, size_t stride, const int16_t *coefficients, int32_t taps, int32_t width,
                     uint8_t *target) {
    int32_t x = 0;
    for (; x + 16 <= width; x += 16) block_sse2(source + x, stride, coefficients, taps, target + x);
    if (x == width) return;
    if (width >= 16)  /* the last block overlaps the one before: no read past the row */
        block_sse2(source + width - 16, stride, coefficients, taps, target + width - 16);
    else
        row_plain(source, stride, coefficients, taps, 0, width, target);
}

__attribute__((target("avx2"))) static inline void block_avx2(const uint8_t *source, size_t stride,
                                                              const int16_t *coefficients, int32_t taps,
                                                              uint8_t *target) {
    const __m256i zero = _mm256_setzero_si256(), rounding = _mm256_set1_epi32(half);
    __m256i a = rounding, b = rounding, c = rounding, d = rounding;
    for (int32_t k = 0; k < taps; k += 2) {
        const int has_second = k + 1 < taps;
        const uint8_t *row = source + (size_t)k * stride;
        const __m256i first = _mm256_loadu_si256((const __m256i *)row);
        const __m256i second = has_second ? _mm256_loadu_si256((const __m256i *)(row + stride)) : zero;
        const __m256i factors = _mm256_set1_epi32(pair(coefficients[k], has_second ? coefficients[k + 1] : 0));
        const __m256i low = _mm256_unpacklo_epi8(first, second), high = _mm256_unpackhi_epi8(first, second);
        a = _mm256_add_epi32(a, _mm256_madd_epi16(_mm256_unpacklo_epi8(low, zero), factors));
        b = _mm256_add_epi32(b, _mm256_madd_epi16(_mm256_unpackhi_epi8(low, zero), factors));
        c = _mm256_add_epi32(c, _mm256_madd_epi16(_mm256_unpacklo_epi8(high, zero), factors));
        d = _mm256_add_epi32(d, _mm256_madd_epi16(_mm256_unpackhi_epi8(high, zero), factors));
    }
    /* unpack and pack both stay within 128-bit lanes, so the columns come out in order */
    const __m256i low = _mm256_packs_epi32(_mm256_srai_epi32(a, shift), _mm256_srai_epi32(b, shift));
    const __m256i high = _mm256_packs_epi32(_mm256_srai_epi32(c, shift), _mm256_srai_epi32(d, shift));
    _mm256_storeu_si256((__m256i *)target, _mm256_packus_epi16(low, high));
}

__attribute__((target("avx2"))) static void row_avx2(const uint8_t *source, size_t stride,
                                                     const int16_t *coefficients, int32_t taps, int32_t width,
                                                     uint8_t *target) {
    int32_t x = 0;
    for (; x + 32 <= width; x += 32) block_avx2(source + x, stride, coefficients, taps, target + x);
    if (x == width) return;
    if (width >= 32)
        block_avx2(source + width - 32, stride, coefficients, taps, target + width - 32);
    else
        row_sse2(source, stride, coefficients, taps, width, target);
}
#endif

enum cr_kernel cr_best_kernel(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") ? cr_kernel_avx2 : cr_kernel_sse2;
#else
    return cr_kernel_plain;
#endif
}

void cr_scale_rows(enum cr_kernel kernel, const uint8_t *source, size_t source_stride, int32_t width,
                   const int32_t *starts, const int16_t *coefficients, int32_t taps, int32_t count, uint8_t *target,
                   size_t target_stride) {
    for (int32_t i = 0; i < count; i++) {
        const int16_t *row = coefficients + (size_t)i * (size_t)taps;
        int32_t first = 0, used = taps;
        /* Zero coefficients at the ends are work for nothing; without scaling all but one are zero. */
        while (used > 1 && row[first] == 0) first++, used--;
        while (used > 1 && row[first + used - 1] == 0) used--;
        const uint8_t *from = source + (size_t)(starts[i] + first) * source_stride;
        uint8_t *to = target + (size_t)i * target_stride;
        if (used == 1 && row[first] == 1 << shift)
            memcpy(to, from, (size_t)width);
#if defined(__x86_64__)
        else if (kernel == cr_kernel_avx2)
            row_avx2(from, source_stride, row + first, used, width, to);
        else if (kernel == cr_kernel_sse2)
            row_sse2(from, source_stride, row + first, used, width, to);
#endif
        else
            row_plain(from, source_stride, row + first, used, 0, width, to);
    }
    (void)kernel;
}

static void transpose_plain(const uint8_t *source, size_t source_stride, int32_t width, int32_t height,
                            uint8_t *target, size_t target_stride) {
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++)
            target[(size_t)x * target_stride + (size_t)y] = source[(size_t)y * source_stride + (size_t)x];
}

#if defined(__x86_64__)
static inline void interleave_16(const __m128i from[16], __m128i to[16]) {
    for (int i = 0; i < 8; i++) {
        to[2 * i] = _mm_unpacklo_epi8(from[i], from[i + 8]);
        to[2 * i + 1] = _mm_unpackhi_epi8(from[i], from[i + 8]);
    }
}

static inline void transpose_16x16(const uint8_t *source, size_t source_stride, uint8_t *target,
                                   size_t target_stride) {
    __m128i rows[16], mixed[16];
    for (int i = 0; i < 16; i++) rows[i] = _mm_loadu_si128((const __m128i *)(source + (size_t)i * source_stride));
    /* Four rounds of interleaving row i with row i + 8 turn rows into columns. Not a loop: one that copies back after
       each round keeps all of it in memory, and takes twice the time. */
    interleave_16(rows, mixed);
    interleave_16(mixed, rows);
    interleave_16(rows, mixed);
    interleave_16(mixed, rows);
    for (int i = 0; i < 16; i++) _mm_storeu_si128((__m128i *)(target + (size_t)i * target_stride), rows[i]);
}
#endif

void cr_transpose(enum cr_kernel kernel, const uint8_t *source, size_t source_stride, int32_t width, int32_t height,
                  uint8_t *target, size_t target_stride) {
    (void)kernel;
    /* Blocks, so that the 16 lines written at once stay in the nearest cache. */
    enum { side = 16 };
    for (int32_t x = 0; x < width; x += side) {
        for (int32_t y = 0; y < height; y += side) {
            const uint8_t *from = source + (size_t)y * source_stride + (size_t)x;
            uint8_t *to = target + (size_t)x * target_stride + (size_t)y;
            const int32_t wide = width - x < side ? width - x : side, high = height - y < side ? height - y : side;
#if defined(__x86_64__)
            if (wide == side && high == side && kernel != cr_kernel_plain) {
                transpose_16x16(from, source_stride, to, target_stride);
                continue;
            }
#endif
            transpose_plain(from, source_stride, wide, high, to, target_stride);
        }
    }
}
