// Stochastic gradient descent over rows in a given order. Step t, over a batch of rows (mean of their
// gradients):
//
//     W <- soft((1 - eta l2) W - eta G, eta l1),   b <- b - eta g,   soft(w, c) = sign(w) max(|w| - c, 0)
//
// On sparse rows the penalty must not cost a pass over all weights, so W = s V with one number s that takes
// the factors 1 - eta l2, and thresholds wait until a weight is next looked at: in V a step lowers |V| by
// eta l1 / s, so sums of those amounts say what a weight owes, and 0 is where it stays.
//
// The sum of the iterates, with weights `shares`, is kept in the same spirit: sum_t share_t s_t V_t = S V +
// B, S = sum_t share_t s_t, where a step adds to B what it takes from V, times the S before it. What the data
// take is a multiple of a row, so their part of B is C^T X with one number for each row and column in C:
// where scattered updates are dear (sparse rows, many columns) the caller makes that product, after all the
// steps.
#pragma once

#include <cmath>
#include <memory>

#include "losses.hpp"
#include "sgd_plane.hpp"

namespace nearline {

struct SgdProblem {
    const CoreLoss* loss;
    RowTargets targets;
    const double* weights;  // of the rows, of mean 1
    const std::int64_t* order;
    std::size_t n_visits, batch_size;
    const double* etas;    // one for each step
    const double* shares;  // of each step in the mean, or null: no mean wanted
    double l1, l2;
    bool bias;
    double *W, *b;               // (K, D), (K,): where to start and to end
    double *total_W, *total_b;   // the sums of shares times iterates, but for C^T X, are added here
    double* C;                   // (n, K), added to; null: the data's part of B is kept here
    double *duals, *dual_total;  // (n, K), (n,): sums of the gradients taken and of their shares, or null
};

// The steps for some of the columns; losses that are sums over columns may be split, joint ones not.
template <class Rows>
class SgdColumns {
  public:
    SgdColumns(const Rows& X, const SgdProblem& problem, std::size_t first, std::size_t last)
        : X_(X),
          p_(problem),
          first_(first),
          last_(last),
          width_(padded(last - first, problem.targets.n_outputs)),
          V_(X.d, last - first, width_),
          B_(problem.shares && (problem.l1 > 0 || !problem.C) ? X.d : 0, last - first, width_),
          b_(problem.b + first, problem.b + last),
          b_sum_(last - first, 0.0),
          G_(width_ * problem.batch_size, 0.0),
          change_(width_),
          since_(problem.l1 > 0 ? X.d : 0, 0) {
        V_.load(problem.W + first * X.d);
        forget();
    }

    void run(Watch& watch) {
        double work = 0.0;
        for (std::size_t t = 0, begin = 0; begin < p_.n_visits; ++t, begin += p_.batch_size) {
            const std::size_t end = std::min(begin + p_.batch_size, p_.n_visits);
            const double share = p_.shares ? p_.shares[t] : 1.0;
            for (std::size_t k = begin; k < end; ++k) {
                look_ahead(k);
                gradient_of_row(k - begin, static_cast<std::size_t>(p_.order[k]), share);
            }
            step(begin, end, p_.etas[t], p_.shares ? share : 0.0);
            work += row_work_ * static_cast<double>(last_ - first_);
            row_work_ = 0.0;
            if (!watch.go_on(work)) return;
        }
        if (p_.l1 > 0) settle_all();
    }

    void store() {
        if (p_.shares) {
            V_.add_to(p_.total_W + first_ * X_.d, S_);
            if (!B_.values.empty()) B_.add_to(p_.total_W + first_ * X_.d, 1.0);
            for (std::size_t c = 0; c < b_.size(); ++c) p_.total_b[first_ + c] += T_ * b_[c] + b_sum_[c];
        }
        V_.store(p_.W + first_ * X_.d, s_);
        std::copy(b_.begin(), b_.end(), p_.b + first_);
    }

  private:
    void look_ahead(std::size_t k) {
        if (k + 4 < p_.n_visits) X_.prefetch(static_cast<std::size_t>(p_.order[k + 4]));
        if (k + 1 < p_.n_visits) V_.prefetch(X_, static_cast<std::size_t>(p_.order[k + 1]));
    }

    void gradient_of_row(std::size_t place, std::size_t i, double share) {
        row_work_ += static_cast<double>(X_.size(i) + 8);
        if (p_.l1 > 0) settle_row(X_, i);
        double* g = G_.data() + place * width_;
        V_.scores(X_, i, change_.data());
        for (std::size_t c = 0; c < b_.size(); ++c) change_[c] = s_ * change_[c] + b_[c];
        p_.loss->row_gradient(change_.data(), p_.targets, i, first_, last_, g);
        if (!p_.duals) return;
        double* u = p_.duals + i * p_.targets.n_outputs + first_;
        for (std::size_t c = 0; c < b_.size(); ++c) u[c] += share * g[c];
        if (first_ == 0) p_.dual_total[i] += share;
    }

