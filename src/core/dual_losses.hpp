// One row of the dual, solved exactly, for each loss; and how far the row is from its optimum.
//
// With the score f of the row linear in its own dual, f(u + d) = f - A d (A is the row's curvature), the best
// dual is
//     argmax_u  -loss*(u) + (u - u0).f - (A/2) |u - u0|^2
// and the row's share of the duality gap is its Fenchel-Young excess  loss(f) + loss*(u0) - u0.f >= 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace nearline::dual {

// Margin losses phi(z), z = y f: the dual is u = -y m with a mass m >= 0, and z(m + d) = z + A d.

struct Hinge {
    static double best(double m, double z, double A) {
        if (A > 0) return std::min(std::max(m + (1 - z) / A, 0.0), 1.0);
        return z < 1 ? 1.0 : z > 1 ? 0.0 : m;
    }
    static double excess(double m, double z) { return z < 1 ? (1 - m) * (1 - z) : m * (z - 1); }
};

struct SquaredHinge {
    static double best(double m, double z, double A) {
        return std::max(m + (1 - m / 2 - z) / (A + 0.5), 0.0);
    }
    static double excess(double m, double z) {
        const double slack = 1 - z;
        return slack > 0 ? (slack - m / 2) * (slack - m / 2) : m * (m / 4 - slack);
    }
};

struct Logistic {
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

// Joint losses: u is the gradient with respect to the scores of all K classes. best() writes the new dual to
// next and tells whether it may differ from the old.

struct CrammerSinger {
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

struct WestonWatkins {
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

}  // namespace nearline::dual
