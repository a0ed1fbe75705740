// Hinge losses of several classes, which couple the score columns; they have no curvature.
//
// The dual u of a row is the gradient with respect to the scores of all K classes. With the scores linear in
// it, f(u + d) = f - A d, `best` writes  argmax_u  -loss*(u) + (u - u0).f - (A/2) |u - u0|^2  to next and
// tells whether it may differ from u0; `excess` is  loss(f) + loss*(u0) - u0.f >= 0.
#pragma once

#include <algorithm>
#include <cmath>

#include "loss_views.hpp"

namespace nearline {

struct CrammerSinger : LossTraits {
    static constexpr const char* name = "crammer-singer";
    static constexpr bool joint = true, curved = false, distributions = false, dual = true;

    static NL_INLINE Reals strip_gradient(const Strip& s) {
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
    static void row_gradient(const double* f, const RowTargets& targets, std::size_t i, std::size_t,
                             std::size_t K, double* g) {
        const auto y = static_cast<std::size_t>(targets.labels[i]);
        std::size_t worst = y;
        double largest = f[y];  // on a tie with the own class, the sub-gradient 0
        for (std::size_t c = 0; c < K; ++c) {
            if (c != y && f[c] + 1.0 > largest) largest = f[c] + 1.0, worst = c;
            g[c] = 0.0;
        }
        g[worst] += 1.0;
        g[y] -= 1.0;
    }

    static bool best(const double* u, const double* f, std::size_t y, double A, std::size_t K, double* next) {
        double worst = -1e300;
        for (std::size_t c = 0; c < K; ++c)
            if (c != y) worst = std::max(worst, f[c]);
        if (u[y] == 0 && worst + 1 <= f[y]) return false;
        // p = u + e_y is the projection of p0 + (f + 1 - e_y) / A onto the simplex.
        const double inverse = 1 / std::max(A, 1e-300), top = std::max(worst + 1, f[y]);
        for (std::size_t c = 0; c < K; ++c) {
            const double ascent = (f[c] + (c == y ? 0.0 : 1.0) - top) * inverse;
            next[c] = std::max(u[c] + (c == y ? 1.0 : 0.0) + ascent, -1e150);
        }
        project(next, K);
        next[y] -= 1;
        return true;
    }
    static double excess(const double* u, const double* f, std::size_t y, std::size_t K) {
        double loss = 0, pairing = 0;
        for (std::size_t c = 0; c < K; ++c) {
            pairing += u[c] * (f[c] - f[y]);
            if (c != y) loss = std::max(loss, 1 + f[c] - f[y]);
        }
        return loss + u[y] - pairing;
    }

  private:
    static void project(double* v, std::size_t K) {
        double threshold = -1e300;
        for (std::size_t previous = K + 1;;) {
            double sum = 0;
            std::size_t count = 0;
            for (std::size_t c = 0; c < K; ++c)
                if (v[c] > threshold) sum += v[c], ++count;
            if (count == 0 || count >= previous) break;  // rounding must not bring a class back
            previous = count;
            threshold = (sum - 1) / double(count);
        }
        for (std::size_t c = 0; c < K; ++c) v[c] = std::max(v[c] - threshold, 0.0);
    }
};

struct WestonWatkins : LossTraits {
    static constexpr const char* name = "weston-watkins";
    static constexpr bool joint = true, curved = false, distributions = false, dual = true;

    static NL_INLINE Reals strip_gradient(const Strip& s) {
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
    static void row_gradient(const double* f, const RowTargets& targets, std::size_t i, std::size_t,
                             std::size_t K, double* g) {
        const auto y = static_cast<std::size_t>(targets.labels[i]);
        double violated = 0.0;
        for (std::size_t c = 0; c < K; ++c) violated += g[c] = c != y && 1.0 + f[c] - f[y] > 0.0 ? 1.0 : 0.0;
        g[y] = -violated;
    }

    // u_c in [0, 1] for c != y, u_y = -t with t their sum: u_c = clip(a_c - t) for the t where the two agree.
    static bool best(const double* u, const double* f, std::size_t y, double A, std::size_t K, double* next) {
        const double inverse = 1 / std::max(A, 1e-300), total = -u[y];
        double largest = 0;
        bool settled = u[y] == 0;
        for (std::size_t c = 0; c < K; ++c) {
            const double slack = 1 + f[c] - f[y];
            next[c] = c == y ? 0 : std::min(std::max(u[c] + total + slack * inverse, -1e150), 1e150);
            if (c != y && slack > 0) settled = false;
            if (c != y) largest += std::min(std::max(next[c], 0.0), 1.0);
        }
        if (settled) return false;
        const double t = root(next, y, K, std::min(total, largest), largest);
        double sum = 0;
        for (std::size_t c = 0; c < K; ++c)
            if (c != y) sum += next[c] = std::min(std::max(next[c] - t, 0.0), 1.0);
        next[y] = -sum;
        return true;
    }
    static double excess(const double* u, const double* f, std::size_t y, std::size_t K) {
        double total = 0;
        for (std::size_t c = 0; c < K; ++c) {
            const double slack = 1 + f[c] - f[y];
            if (c != y) total += slack > 0 ? (1 - u[c]) * slack : -u[c] * slack;
        }
        return total;
    }

  private:
    // sum_c clip(a_c - t) - t falls with slope <= -1 and is piecewise linear: Newton steps inside a bracket.
    static double root(const double* a, std::size_t y, std::size_t K, double t, double high) {
        double low = -1;
        high += 1;  // so that the ends, until they are met, lie inside
        for (int k = 0; k < 100; ++k) {
            double value = -t, slope = 1;
            for (std::size_t c = 0; c < K; ++c) {
                if (c == y || a[c] <= t) continue;
                if (a[c] >= t + 1) {
                    value += 1;
                } else {
                    value += a[c] - t;
                    slope += 1;
                }
            }
            if (value > 0) {
                low = t;
            } else {
                high = t;
            }
            double next = t + value / slope;
            if (std::fabs(next - t) <= 1e-15 * (1 + t)) return next;
            if (!(next > low && next < high)) next = 0.5 * (low + high);  // never back to where it was
            t = next;
        }
        return t;
    }
};

}  // namespace nearline