    void step(std::size_t begin, std::size_t end, double eta, double share) {
        s_ *= 1.0 - eta * p_.l2;
        if (s_ < 1e-3) fold();
        for (std::size_t k = begin; k < end; ++k) {
            const auto i = static_cast<std::size_t>(p_.order[k]);
            const double* g = G_.data() + (k - begin) * width_;
            const double rate = eta * p_.weights[i] / static_cast<double>(end - begin);
            bool any = false;
            for (std::size_t c = 0; c < b_.size(); ++c) {
                const double move = rate * g[c];
                any = any || move != 0.0;
                change_[c] = -move / s_;
                if (!p_.bias) continue;
                b_[c] -= move;
                b_sum_[c] += T_ * move;
            }
            if (!any) continue;
            std::fill(change_.begin() + b_.size(), change_.end(), 0.0);
            V_.add(X_, i, change_.data());
            if (!p_.shares) continue;
            for (double& a : change_) a *= -S_;
            if (!p_.C) {
                B_.add(X_, i, change_.data());
                continue;
            }
            double* row = p_.C + i * p_.targets.n_outputs + first_;
            for (std::size_t c = 0; c < b_.size(); ++c) row[c] += change_[c];
        }
        if (p_.l1 > 0) {
            const double threshold = eta * p_.l1 / s_;
            owed_.push_back(owed_.back() + threshold);
            owed_sum_.push_back(owed_sum_.back() + S_ * threshold);
            S_before_.push_back(S_);
        }
        S_ += share * s_;
        T_ += share;
    }

    // -- thresholds that wait
    // ---------------------------------------------------------------------------------

    // Takes from one weight what it owes since step `since`; the sum of iterates takes note.
    void settle(double& v, double* sum, std::size_t since) {
        if (v == 0.0) return;
        const double size = std::fabs(v), sign = v > 0 ? 1.0 : -1.0, due = owed_.back() - owed_[since];
        double noted = owed_sum_.back() - owed_sum_[since];
        if (due < size) {
            v = sign * (size - due);
        } else {
            v = 0.0;
            if (sum) {  // the step that made it 0 took only what was left
                auto at = std::lower_bound(owed_.begin() + since, owed_.end(), owed_[since] + size);
                const auto r = std::min<std::size_t>(at - owed_.begin(), owed_.size() - 1);
                const std::size_t before = std::max(r, since + 1) - 1;
                const double rest = std::max(size - (owed_[before] - owed_[since]), 0.0);
                noted = owed_sum_[before] - owed_sum_[since] + rest * S_before_[before];
            }
        }
        if (sum) *sum += sign * noted;
    }

    template <class T>
    void settle_row(const VisitedSparse<T>& X, std::size_t i) {
        for (std::int64_t p = X.indptr[i]; p < X.indptr[i + 1]; ++p) settle_feature(X.indices[p]);
    }
    template <class T>
    void settle_row(const VisitedDense<T>&, std::size_t) {
        settle_all();
    }

    void settle_feature(std::size_t j) {  // sparse layout
        const std::size_t since = since_[j], now = owed_.size() - 1;
        if (since == now) return;
        for (std::size_t c = 0; c < b_.size(); ++c)
            settle(V_.values[j * width_ + c], p_.shares ? &B_.values[j * width_ + c] : nullptr, since);
        since_[j] = static_cast<std::uint32_t>(now);
    }

    void settle_all() { settle_all(X_); }
    template <class T>
    void settle_all(const VisitedSparse<T>& X) {
        for (std::size_t j = 0; j < X.d; ++j) settle_feature(j);
    }
    template <class T>
    void settle_all(const VisitedDense<T>&) {  // every weight was settled one step ago
        if (owed_.size() == 1) return;
        const double due = owed_.back(), S = S_before_[0];
        for (std::size_t k = 0; k < V_.values.size(); ++k) {
            const double v = V_.values[k], rest = std::max(std::fabs(v) - due, 0.0);
            const double kept = std::copysign(rest, v);
            if (p_.shares) B_.values[k] += S * (v - kept);
            V_.values[k] = rest == 0.0 ? 0.0 : kept;
        }
        forget();
    }

    void forget() {
        owed_.assign(1, 0.0);
        owed_sum_.assign(1, 0.0);
        S_before_.clear();
        std::fill(since_.begin(), since_.end(), 0);
    }

    // W = V and sum of iterates = B: done before S V and B, which grow as 1 / s, cancel too many digits.
    void fold() {
        if (p_.l1 > 0) settle_all();
        forget();
        if (p_.shares) {
            if (B_.values.empty()) B_ = Plane<Rows>(X_.d, last_ - first_, width_);
            for (std::size_t k = 0; k < V_.values.size(); ++k) B_.values[k] += S_ * V_.values[k];
        }
        for (double& v : V_.values) v *= s_;
        for (std::size_t c = 0; c < b_.size(); ++c) b_sum_[c] += T_ * b_[c];
        s_ = 1.0;
        S_ = T_ = 0.0;
    }

    const Rows& X_;
    const SgdProblem& p_;
    const std::size_t first_, last_, width_;
    Plane<Rows> V_, B_;
    std::vector<double> b_, b_sum_, G_, change_;
    std::vector<std::uint32_t> since_;  // step after which a feature was last settled
    // After each step since the last fold: sum of thresholds, the same times S, and S before the step that
    // follows.
    std::vector<double> owed_, owed_sum_, S_before_;
    double s_ = 1.0, S_ = 0.0, T_ = 0.0, row_work_ = 0.0;
};

template <class Rows>
void sgd(const Rows& X, const SgdProblem& problem) {
    const std::size_t K = problem.targets.n_outputs;
    const std::size_t n_tasks =
        problem.loss->joint ? 1 : std::min<std::size_t>(K, std::max(1, thread_limit.load()));
    std::vector<std::unique_ptr<SgdColumns<Rows>>> parts(n_tasks);
    Watch watch;
    const double density = X.n ? static_cast<double>(X.size(0)) : 1.0;
    parallel_for(n_tasks, density * static_cast<double>(problem.n_visits * K), [&](std::size_t t) {
        parts[t] = std::make_unique<SgdColumns<Rows>>(X, problem, share_begin(K, n_tasks, t),
                                                      share_begin(K, n_tasks, t + 1));
        parts[t]->run(watch);
    });
    for (const auto& part : parts) part->store();
}

}  // namespace nearline
