// Lower bounds of many distances at once: a few coordinates of each row, packed in panels of as many rows as
// fill two vectors, against a handful of queries. What comes out are the rows whose bound does not exceed a
// limit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "simd.hpp"

namespace nearline::neighbors {

constexpr std::size_t kPanel = 2 * kLanes<float>;  // rows in a panel
constexpr std::size_t kAtOnce = 6;                 // queries against one panel: all sums stay in registers

// How the coordinates' differences make the bound.
enum class Norm { squares, magnitudes, largest };

// A row that the bound did not exclude.
struct Survivor {
    float bound;
    std::int32_t place;
};

// One query as the bounds see it. squares: the bound is square - 2 sum with sum = v.q - |v|^2 / 2.
struct Probe {
    const float* v;
    float square;
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
        q[m] = probes[m]->v;
        for (std::size_t h = 0; h < 2; ++h) a[m][h] = norm == Norm::squares ? load(starts + h * L) : V{};
    }
    for (std::size_t j = 0; j < r; ++j) {
        const V x0 = load(panel + j * kPanel), x1 = load(panel + j * kPanel + L);
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
NL_INLINE void panel_bounds(const float* panel, const float* starts, std::size_t r,
                            const Probe* const* probes, const float* limits, std::int32_t first,
                            std::vector<Survivor>* const* out) {
    using V = Vec<float>;
    constexpr std::size_t L = kLanes<float>;
    V a[M][2];
    panel_sums<norm, M>(panel, starts, r, probes, a);
    for (std::size_t m = 0; m < M; ++m) {
        std::uint32_t mask = 0;
        if constexpr (norm == Norm::squares) {
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
            const float bound = norm == Norm::squares ? probes[m]->square - 2.0f * values[l] : values[l];
            out[m]->push_back({bound, first + l});
        }
    }
}

// All bounds of one panel for M queries, out[m][0 .. kPanel).
template <Norm norm, std::size_t M>
NL_INLINE void panel_values(const float* panel, const float* starts, std::size_t r,
                            const Probe* const* probes, float* const* out) {
    using V = Vec<float>;
    constexpr std::size_t L = kLanes<float>;
    V a[M][2];
    panel_sums<norm, M>(panel, starts, r, probes, a);
    for (std::size_t m = 0; m < M; ++m)
        for (std::size_t h = 0; h < 2; ++h) {
            const V bound = norm == Norm::squares ? fill(probes[m]->square) - (a[m][h] + a[m][h]) : a[m][h];
            store(out[m] + h * L, bound);
        }
}

// visit(M) with the number of queries as a constant.
template <class Visit>
NL_INLINE void with_count(std::size_t count, const Visit& visit) {
    switch (count) {
        case 1:
            return visit(std::integral_constant<std::size_t, 1>{});
        case 2:
            return visit(std::integral_constant<std::size_t, 2>{});
        case 3:
            return visit(std::integral_constant<std::size_t, 3>{});
        case 4:
            return visit(std::integral_constant<std::size_t, 4>{});
        case 5:
            return visit(std::integral_constant<std::size_t, 5>{});
        default:
            return visit(std::integral_constant<std::size_t, kAtOnce>{});
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
        if constexpr (norm == Norm::squares)
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
        if constexpr (norm == Norm::squares)
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
