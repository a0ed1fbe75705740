// The built-in losses on a tile of kTile rows, vectorized across rows, in float64 whatever the type of X.
//
// A tile of scores is class-major: score of class c and row r at f[c * kTile + r]. Each loss is a struct with
// static functions on a strip, the few neighboring rows that one vector holds; strips are kTile apart from
// class to class.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

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

// -- losses of the margin z = y f, added over the columns ----------------------------------------------

struct Logistic {
    static NL_INLINE Reals value(Reals z, Reals& slope) {
        const Reals e = exp_of_nonpositive(-magnitude(z));
        slope = -(z >= 0.0 ? e : fill(1.0)) / (1.0 + e);
        return log1p_of_nonnegative(e) + max(-z, fill(0.0));
    }
    static NL_INLINE Reals curvature(Reals z) {
        const Reals e = exp_of_nonpositive(-magnitude(z));
        return e / ((1.0 + e) * (1.0 + e));
    }
};

struct Hinge {
    static NL_INLINE Reals value(Reals z, Reals& slope) {
        slope = z < 1.0 ? fill(-1.0) : fill(0.0);
        return max(1.0 - z, fill(0.0));
    }
};

struct SquaredHinge {
    static NL_INLINE Reals value(Reals z, Reals& slope) {
        const Reals gap = max(1.0 - z, fill(0.0));
        slope = -2.0 * gap;
        return gap * gap;
    }
    static NL_INLINE Reals curvature(Reals z) { return z < 1.0 ? fill(2.0) : fill(0.0); }
};

struct BinarySparsemax {
    static NL_INLINE Reals value(Reals z, Reals& slope) {
        const Reals half = 0.5 * (1.0 - min(max(z, fill(-1.0)), fill(1.0)));
        slope = -half;
        return half * half + max(-1.0 - z, fill(0.0));
    }
    static NL_INLINE Reals curvature(Reals z) { return magnitude(z) < 1.0 ? fill(0.5) : fill(0.0); }
};

template <class Phi>
struct Margin {
    static NL_INLINE Reals gradient(const Strip& s) {
        Reals total = fill(0.0);
        for (std::size_t c = 0; c < s.n_columns; ++c) {
            const Reals y = s.own(c) ? fill(1.0) : fill(-1.0);
            Reals slope;
            total += Phi::value(y * s.get(c), slope);
            s.set(c, y * slope);
        }
        return total;
    }
    static NL_INLINE void curvature(const Strip& s) {
        for (std::size_t c = 0; c < s.n_columns; ++c) {
            const Reals f = s.get(c);
            s.set(c, Phi::curvature(s.own(c) ? f : -f));
        }
    }
};

// (1/2) |f - t|^2, t = +-1 for one column, 1-of-K for more.
struct Squared {
    static NL_INLINE Reals gradient(const Strip& s) {
        Reals total = fill(0.0);
        const Reals other = fill(s.n_columns == 1 ? -1.0 : 0.0);
        for (std::size_t c = 0; c < s.n_columns; ++c) {
            const Reals residual = s.get(c) - (s.own(c) ? fill(1.0) : other);
            total += 0.5 * residual * residual;
            s.set(c, residual);
        }
        return total;
    }
    static NL_INLINE void curvature(const Strip& s) {
        for (std::size_t c = 0; c < s.n_columns; ++c) s.set(c, fill(1.0));
    }
};

// -- losses that couple the columns
// ----------------------------------------------------------------------------- Their curvature is diag(q_c
// Q) - q q^T with Q = sum_c q_c; `curvature` replaces the scores by q.

struct Softmax {
    // Small quantities are sums of small terms, never differences of large ones: 1 - p_y is the sum of the
    // others.
    static NL_INLINE Reals gradient(const Strip& s) {
        const Reals top = s.largest();
        const Reals own_score = s.own_score() - top;
        Reals others = fill(0.0);
        for (std::size_t c = 0; c < s.n_columns; ++c) {
            const Reals e = exp_of_nonpositive(s.get(c) - top);
            others += s.own(c) ? fill(0.0) : e;
            s.set(c, e);
        }
        const Reals own = exp_of_nonpositive(own_score);
        const Reals scale = 1.0 / (others + own);
        for (std::size_t c = 0; c < s.n_columns; ++c) s.set(c, scale * (s.own(c) ? -others : s.get(c)));
        // The terms of the sum beside one of the largest, whose own term is exactly 1.
        const Reals rest = own_score == 0.0 ? others : (others - 1.0) + own;
        return log1p_of_nonnegative(max(rest, fill(0.0))) - own_score;
    }
    static NL_INLINE void curvature(const Strip& s) {
        const Reals top = s.largest();
        Reals total = fill(0.0);
        for (std::size_t c = 0; c < s.n_columns; ++c) {
            const Reals e = exp_of_nonpositive(s.get(c) - top);
            total += e;
            s.set(c, e);
        }
        for (std::size_t c = 0; c < s.n_columns; ++c) s.set(c, s.get(c) / total);
    }
};

