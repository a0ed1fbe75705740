// Lower bounds of many distances at once: a few coordinates of each row, packed in panels of as many rows as
// fill two vectors, against a handful of queries. What comes out are the rows whose bound does not exceed a
// limit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "simd.hpp"

namespace nearline::neighbors {

constexpr std::size_t kPanel = 2 * kLanes<float>;  // rows in a panel
#if defined(__AVX512F__)
constexpr std::size_t kAtOnce = 12;  // queries against one panel: all sums stay in registers
#else
constexpr std::size_t kAtOnce = 6;
#endif

// How the coordinates' differences make the bound. `rounded`: squares, of coordinates that are rounded to
// bfloat16 and stand in pairs, a word of 32 bits each, where the machine has products of them.
enum class Norm { squares, magnitudes, largest, rounded };

constexpr bool is_square(Norm norm) { return norm == Norm::squares || norm == Norm::rounded; }
#if defined(__AVX512BF16__)
constexpr bool kRounds = true;
#else
constexpr bool kRounds = false;
#endif

// Words of 32 bits that r coordinates take in a panel.
constexpr std::size_t panel_words(Norm norm, std::size_t r) {
    return norm == Norm::rounded ? (r + 1) / 2 : r;
}

// The nearest bfloat16, as its bits; 0 in place of one that is below the normal numbers, as products take it.
inline std::uint32_t rounded_bits(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    if (x != x) return 0x7fc0;
    bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return bits & 0x7f80 ? bits : 0;
}

inline float from_rounded(std::uint32_t bits) {
    float x;
    bits <<= 16;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// What is left of coordinates that were rounded: the square of their length, and how far they were moved.
struct Rounded {
    double square, error;
};

// r coordinates as words, `stride` apart.
inline Rounded round_pairs(const float* x, std::size_t r, float* words, std::size_t stride) {
    double square = 0.0, moved = 0.0;
    const auto half = [&](std::size_t j) -> std::uint32_t {
        if (j >= r) return 0;
        const std::uint32_t bits = rounded_bits(x[j]);
        const double value = from_rounded(bits), e = value - static_cast<double>(x[j]);
        square += value * value;
        moved += e * e;
        return bits;
    };
    for (std::size_t j = 0; j < r; j += 2) {
        const std::uint32_t low = half(j), word = low | half(j + 1) << 16;
        std::memcpy(words + j / 2 * stride, &word, sizeof word);
    }
    return {square, std::sqrt(moved) * (1.0 + 0x1p-30)};
}

// A row that the bound did not exclude.
struct Survivor {
    float bound;
    std::int32_t place;
};

// One query as the bounds see it. squares: the bound is square - 2 sum with sum = v.q - |v|^2 / 2.
struct Probe {
    const float* v;
    const float* words;  // the same as in panels
    float square;        // of these
};

// Sums over one panel (r coordinates of kPanel rows, coordinate by coordinate) for M queries. `starts` holds
// -|v|^2 / 2 of each row (squares only).
template <Norm norm, std::size_t M>
NL_INLINE void panel_sums(const float* panel, const float* starts, std::size_t r, const Probe* const* probes,
                          Vec<float> (&a)[M][2]) {
    using V = Vec<float>;
    constexpr std::size_t L = kLanes<float>;
    const float* q[M];
    for (std::size_t m = 0; m < M; ++m) {
        q[m] = probes[m]->words;
        for (std::size_t h = 0; h < 2; ++h) a[m][h] = is_square(norm) ? load(starts + h * L) : V{};
    }
#if defined(__AVX512BF16__)
    if constexpr (norm == Norm::rounded) {
        for (std::size_t j = 0; j < panel_words(norm, r); ++j) {
            const auto x0 = (__m512bh)load(panel + j * kPanel), x1 = (__m512bh)load(panel + j * kPanel + L);
#pragma GCC unroll 12
            for (std::size_t m = 0; m < M; ++m) {
                std::int32_t word;
                std::memcpy(&word, q[m] + j, sizeof word);
                const auto y = (__m512bh)_mm512_set1_epi32(word);
                a[m][0] = _mm512_dpbf16_ps(a[m][0], x0, y);
                a[m][1] = _mm512_dpbf16_ps(a[m][1], x1, y);
            }
        }
        return;
    }
#endif
    for (std::size_t j = 0; j < r; ++j) {
        const V x0 = load(panel + j * kPanel), x1 = load(panel + j * kPanel + L);
#pragma GCC unroll 12
        for (std::size_t m = 0; m < M; ++m) {
            const V y = fill(q[m][j]);
            if constexpr (norm == Norm::squares) {
                a[m][0] += y * x0;
                a[m][1] += y * x1;
            } else {
                const V e0 = magnitude(x0 - y), e1 = magnitude(x1 - y);
                if constexpr (norm == Norm::magnitudes) {
                    a[m][0] += e0;
                    a[m][1] += e1;
                } else {
                    a[m][0] = e0 > a[m][0] ? e0 : a[m][0];
                    a[m][1] = e1 > a[m][1] ? e1 : a[m][1];
                }
            }
        }
    }
}

// Bounds of one panel for M queries. Rows with a bound <= limits[m] are appended to out[m].
template <Norm norm, std::size_t M>
__attribute__((noinline)) void panel_bounds(const float* panel, const float* starts, std::size_t r,
                                            const Probe* const* probes, const float* limits,
                                            std::int32_t first, std::vector<Survivor>* const* out) {
    using V = Vec<float>;
    constexpr std::size_t L = kLanes<float>;
    V a[M][2];
    panel_sums<norm, M>(panel, starts, r, probes, a);
    for (std::size_t m = 0; m < M; ++m) {
        std::uint32_t mask = 0;
        if constexpr (is_square(norm)) {
            const V least = fill(0.5f * (probes[m]->square - limits[m]));
            mask = mask_of(a[m][0] >= least) | mask_of(a[m][1] >= least) << L;
        } else {
            const V most = fill(limits[m]);
            mask = mask_of(a[m][0] <= most) | mask_of(a[m][1] <= most) << L;
        }
        if (mask == 0) continue;
        float values[kPanel];
        store(values, a[m][0]);
        store(values + L, a[m][1]);
        for (; mask; mask &= mask - 1) {
            const int l = __builtin_ctz(mask);
            const float bound = is_square(norm) ? probes[m]->square - 2.0f * values[l] : values[l];
            out[m]->push_back({bound, first + l});
        }
    }
}

// All bounds of one panel for M queries, out[m][0 .. kPanel).
template <Norm norm, std::size_t M>
__attribute__((noinline)) void panel_values(const float* panel, const float* starts, std::size_t r,
                                            const Probe* const* probes, float* const* out) {
    using V = Vec<float>;
    constexpr std::size_t L = kLanes<float>;
    V a[M][2];
    panel_sums<norm, M>(panel, starts, r, probes, a);
    for (std::size_t m = 0; m < M; ++m)
        for (std::size_t h = 0; h < 2; ++h) {
            const V bound = is_square(norm) ? fill(probes[m]->square) - (a[m][h] + a[m][h]) : a[m][h];
            store(out[m] + h * L, bound);
        }
}

// visit(M) with the number of queries as a constant.
template <std::size_t M = 1, class Visit>
NL_INLINE void with_count(std::size_t count, const Visit& visit) {
    if constexpr (M == kAtOnce) {
        visit(std::integral_constant<std::size_t, M>{});
    } else {
        if (count == M) return visit(std::integral_constant<std::size_t, M>{});
        with_count<M + 1>(count, visit);
    }
}

// A number that at least k of the values do not exceed: the k-th of the smallest in each lane, as these are
// values of k different rows. Infinite where there are more lanes wanted than there are. n: whole panels.
inline float enough_below(const float* values, std::size_t n, std::size_t k) {
    using V = Vec<float>;
    constexpr std::size_t L = kLanes<float>;
    if (k == 0 || k > kPanel) return std::numeric_limits<float>::infinity();
    V least[2] = {fill(std::numeric_limits<float>::infinity()), fill(std::numeric_limits<float>::infinity())};
    for (std::size_t i = 0; i < n; i += kPanel)
        for (std::size_t h = 0; h < 2; ++h) {
            const V x = load(values + i + h * L);
            least[h] = x < least[h] ? x : least[h];
        }
    float lanes[kPanel];
    store(lanes, least[0]);
    store(lanes + L, least[1]);
    std::nth_element(lanes, lanes + (k - 1), lanes + kPanel);
    return lanes[k - 1];
}

// The bound of one row from more coordinates, by differences; 16 sums at least, so that additions do not
// wait.
template <Norm norm>
inline float long_bound(const float* x, const float* q, std::size_t r) {
    using V = Vec<float>;
    constexpr std::size_t L = kLanes<float>, U = 4;
    V a[U] = {};
    std::size_t j = 0;
    auto take = [&](std::size_t u, std::size_t at) {
        const V e = load(x + at) - load(q + at);
        if constexpr (is_square(norm))
            a[u] += e * e;
        else if constexpr (norm == Norm::magnitudes)
            a[u] += magnitude(e);
        else
            a[u] = magnitude(e) > a[u] ? magnitude(e) : a[u];
    };
    for (; j + U * L <= r; j += U * L)
        for (std::size_t u = 0; u < U; ++u) take(u, j + u * L);
    for (; j < r; j += L) take(0, j);  // rows are padded with zeros to whole vectors
    const V both = norm == Norm::largest ? V{} : (a[0] + a[1]) + (a[2] + a[3]);
    float total = 0.0f;
    for (std::size_t l = 0; l < L; ++l) {
        if constexpr (norm == Norm::largest) {
            for (std::size_t u = 0; u < U; ++u) total = a[u][l] > total ? a[u][l] : total;
        } else {
            total += both[l];
        }
    }
    return total;
}

// Smallest bound that any row within the box [low, high] can have.
template <Norm norm>
inline float box_bound(const float* low, const float* high, const float* q, std::size_t r) {
    using V = Vec<float>;
    constexpr std::size_t L = kLanes<float>;
    V total = {};
    for (std::size_t j = 0; j < r; j += L) {
        const V y = load(q + j), below = load(low + j) - y, above = y - load(high + j);
        V e = below > above ? below : above;
        e = e > V{} ? e : V{};
        if constexpr (is_square(norm))
            total += e * e;
        else if constexpr (norm == Norm::magnitudes)
            total += e;
        else
            total = e > total ? e : total;
    }
    float sum = 0.0f;
    for (std::size_t l = 0; l < L; ++l)
        if constexpr (norm == Norm::largest)
            sum = total[l] > sum ? total[l] : sum;
        else
            sum += total[l];
    return sum;
}

}  // namespace nearline::neighbors
