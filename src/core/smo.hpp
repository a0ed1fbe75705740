// SMO: the dual of a two-class kernel machine with hinge loss and a bias, two variables at a time.
//
//     minimize over beta   1/2 beta' K beta - y' beta     with lo <= beta <= hi and sum(beta) as at the start
//
// beta_i = y_i a_i in terms of the usual dual variables 0 <= a_i <= C_i, so that no signs are left in the
// loops: lo_i = min(0, y_i C_i), hi_i = max(0, y_i C_i). With the gradient F = K beta - y a pair (i, j) gains
// by beta_i += d, beta_j -= d where F_i < F_j; at the optimum no pair that may move so is left. i has the
// smallest F, j the largest gain (F_j - F_i)^2 / (K_ii + K_jj - 2 K_ij) (Fan, Chen and Lin 2005).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "parallel.hpp"
#include "simd.hpp"
#include "smo_rows.hpp"

namespace nearline {

// One two-class problem; arrays of its n rows. beta and F are read and written.
template <class T>
struct SmoProblem {
    const T* K;
    std::size_t stride;
    std::size_t n;
    const std::int32_t* at;  // row numbers in K
    const double* y;         // -1 or +1
    const double* C;
    double* beta;
    double* F;
};

struct SmoResult {
    double violation = std::numeric_limits<double>::infinity();  // until it is measured
    std::int64_t n_iter = 0;
};

template <class T>
class Smo {
  public:
    Smo(const SmoProblem<T>& problem, double tol, std::int64_t max_iter, bool shrinking)
        : p_(problem),
          tol_(tol),
          max_iter_(max_iter),
          shrinking_(shrinking),
          beta_start_(problem.beta, problem.beta + problem.n),
          F_start_(problem.F, problem.F + problem.n),
          rows_(problem.K, problem.stride) {}

    SmoResult run(Watch& watch) {
        activate_all();
        const std::int64_t period = std::min<std::int64_t>(1000, static_cast<std::int64_t>(p_.n));
        std::int64_t until_shrink = period;
        double work = 0.0;
        smallest_up();
        while (result_.n_iter < max_iter_) {
            if (best_ < 0) result_.violation = 0.0;  // no row may grow
            const T* row = best_ < 0 ? nullptr : rows_.get(best_, true);
            if (row == nullptr || !find_partner(row)) {
                if (n_ == p_.n) break;
                give_back();
                activate_all();
                smallest_up();
                until_shrink = period;
                continue;
            }
            step(row, rows_.get(partner_, false));
            ++result_.n_iter;
            work += 8.0 * n_;
            if (!watch.go_on(work)) break;
            if (shrinking_ && --until_shrink == 0) {
                until_shrink = period;
                shrink();
            }
        }
        if (n_ < p_.n) {
            give_back();
            activate_all();
            smallest_up();
            if (best_ >= 0) find_partner(rows_.get(best_, true));
        }
        give_back();
        return result_;
    }

  private:
    static constexpr double kFar = std::numeric_limits<double>::infinity();

    // -- the active rows ---------------------------------------------------------------------------------

    void activate_all() {
        active_.resize(p_.n);
        for (std::size_t t = 0; t < p_.n; ++t) active_[t] = static_cast<std::int32_t>(t);
        take();
    }

    // Copies what the loops read, in the order of the active rows.
    void take() {
        n_ = active_.size();
        for (auto* v : {&beta_, &lo_, &hi_, &F_, &up_, &down_, &diagonal_}) v->resize(n_);
        std::vector<std::int32_t> at(n_);
        for (std::size_t t = 0; t < n_; ++t) {
            const std::size_t r = active_[t];
            at[t] = p_.at[r];
            beta_[t] = p_.beta[r];
            F_[t] = p_.F[r];
            lo_[t] = std::min(0.0, p_.y[r] * p_.C[r]);
            hi_[t] = std::max(0.0, p_.y[r] * p_.C[r]);
            diagonal_[t] = p_.K[at[t] * p_.stride + at[t]];
            bound(t);
            flat_ = std::max(flat_, 1e-12 * diagonal_[t]);
        }
        if (flat_ <= 0.0) flat_ = 1e-300;
        rows_.select(std::move(at));
    }

    // up = 0 where beta may grow, down = 0 where it may fall, else infinity.
    void bound(std::size_t t) {
        up_[t] = beta_[t] < hi_[t] ? 0.0 : kFar;
        down_[t] = beta_[t] > lo_[t] ? 0.0 : kFar;
    }

    // Writes the active rows back, and the gradient of the resting ones from what has changed since the
    // start.
    void give_back() {
        for (std::size_t t = 0; t < n_; ++t) {
            p_.beta[active_[t]] = beta_[t];
            p_.F[active_[t]] = F_[t];
        }
        if (n_ == p_.n) return;
        std::vector<char> is_active(p_.n, 0);
        for (std::int32_t r : active_) is_active[r] = 1;
        std::vector<std::size_t> resting;
        for (std::size_t r = 0; r < p_.n; ++r)
            if (!is_active[r]) {
                resting.push_back(r);
                p_.F[r] = F_start_[r];
            }
        for (std::size_t s = 0; s < p_.n; ++s) {
            const double change = p_.beta[s] - beta_start_[s];
            if (change == 0.0) continue;
            const T* row = p_.K + p_.at[s] * p_.stride;
            for (std::size_t r : resting) p_.F[r] += change * row[p_.at[r]];
        }
    }

