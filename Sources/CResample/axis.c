#include <math.h>

#include "CResample.h"

/* Duchon's windowed sinc with three lobes. */
static double lanczos3(double x) {
    x = fabs(x);
    if (x < 1e-9) return 1;
    if (x >= 3) return 0;
    const double angle = M_PI * x;
    return 3 * sin(angle) * sin(angle / 3) / (angle * angle);
}

/* The mean of r pixels weakens a wave of f cycles a sample by sin(pi f) / (r sin(pi f / r)), that is, for a start, by
   (1 - 1 / r^2) / 6 * (pi f)^2. Taps of -a, 1 + 2 a, -a strengthen it by 4 a (pi f)^2: this is the a that makes up for it. */
static double sharpening(int32_t reduction) {
    return reduction > 1 ? (1 - 1 / ((double)reduction * reduction)) / 24 : 0;
}

int32_t cr_taps(double step, int32_t reduction, int32_t length) {
    const double radius = 3 * fmax(fabs(step), 1) + (reduction > 1);
    const double taps = 2 * ceil(radius) + 1;
    return taps < length ? (int32_t)taps : length;
}

void cr_build_axis(double first, double step, int32_t reduction, int32_t length, int32_t count, int32_t taps,
                   int32_t *starts, int16_t *coefficients, double *weights) {
    const double spread = fmax(fabs(step), 1);
    const double radius = 3 * spread + (reduction > 1);
    const double side = sharpening(reduction);
    for (int32_t i = 0; i < count; i++) {
        const double centre = first + i * step;
        const double lowest = ceil(centre - radius - 0.5), highest = floor(centre + radius - 0.5);
        double low = fmin(fmax(lowest, 0), length - 1.0);
        if (low > length - taps) low = length - taps;
        const int32_t start = (int32_t)low;
        starts[i] = start;

        /* Samples beyond an edge are the edge's. */
        for (int32_t k = 0; k < taps; k++) weights[k] = 0;
        double sum = 0;
        for (double x = lowest; x <= highest; x++) {
            const double place = x + 0.5 - centre;
            double weight = lanczos3(place / spread);
            if (side > 0)
                weight += side * (2 * weight - lanczos3((place - 1) / spread) - lanczos3((place + 1) / spread));
            const double inside = fmin(fmax(x - start, 0), taps - 1.0);
            weights[(int32_t)inside] += weight;
            sum += weight;
        }
        /* Each coefficient takes over what its neighbour lost in rounding, so that the sum is exactly 1 << 14. */
        int16_t *row = coefficients + (size_t)i * (size_t)taps;
        double exact = 0;
        int32_t given = 0;
        for (int32_t k = 0; k < taps; k++) {
            exact += weights[k] / sum * 16384;
            const int32_t rounded = (int32_t)lrint(exact) - given;
            row[k] = (int16_t)rounded;
            given += rounded;
        }
    }
}
