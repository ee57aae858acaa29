import CResample
import Glibc
import Testing

@Suite("Scaling a plane") struct ResampleTests {
    private static var kernels: [cr_kernel] {
        [cr_kernel_plain, cr_kernel_sse2, cr_kernel_avx2].filter { $0.rawValue <= cr_best_kernel().rawValue }
    }

    /// The same numbers each time (Numerical Recipes' linear congruential generator).
    private static func noise(_ count: Int) -> [UInt8] {
        var state = UInt32(2026)
        return (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(state >> 24)
        }
    }

    private struct Axis {
        var starts: [Int32]
        var coefficients: [Int16]
        var taps: Int32

        init(from length: Int, to count: Int, flipped: Bool = false, reduction: Int32 = 1) {
            let step = Double(length) / Double(count)
            taps = cr_taps(step, reduction, Int32(length))
            starts = [Int32](repeating: 0, count: count)
            coefficients = [Int16](repeating: 0, count: count * Int(taps))
            var weights = [Double](repeating: 0, count: Int(taps))
            unsafe cr_build_axis(
                flipped ? Double(length) - step / 2 : step / 2, flipped ? -step : step, reduction, Int32(length),
                Int32(count), taps, &starts, &coefficients, &weights)
        }
    }

    private func scaled(_ plane: [UInt8], width: Int, _ axis: Axis, _ kernel: cr_kernel) -> [UInt8] {
        var target = [UInt8](repeating: 0xaa, count: width * axis.starts.count)
        unsafe cr_scale_rows(
            kernel, plane, width, Int32(width), axis.starts, axis.coefficients, axis.taps, Int32(axis.starts.count),
            &target, width)
        return target
    }

    @Test(arguments: [1, 7, 15, 16, 17, 31, 32, 33, 100, 333])
    func `gives the same bytes by every kernel at every width`(width: Int) {
        let plane = Self.noise(width * 90)
        for count in [1, 13, 53, 90, 140] {
            let axis = Axis(from: 90, to: count, flipped: count == 53)
            let results = Self.kernels.map { scaled(plane, width: width, axis, $0) }
            for result in results { #expect(result == results[0]) }
        }
    }

    /// Lanczos3 in floating point over the whole column, edge samples repeated: within a rounding step or two.
    @Test(arguments: [(90, 53), (90, 20), (64, 64), (10, 25)])
    func `agrees with the formula`(length: Int, count: Int) throws {
        let plane = Self.noise(length)
        let result = scaled(plane, width: 1, Axis(from: length, to: count), cr_kernel_plain)
        let step = Double(length) / Double(count)
        let spread = max(step, 1)
        func lanczos(_ x: Double) -> Double {
            if x == 0 { return 1 }
            return abs(x) >= 3 ? 0 : 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x)
        }
        for i in 0..<count {
            let centre = (Double(i) + 0.5) * step
            var (sum, total) = (0.0, 0.0)
            for sample in -60..<length + 60 {
                let weight = lanczos((Double(sample) + 0.5 - centre) / spread)
                sum += weight * Double(plane[min(max(sample, 0), length - 1)])
                total += weight
            }
            let expected = min(max(sum / total, 0), 255)
            #expect(abs(Double(result[i]) - expected) <= 1, "sample \(i)")
        }
    }

    /// The mean of r pixels weakens a wave by sin(pi f r) / (r sin(pi f)), the formula of a moving mean: here by 2.4 and
    /// 6 %. What is made of it is as strong as what is made of the wave itself, to 1.5 %.
    @Test(arguments: [(2, 0.07), (4, 0.05), (8, 0.025)])
    func `gives back what a mean over pixels took from fine detail`(reduction: Int, frequency: Double) {
        let length = 120 * reduction
        let wave = (0..<length).map { 100 * cos(2 * .pi * frequency * (Double($0) + 0.5)) }
        func plane(_ values: [Double]) -> [UInt8] { values.map { UInt8((128 + $0).rounded()) } }
        let means = (0..<120).map { sample in
            wave[sample * reduction..<(sample + 1) * reduction].reduce(0, +) / Double(reduction)
        }
        func strength(of plane: [UInt8], _ axis: Axis) -> Double {
            let made = scaled(plane, width: 1, axis, cr_kernel_plain)
            return (10..<61).reduce(0) { sum, sample in  // away from the edges, which repeat
                let place = (Double(sample) + 0.5) * Double(length) / 71
                return sum + cos(2 * .pi * frequency * place) * (Double(made[sample]) - 128)
            }
        }
        let whole = strength(of: plane(wave), Axis(from: length, to: 71))
        let droop = sin(.pi * frequency * Double(reduction)) / (Double(reduction) * sin(.pi * frequency))
        let plain = strength(of: plane(means), Axis(from: 120, to: 71))
        let sharpened = strength(of: plane(means), Axis(from: 120, to: 71, reduction: Int32(reduction)))
        #expect(abs(plain / whole - droop) < 0.006)
        #expect(abs(sharpened / whole - 1) < 0.015)
    }

    @Test func `leaves an even plane even, and a plane of its own size as it is`() {
        let even = [UInt8](repeating: 93, count: 50 * 70)
        for count in [1, 7, 33, 70, 111] {
            let result = scaled(even, width: 50, Axis(from: 70, to: count), cr_best_kernel())
            #expect(result.allSatisfy { $0 == 93 })
        }
        let plane = Self.noise(50 * 70)
        #expect(scaled(plane, width: 50, Axis(from: 70, to: 70), cr_best_kernel()) == plane)
    }

    @Test func `mirrors exactly when read backwards`() {
        let plane = Self.noise(70)
        let forwards = scaled(plane, width: 1, Axis(from: 70, to: 31), cr_kernel_plain)
        let backwards = scaled(plane.reversed(), width: 1, Axis(from: 70, to: 31, flipped: true), cr_kernel_plain)
        #expect(zip(forwards, backwards).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
    }

    @Test(arguments: [(1, 1), (16, 16), (17, 33), (48, 31), (5, 100)])
    func `transposes every size by every kernel`(width: Int, height: Int) {
        let plane = Self.noise(width * height)
        var expected = [UInt8](repeating: 0, count: width * height)
        for y in 0..<height { for x in 0..<width { expected[x * height + y] = plane[y * width + x] } }
        for kernel in Self.kernels {
            var target = [UInt8](repeating: 0, count: width * height)
            unsafe cr_transpose(kernel, plane, width, Int32(width), Int32(height), &target, height)
            #expect(target == expected)
        }
    }

    @Test(arguments: 9...16) func `makes wide samples bytes, each rounded to the nearest`(depth: Int) {
        let largest = 1 << depth - 1
        let wide = (0...largest).map { UInt16($0) }
        var narrow = [UInt8](repeating: 0, count: wide.count)
        unsafe cr_narrow(wide, wide.count, Int32(depth), 1, &narrow)
        #expect(zip(wide, narrow).allSatisfy { Int($1) == (2 * Int($0) * 255 + largest) / (2 * largest) })
        // Of limited range 64 of 1023 is 16 (ITU-T H.273): only the bits behind the point go.
        unsafe cr_narrow(wide, wide.count, Int32(depth), 0, &narrow)
        let unit = 1 << (depth - 8)
        #expect(zip(wide, narrow).allSatisfy { Int($1) == min(255, (Int($0) + unit / 2) / unit) })
    }
}
