// What excludes rows before they are measured: a few coordinates of each, packed in the order of a tree, and
// the same of the queries.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "neighbor_panels.hpp"
#include "parallel.hpp"

namespace nearline::neighbors {

constexpr std::size_t padded(std::size_t r) {
    return (r + kLanes<float> - 1) / kLanes<float> * kLanes<float>;
}

// Coordinates of all rows, in the order of the tree.
struct Filter {
    Norm norm;
    std::size_t n, r, chunk;
    const float* panels;  // (panels, words, kPanel)
    const float* starts;  // (panels * kPanel,): -|v|^2 / 2
    const float* low;     // (chunks, padded r)
    const float* high;
    const float* squares;  // (chunks,): largest |v|^2
    const float* errors;   // (2, chunks): how far a v in boxes, in panels may be from the true one at most
    std::size_t r2;        // 0: no second bound
    const float* more;     // (n, padded r2)
    const float* more_errors;   // (n,)
    const std::int64_t* order;  // (n,): row at each place

    std::size_t n_chunks() const { return (n + chunk - 1) / chunk; }
};

// The same of the queries.
struct Probes {
    std::size_t n;
    const float* v;  // (n, padded r)
    const float* squares;
    const double* errors;
    const float* more;  // (n, padded r2)
    const double* more_errors;
    const double* bases;  // bound = base + scale * distance, or distance^2 for scale = 0
    double scale;
    double relative;  // rounding that a distance may carry, relative to it

    // What the bound of a row at this distance cannot exceed, as a length (squares: its root).
    double reach(Norm norm, std::size_t i, double distance) const {
        if (distance == std::numeric_limits<double>::infinity()) return distance;
        if (!is_square(norm) || scale == 0.0) return distance * (1.0 + relative);
        const double rounding = relative * (std::fabs(bases[i]) + std::fabs(scale * distance));
        return std::sqrt(std::max(bases[i] + scale * distance + rounding, 0.0));
    }
};

inline float rounded_up(double value) {
    const auto f = static_cast<float>(value);
    return f < value ? std::nextafterf(f, std::numeric_limits<float>::infinity()) : f;
}

// v (n, stride) in the given order as a Filter has it: panels, boxes and largest values of each chunk.
inline void pack(Norm norm, const float* v, std::size_t stride, const float* squares, const double* errors,
                 const std::int64_t* order, std::size_t n, std::size_t r, std::size_t chunk, float* panels,
                 float* starts, float* low, float* high, float* chunk_squares, float* chunk_errors) {
    const std::size_t n_chunks = (n + chunk - 1) / chunk, words = panel_words(norm, r);
    parallel_for(n_chunks, 4.0 * static_cast<double>(n * (r + 8)), [&](std::size_t c) {
        const std::size_t first = c * chunk, last = std::min(n, first + chunk);
        float *below = low + c * stride, *above = high + c * stride;
        std::copy_n(v + order[first] * stride, stride, below);
        std::copy_n(v + order[first] * stride, stride, above);
        double most = 0.0, worst = 0.0, farthest = 0.0;
        for (std::size_t place = first; place < (last + kPanel - 1) / kPanel * kPanel; ++place) {
            float* column = panels + place / kPanel * kPanel * words + place % kPanel;
            starts[place] = -std::numeric_limits<float>::infinity();
            if (place >= last) {
                for (std::size_t j = 0; j < words; ++j) column[j * kPanel] = 0.0f;
                continue;
            }
            const auto row = static_cast<std::size_t>(order[place]);
            const float* x = v + row * stride;
            Rounded rounded{static_cast<double>(squares[row]), 0.0};
            if (norm == Norm::rounded)
                rounded = round_pairs(x, r, column, kPanel);
            else
                for (std::size_t j = 0; j < r; ++j) column[j * kPanel] = x[j];
            for (std::size_t j = 0; j < stride; ++j) {
                below[j] = std::min(below[j], x[j]);
                above[j] = std::max(above[j], x[j]);
            }
            starts[place] = -0.5f * static_cast<float>(rounded.square);
            most = std::max(most, rounded.square);
            worst = std::max(worst, errors[row]);
            farthest = std::max(farthest, errors[row] + rounded.error);
        }
        chunk_squares[c] = rounded_up(most);
        chunk_errors[c] = rounded_up(worst);
        chunk_errors[n_chunks + c] = rounded_up(farthest);
    });
}

// Rows in an order in which every `leaf` consecutive ones are near each other: halved at the median of the
// coordinate in which they spread most, again and again.
inline void tree_order(const float* v, std::size_t n, std::size_t r, std::size_t stride, std::size_t leaf,
                       std::int64_t* order) {
    constexpr std::size_t kSample = 256;
    std::iota(order, order + n, std::int64_t{0});
    struct Span {
        std::size_t begin, end;
    };
    std::vector<Span> open{{0, n}};
    std::vector<std::pair<float, std::int64_t>> keys;
    while (!open.empty()) {
        const Span s = open.back();
        open.pop_back();
        const std::size_t size = s.end - s.begin;
        if (size <= leaf) continue;
        const std::size_t step = std::max<std::size_t>(size / kSample, 1);
        std::size_t widest = 0;
        double spread = -1.0;
        for (std::size_t j = 0; j < r; ++j) {
            double sum = 0.0, squares = 0.0, count = 0.0;
            for (std::size_t k = s.begin; k < s.end; k += step) {
                const double x = v[static_cast<std::size_t>(order[k]) * stride + j];
                sum += x;
                squares += x * x;
                count += 1.0;
            }
            const double variance = squares - sum * sum / count;
            if (variance > spread) {
                spread = variance;
                widest = j;
            }
        }
        const std::size_t half = std::max(leaf, (size / leaf + 1) / 2 * leaf);
        keys.clear();
        for (std::size_t k = s.begin; k < s.end; ++k) {
            const float x = r ? v[static_cast<std::size_t>(order[k]) * stride + widest] : 0.0f;
            keys.emplace_back(x == x ? x : std::numeric_limits<float>::infinity(), order[k]);
        }
        std::nth_element(keys.begin(), keys.begin() + half, keys.end());
        for (std::size_t k = 0; k < size; ++k) order[s.begin + k] = keys[k].second;
        open.push_back({s.begin, s.begin + half});
        open.push_back({s.begin + half, s.end});
    }
}

}  // namespace nearline::neighbors
