// Lower bounds of many distances at once: a few coordinates of each row, packed in panels of as many rows as
// fill two vectors, against a handful of queries. What comes out are the rows whose bound does not exceed a
// limit.
#pragma once

#include <cstddef>
#include <cstdint>
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

// Bounds of one panel (r coordinates of kPanel rows, coordinate by coordinate) for M queries. `starts` holds
// -|v|^2 / 2 of each row (squares only). Rows with a bound <= limits[m] are appended to out[m].
template <Norm norm, std::size_t M>
NL_INLINE void panel_bounds(const float* panel, const float* starts, std::size_t r,
                            const Probe* const* probes, const float* limits, std::int32_t first,
                            std::vector<Survivor>* const* out) {
    using V = Vec<float>;
    constexpr std::size_t L = kLanes<float>;
    V a[M][2];
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
    for (std::size_t m = 0; m < M; ++m) {
        int mask = 0;
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

template <Norm norm>
void panel_bounds(std::size_t count, const float* panel, const float* starts, std::size_t r,
                  const Probe* const* probes, const float* limits, std::int32_t first,
                  std::vector<Survivor>* const* out) {
    switch (count) {
        case 1:
            return panel_bounds<norm, 1>(panel, starts, r, probes, limits, first, out);
        case 2:
            return panel_bounds<norm, 2>(panel, starts, r, probes, limits, first, out);
        case 3:
            return panel_bounds<norm, 3>(panel, starts, r, probes, limits, first, out);
        case 4:
            return panel_bounds<norm, 4>(panel, starts, r, probes, limits, first, out);
        case 5:
            return panel_bounds<norm, 5>(panel, starts, r, probes, limits, first, out);
        default:
            return panel_bounds<norm, 6>(panel, starts, r, probes, limits, first, out);
    }
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
