// Losses that couple the score columns through probabilities of the classes. Their curvature is
// diag(q_c Q) - q q^T with Q = sum_c q_c; `strip_curvature` replaces the scores by q.
#pragma once

#include <algorithm>
#include <cmath>

#include "loss_views.hpp"
#include "ordering.hpp"

namespace nearline {

struct Softmax : LossTraits {
    static constexpr const char* name = "softmax";
    static constexpr bool joint = true;

    // Small quantities are sums of small terms, never differences of large ones: 1 - p_y is the sum of the
    // others.
    static NL_INLINE Reals strip_gradient(const Strip& s) {
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
    static NL_INLINE void strip_curvature(const Strip& s) {
        const Reals top = s.largest();
        Reals total = fill(0.0);
        for (std::size_t c = 0; c < s.n_columns; ++c) {
            const Reals e = exp_of_nonpositive(s.get(c) - top);
            total += e;
            s.set(c, e);
        }
        for (std::size_t c = 0; c < s.n_columns; ++c) s.set(c, s.get(c) / total);
    }
    static void row_gradient(const double* f, const RowTargets& targets, std::size_t i, std::size_t,
                             std::size_t K, double* g) {
        const double top = *std::max_element(f, f + K);
        double total = 0.0;
        for (std::size_t c = 0; c < K; ++c) total += g[c] = std::exp(f[c] - top);
        for (std::size_t c = 0; c < K; ++c) g[c] = g[c] / total - targets.share(i, c);
    }
};

struct Sparsemax : LossTraits {
    static constexpr const char* name = "sparsemax";
    static constexpr bool joint = true;

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
    static NL_INLINE Reals strip_gradient(const Strip& s) {
        const Reals top = s.largest(), t = threshold(s, top);
        Reals total = 0.5 - (s.own_score() - top);
        for (std::size_t c = 0; c < s.n_columns; ++c) {
            const Reals g = s.get(c) - top, p = max(g - t, fill(0.0));
            total += p * (g - 0.5 * p);
            s.set(c, s.own(c) ? p - 1.0 : p);
        }
        return max(total, fill(0.0));
    }
    static NL_INLINE void strip_curvature(const Strip& s) {
        const Reals top = s.largest(), t = threshold(s, top);
        Reals count = fill(0.0);
        for (std::size_t c = 0; c < s.n_columns; ++c) count += s.get(c) - top > t ? fill(1.0) : fill(0.0);
        Reals root;
        for (std::size_t i = 0; i < kReals; ++i) root[i] = 1.0 / std::sqrt(count[i]);
        for (std::size_t c = 0; c < s.n_columns; ++c) s.set(c, s.get(c) - top > t ? root : fill(0.0));
    }
    static void row_gradient(const double* f, const RowTargets& targets, std::size_t i, std::size_t,
                             std::size_t K, double* g) {
        const double top = *std::max_element(f, f + K);
        for (std::size_t c = 0; c < K; ++c) g[c] = f[c] - top;
        std::sort(g, g + K, [](double a, double b) { return nan_last(-a, -b); });
        double sum = 0.0, threshold = 0.0;
        for (std::size_t k = 0; k < K; ++k) {
            sum += g[k];
            if (g[k] * static_cast<double>(k + 1) <= sum - 1.0) break;
            threshold = (sum - 1.0) / static_cast<double>(k + 1);
        }
        for (std::size_t c = 0; c < K; ++c)
            g[c] = std::max(f[c] - top - threshold, 0.0) - targets.share(i, c);
    }
};

}  // namespace nearline
