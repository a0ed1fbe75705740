// What a loss sees of the data: a strip of a tile for the passes, one row for SGD.
//
// A tile of scores is class-major: score of class c and row r at f[c * kTile + r]. A strip is the few
// neighboring rows that one vector holds; strips are kTile apart from class to class. Scores are in float64
// whatever the type of X.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd.hpp"

namespace nearline {

constexpr std::size_t kTile =
    32;  // rows that are worked on together; part of what defines the order of summation

// One strip of a tile: the columns of a few rows and the classes of these rows.
struct Strip {
    double* f;
    std::size_t n_columns;
    Integers targets;

    NL_INLINE Reals get(std::size_t c) const { return load(f + c * kTile); }
    NL_INLINE void set(std::size_t c, Reals value) const { store(f + c * kTile, value); }
    // Whether column c belongs to the rows' class: with one column, class 1 is the positive one.
    NL_INLINE Integers own(std::size_t c) const {
        return targets == static_cast<std::int64_t>(n_columns == 1 ? 1 : c);
    }
    NL_INLINE Reals largest() const {
        Reals top = get(0);
        for (std::size_t c = 1; c < n_columns; ++c) top = max(top, get(c));
        return top;
    }
    NL_INLINE Reals own_score() const {
        Reals score = fill(0.0);
        for (std::size_t c = 0; c < n_columns; ++c) score = own(c) ? get(c) : score;
        return score;
    }
};

// The targets of all rows, as SGD asks for them row by row.
struct RowTargets {
    const std::int32_t* labels;   // class numbers, or null:
    const double* distributions;  // (n, K)
    std::size_t n_outputs;

    double share(std::size_t i, std::size_t c) const {  // 1-of-K coding
        return labels ? static_cast<double>(static_cast<std::size_t>(labels[i]) == c)
                      : distributions[i * n_outputs + c];
    }
    double sign(std::size_t i, std::size_t c) const {
        if (n_outputs == 1) return labels[i] == 1 ? 1.0 : -1.0;
        return 2.0 * share(i, c) - 1.0;
    }
    double code(std::size_t i, std::size_t c) const { return n_outputs == 1 ? sign(i, 0) : share(i, c); }
};

// What a loss declares unless it says otherwise.
struct LossTraits {
    static constexpr bool joint = false;         // whether the score columns are coupled
    static constexpr bool curved = true;         // whether it has strip_curvature
    static constexpr bool distributions = true;  // whether SGD may be given shares instead of labels
    static constexpr bool dual = false;          // whether it has the steps of the dual, best and excess
};

}  // namespace nearline