    // Rows at a bound that no pair could move now are left out; whether that was right is seen at the end.
    void shrink() {
        smallest_up();
        if (best_ < 0) return;
        double most = -kFar;
        for (std::size_t t = 0; t < n_; ++t) most = std::max(most, F_[t] - down_[t]);
        const double least = F_[best_];
        std::vector<std::int32_t> kept;
        for (std::size_t t = 0; t < n_; ++t) {
            const bool idle = (up_[t] > 0.0 && F_[t] < least) || (down_[t] > 0.0 && F_[t] > most);
            if (!idle) kept.push_back(active_[t]);
        }
        if (kept.size() + n_ / 8 > n_ || kept.size() < 2) return;  // not worth rearranging the rows for
        for (std::size_t t = 0; t < n_; ++t) {
            p_.beta[active_[t]] = beta_[t];
            p_.F[active_[t]] = F_[t];
        }
        active_ = std::move(kept);
        take();
        smallest_up();
    }

    // -- one step ----------------------------------------------------------------------------------------

    // best_: the row with the smallest F among those that may grow (-1: none).
    void smallest_up() {
        best_ = -1;
        double least = kFar;
        for (std::size_t t = 0; t < n_; ++t)
            if (F_[t] + up_[t] < least) {
                least = F_[t];
                best_ = static_cast<std::ptrdiff_t>(t);
            }
    }

    // partner_: the row that may fall with the largest gain. False where the violation is below tol.
    bool find_partner(const T* row) {
        const double least = F_[best_], own = diagonal_[best_];
        Reals most = fill(-kFar), gain = fill(0.0), curvature = fill(1.0), which = fill(-1.0), number;
        for (std::size_t l = 0; l < kReals; ++l) number[l] = static_cast<double>(l);
        std::size_t t = 0;
        for (; t + kReals <= n_; t += kReals) {
            const Reals value = load(&F_[t]) - load(&down_[t]);
            const Reals eta = max(own + load(&diagonal_[t]) - 2.0 * reals_of(row + t), fill(flat_));
            const Reals ahead = max(value - least, fill(0.0));
            const auto better = ahead * ahead * curvature > gain * eta;
            most = max(most, value);
            gain = better ? ahead * ahead : gain;
            curvature = better ? eta : curvature;
            which = better ? number : which;
            number += static_cast<double>(kReals);
        }
        double highest = -kFar, best_gain = 0.0;
        partner_ = -1;
        for (std::size_t l = 0; l < kReals; ++l) {
            highest = std::max(highest, most[l]);
            consider(static_cast<std::ptrdiff_t>(which[l]), gain[l] / curvature[l], best_gain);
        }
        for (; t < n_; ++t) {
            const double value = F_[t] - down_[t], ahead = std::max(value - least, 0.0);
            highest = std::max(highest, value);
            consider(static_cast<std::ptrdiff_t>(t),
                     ahead * ahead / std::max(own + diagonal_[t] - 2.0 * row[t], flat_), best_gain);
        }
        result_.violation = std::max(0.0, highest - least);
        return result_.violation > tol_ && partner_ >= 0;
    }

    // Of equal gains the first row counts, whatever the width of vectors.
    void consider(std::ptrdiff_t t, double gain, double& best_gain) {
        if (t >= 0 && (gain > best_gain || (gain == best_gain && gain > 0.0 && t < partner_))) {
            best_gain = gain;
            partner_ = t;
        }
    }

    // Moves the pair as far as it gains, and finds the next best_ on the way.
    void step(const T* row_i, const T* row_j) {
        const std::ptrdiff_t i = best_, j = partner_;
        const double eta = std::max(diagonal_[i] + diagonal_[j] - 2.0 * row_i[j], flat_);
        const double up = hi_[i] - beta_[i], down = beta_[j] - lo_[j];
        const double d = std::min({(F_[j] - F_[i]) / eta, up, down});
        beta_[i] = d == up ? hi_[i] : beta_[i] + d;
        beta_[j] = d == down ? lo_[j] : beta_[j] - d;
        bound(i);
        bound(j);
        Reals least = fill(kFar), which = fill(-1.0), number;
        for (std::size_t l = 0; l < kReals; ++l) number[l] = static_cast<double>(l);
        std::size_t t = 0;
        for (; t + kReals <= n_; t += kReals) {
            const Reals value = load(&F_[t]) + d * (reals_of(row_i + t) - reals_of(row_j + t));
            store(&F_[t], value);
            const Reals blocked = value + load(&up_[t]);
            const auto smaller = blocked < least;
            least = smaller ? blocked : least;
            which = smaller ? number : which;
            number += static_cast<double>(kReals);
        }
        best_ = -1;
        double lowest = kFar;
        for (std::size_t l = 0; l < kReals; ++l)
            if (least[l] < lowest || (least[l] == lowest && which[l] >= 0.0 && which[l] < best_)) {
                lowest = least[l];
                best_ = static_cast<std::ptrdiff_t>(which[l]);
            }
        for (; t < n_; ++t) {
            F_[t] += d * (static_cast<double>(row_i[t]) - static_cast<double>(row_j[t]));
            if (F_[t] + up_[t] < lowest) {
                lowest = F_[t];
                best_ = static_cast<std::ptrdiff_t>(t);
            }
        }
    }

    const SmoProblem<T> p_;
    const double tol_;
    const std::int64_t max_iter_;
    const bool shrinking_;
    const std::vector<double> beta_start_, F_start_;
    SmoRows<T> rows_;
    std::vector<std::int32_t> active_;
    std::size_t n_ = 0;
    std::vector<double> beta_, lo_, hi_, F_, up_, down_, diagonal_;
    std::ptrdiff_t best_ = -1, partner_ = -1;
    double flat_ = 0.0;  // curvature of a pair of equal rows: rounding of the largest
    SmoResult result_;
};

}  // namespace nearline