struct Sparsemax {
    // The t with sum_c max(f_c - top - t, 0) = 1: start with all columns near the top, drop those below,
    // until none is.
    static NL_INLINE Reals threshold(const Strip& s, Reals top) {
        Reals t = fill(-1.0), count = fill(0.0);
        for (std::size_t round = 0; round <= s.n_columns; ++round) {
            Reals sum = fill(0.0), inside = fill(0.0);
            for (std::size_t c = 0; c < s.n_columns; ++c) {
                const Reals g = s.get(c) - top;
                sum += g > t ? g : fill(0.0);
                inside += g > t ? fill(1.0) : fill(0.0);
            }
            const Integers changed = inside != count;
            t = (sum - 1.0) / inside;
            count = inside;
            bool any = false;
            for (std::size_t i = 0; i < kReals; ++i) any = any || changed[i];
            if (!any) break;
        }
        return t;
    }
    static NL_INLINE Reals gradient(const Strip& s) {
        const Reals top = s.largest(), t = threshold(s, top);
        Reals total = 0.5 - (s.own_score() - top);
        for (std::size_t c = 0; c < s.n_columns; ++c) {
            const Reals g = s.get(c) - top, p = max(g - t, fill(0.0));
            total += p * (g - 0.5 * p);
            s.set(c, s.own(c) ? p - 1.0 : p);
        }
        return max(total, fill(0.0));
    }
    static NL_INLINE void curvature(const Strip& s) {
        const Reals top = s.largest(), t = threshold(s, top);
        Reals count = fill(0.0);
        for (std::size_t c = 0; c < s.n_columns; ++c) count += s.get(c) - top > t ? fill(1.0) : fill(0.0);
        Reals root;
        for (std::size_t i = 0; i < kReals; ++i) root[i] = 1.0 / std::sqrt(count[i]);
        for (std::size_t c = 0; c < s.n_columns; ++c) s.set(c, s.get(c) - top > t ? root : fill(0.0));
    }
};

struct CrammerSinger {
    static NL_INLINE Reals gradient(const Strip& s) {
        const Reals own = s.own_score();
        // The first of the largest 1 + f_c - f_y > 0 gets the gradient; -1 stands for none.
        Reals worst = fill(0.0);
        Integers who = fill(std::int64_t{-1});
        for (std::size_t c = 0; c < s.n_columns; ++c) {
            const Reals slack = s.own(c) ? fill(0.0) : 1.0 + (s.get(c) - own);
            const Integers larger = slack > worst;
            worst = larger ? slack : worst;
            who = larger ? fill(static_cast<std::int64_t>(c)) : who;
        }
        const Reals fall = who < std::int64_t{0} ? fill(0.0) : fill(-1.0);
        for (std::size_t c = 0; c < s.n_columns; ++c) {
            const Reals rise = who == static_cast<std::int64_t>(c) ? fill(1.0) : fill(0.0);
            s.set(c, s.own(c) ? fall : rise);
        }
        return own == own ? worst : own;
    }
};

struct WestonWatkins {
    static NL_INLINE Reals gradient(const Strip& s) {
        const Reals own = s.own_score();
        Reals total = fill(0.0), violations = fill(0.0);
        for (std::size_t c = 0; c < s.n_columns; ++c) {
            const Reals slack = s.own(c) ? fill(0.0) : 1.0 + (s.get(c) - own);
            const Reals violated = slack > 0.0 ? fill(1.0) : fill(0.0);
            total += slack * violated;
            violations += violated;
            s.set(c, violated);
        }
        for (std::size_t c = 0; c < s.n_columns; ++c) s.set(c, s.own(c) ? -violations : s.get(c));
        return total;
    }
};

// -- from strips to tiles ------------------------------------------------------------------------------

// A loss as the passes see it. Both functions work in place on a tile f of n_columns x kTile.
struct TileLoss {
    const char* name;
    bool joint;
    // Scores become gradients; the loss of each row goes to values.
    void (*gradient)(double* f, std::size_t n_columns, const std::int64_t* targets, double* values);
    // Scores become second derivatives (separate columns) or q (joint, see above); null where there are none.
    void (*curvature)(double* f, std::size_t n_columns, const std::int64_t* targets);
};

template <class Loss>
void tile_gradient(double* f, std::size_t n_columns, const std::int64_t* targets, double* values) {
    for (std::size_t r = 0; r < kTile; r += kReals)
        store(values + r, Loss::gradient(Strip{f + r, n_columns, load(targets + r)}));
}

template <class Loss>
void tile_curvature(double* f, std::size_t n_columns, const std::int64_t* targets) {
    for (std::size_t r = 0; r < kTile; r += kReals)
        Loss::curvature(Strip{f + r, n_columns, load(targets + r)});
}

inline const TileLoss& tile_loss(const std::string& name) {
    static const TileLoss losses[] = {
        {"squared", false, tile_gradient<Squared>, tile_curvature<Squared>},
        {"logistic", false, tile_gradient<Margin<Logistic>>, tile_curvature<Margin<Logistic>>},
        {"hinge", false, tile_gradient<Margin<Hinge>>, nullptr},
        {"squared-hinge", false, tile_gradient<Margin<SquaredHinge>>, tile_curvature<Margin<SquaredHinge>>},
        {"binary-sparsemax", false, tile_gradient<Margin<BinarySparsemax>>,
         tile_curvature<Margin<BinarySparsemax>>},
        {"softmax", true, tile_gradient<Softmax>, tile_curvature<Softmax>},
        {"sparsemax", true, tile_gradient<Sparsemax>, tile_curvature<Sparsemax>},
        {"crammer-singer", true, tile_gradient<CrammerSinger>, nullptr},
        {"weston-watkins", true, tile_gradient<WestonWatkins>, nullptr},
    };
    for (const TileLoss& loss : losses)
        if (name == loss.name) return loss;
    throw std::invalid_argument("The core has no loss named '" + name + "'.");
}

}  // namespace nearline
