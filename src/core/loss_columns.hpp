// Losses that are sums over the score columns: the squared loss, and those of the margin z = y f.
//
// A margin loss phi has its value, slope and second derivative on vectors, its slope of one row for SGD, and
// the step of the dual. With the score of a row linear in its own dual, z(m + d) = z + A d (A is the row's
// curvature), the dual is u = -y m with a mass m >= 0: `best` is the mass that solves the row exactly,
// `excess` the row's share of the duality gap, its Fenchel-Young excess  phi(z) + phi*(-m) + m z >= 0.
#pragma once

#include <algorithm>
#include <cmath>

#include "loss_views.hpp"

namespace nearline {

// What all losses of the margin share.
template <class Phi>
struct Margin : LossTraits {
    static NL_INLINE Reals strip_gradient(const Strip& s) {
        Reals total = fill(0.0);
        for (std::size_t c = 0; c < s.n_columns; ++c) {
            const Reals y = s.own(c) ? fill(1.0) : fill(-1.0);
            Reals slope;
            total += Phi::value(y * s.get(c), slope);
            s.set(c, y * slope);
        }
        return total;
    }
    static NL_INLINE void strip_curvature(const Strip& s) {
        for (std::size_t c = 0; c < s.n_columns; ++c) {
            const Reals f = s.get(c);
            s.set(c, Phi::second(s.own(c) ? f : -f));
        }
    }
    static void row_gradient(const double* f, const RowTargets& targets, std::size_t i, std::size_t first,
                             std::size_t last, double* g) {
        for (std::size_t c = first; c < last; ++c) {
            const double y = targets.sign(i, c);
            g[c - first] = y * Phi::slope(y * f[c - first]);
        }
    }
};

struct Logistic : Margin<Logistic> {
    static constexpr const char* name = "logistic";
    static constexpr bool dual = true;

    static NL_INLINE Reals value(Reals z, Reals& slope) {
        const Reals e = exp_of_nonpositive(-magnitude(z));
        slope = -(z >= 0.0 ? e : fill(1.0)) / (1.0 + e);
        return log1p_of_nonnegative(e) + max(-z, fill(0.0));
    }
    static NL_INLINE Reals second(Reals z) {
        const Reals e = exp_of_nonpositive(-magnitude(z));
        return e / ((1.0 + e) * (1.0 + e));
    }
    static double slope(double z) {
        const double e = std::exp(-std::fabs(z));
        return -(z >= 0 ? e : 1.0) / (1.0 + e);
    }

    // Beyond this log-odds a mass is 0 or 1 to rounding.
    static constexpr double far = 40;

    static double log_odds(double m) {
        return m <= 0 ? -far : m >= 1 ? far : std::min(std::max(std::log(m / (1 - m)), -far), far);
    }
    static double mass(double t) {
        const double e = std::exp(-std::fabs(t));
        return t >= 0 ? 1 / (1 + e) : e / (1 + e);
    }
    // The root of t + z + A (mass(t) - m) = 0 in the log-odds t: increasing, slope >= 1, kept inside a
    // bracket.
    static double best(double m, double z, double A) {
        double low = -z - A * (1 - m), high = -z + A * m;
        double t = std::min(std::max(log_odds(m), low), high);
        double now = mass(t);
        for (int k = 0; k < 60; ++k) {
            const double value = t + z + A * (now - m);
            if (value > 0) {
                high = t;
            } else {
                low = t;
            }
            double next = t - value / (1 + A * now * (1 - now));
            if (!(next >= low && next <= high)) next = 0.5 * (low + high);
            const double moved = std::fabs(next - t);
            t = next;
            now = mass(t);
            if (moved <= 1e-10 * (1 + std::fabs(t))) break;
        }
        return now;
    }
    static double excess(double m, double z) {
        const double t = log_odds(m), moved = t + z;
        // Near the optimum the quadratic term is all there is, and costs no logarithm.
        if (std::fabs(moved) < 0.1) return 0.5 * moved * moved * m * (1 - m);
        return softplus(-z) - softplus(t) + m * moved;
    }

  private:
    static double softplus(double t) { return std::max(t, 0.0) + std::log1p(std::exp(-std::fabs(t))); }
};

struct Hinge : Margin<Hinge> {
    static constexpr const char* name = "hinge";
    static constexpr bool curved = false;
    static constexpr bool dual = true;

    static NL_INLINE Reals value(Reals z, Reals& slope) {
        slope = z < 1.0 ? fill(-1.0) : fill(0.0);
        return max(1.0 - z, fill(0.0));
    }
    static double slope(double z) { return z < 1.0 ? -1.0 : 0.0; }

    static double best(double m, double z, double A) {
        if (A > 0) return std::min(std::max(m + (1 - z) / A, 0.0), 1.0);
        return z < 1 ? 1.0 : z > 1 ? 0.0 : m;
    }
    static double excess(double m, double z) { return z < 1 ? (1 - m) * (1 - z) : m * (z - 1); }
};

struct SquaredHinge : Margin<SquaredHinge> {
    static constexpr const char* name = "squared-hinge";
    static constexpr bool dual = true;

    static NL_INLINE Reals value(Reals z, Reals& slope) {
        const Reals gap = max(1.0 - z, fill(0.0));
        slope = -2.0 * gap;
        return gap * gap;
    }
    static NL_INLINE Reals second(Reals z) { return z < 1.0 ? fill(2.0) : fill(0.0); }
    static double slope(double z) { return z < 1.0 ? -2.0 * (1.0 - z) : 0.0; }

    static double best(double m, double z, double A) {
        return std::max(m + (1 - m / 2 - z) / (A + 0.5), 0.0);
    }
    static double excess(double m, double z) {
        const double slack = 1 - z;
        return slack > 0 ? (slack - m / 2) * (slack - m / 2) : m * (m / 4 - slack);
    }
};

struct BinarySparsemax : Margin<BinarySparsemax> {
    static constexpr const char* name = "binary-sparsemax";

    static NL_INLINE Reals value(Reals z, Reals& slope) {
        const Reals half = 0.5 * (1.0 - min(max(z, fill(-1.0)), fill(1.0)));
        slope = -half;
        return half * half + max(-1.0 - z, fill(0.0));
    }
    static NL_INLINE Reals second(Reals z) { return magnitude(z) < 1.0 ? fill(0.5) : fill(0.0); }
    static double slope(double z) { return -std::min(std::max(0.5 * (1.0 - z), 0.0), 1.0); }
};

// (1/2) |f - t|^2, t = +-1 for one column, 1-of-K for more.
struct Squared : LossTraits {
    static constexpr const char* name = "squared";

    static NL_INLINE Reals strip_gradient(const Strip& s) {
        Reals total = fill(0.0);
        const Reals other = fill(s.n_columns == 1 ? -1.0 : 0.0);
        for (std::size_t c = 0; c < s.n_columns; ++c) {
            const Reals residual = s.get(c) - (s.own(c) ? fill(1.0) : other);
            total += 0.5 * residual * residual;
            s.set(c, residual);
        }
        return total;
    }
    static NL_INLINE void strip_curvature(const Strip& s) {
        for (std::size_t c = 0; c < s.n_columns; ++c) s.set(c, fill(1.0));
    }
    static void row_gradient(const double* f, const RowTargets& targets, std::size_t i, std::size_t first,
                             std::size_t last, double* g) {
        for (std::size_t c = first; c < last; ++c) g[c - first] = f[c - first] - targets.code(i, c);
    }
};

}  // namespace nearline
