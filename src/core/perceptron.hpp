// The perceptron rule: go through the rows, move the weights on mistakes only, until a whole cycle has none.
#pragma once

#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

#include "sgd_plane.hpp"

namespace nearline {

// What each column gains of x, given the scores of a row of class y; zero everywhere if there is no mistake.
// Columns first .. last-1 of K. Ties count as mistakes.
using Correction = void (*)(const double* f, std::size_t y, std::size_t first, std::size_t last,
                            std::size_t K, double* gain);

namespace rule {

inline void joint(const double* f, std::size_t y, std::size_t, std::size_t, std::size_t K, double* gain) {
    double violations = 0.0;
    for (std::size_t c = 0; c < K; ++c) {
        const bool wrong = c != y && f[c] >= f[y];
        gain[c] = wrong ? -1.0 : 0.0;
        violations += wrong;
    }
    gain[y] = violations;
}

inline void argmax(const double* f, std::size_t y, std::size_t, std::size_t, std::size_t K, double* gain) {
    std::size_t rival = y == 0 ? 1 : 0;
    for (std::size_t c = 0; c < K; ++c) {
        gain[c] = 0.0;
        if (c != y && f[c] > f[rival]) rival = c;
    }
    if (f[rival] >= f[y]) gain[y] = 1.0, gain[rival] = -1.0;
}

inline void one_vs_rest(const double* f, std::size_t y, std::size_t first, std::size_t last, std::size_t K,
                        double* gain) {
    for (std::size_t c = first; c < last; ++c) {
        const double sign = y == (K == 1 ? 1 : c) ? 1.0 : -1.0;
        gain[c - first] = sign * f[c - first] <= 0.0 ? sign : 0.0;
    }
}

inline Correction named(const std::string& name) {
    if (name == "joint") return joint;
    if (name == "argmax") return argmax;
    if (name == "one-vs-rest") return one_vs_rest;
    throw std::invalid_argument("the core has no perceptron rule '" + name + "'");
}

}  // namespace rule

struct PerceptronProblem {
    Correction correction;
    const std::int32_t* labels;
    const double* weights;  // of the rows; rows of weight 0 are not visited
    std::size_t n_outputs, max_cycles;
    std::size_t least_cycles;  // from then on a column also ends once cycles no longer help; 0: never
    bool bias, averaged, shuffle;
    std::uint64_t seed;
    double *W, *b;              // (K, D), (K,): where to start and to end
    double *total_W, *total_b;  // sums of weight times iterate over the visits are added here, if averaged
    double* visits;             // (K,): sum of weights of the visits that a column made; added to
    std::int64_t* mistakes;     // (K,): how often a column was wrong (f_c >= f_y; one-vs-rest: y f <= 0)
    std::int64_t* cycles;       // (K,): until and with the first without a mistake
    bool* clean;                // (K,): whether there was one
    double* margins;            // (K,): smallest margin in the last cycle, y f or f_y less the best rival's
};

template <class Rows>
class PerceptronColumns {
  public:
    PerceptronColumns(const Rows& X, const PerceptronProblem& problem, std::size_t first, std::size_t last)
        : X_(X),
          p_(problem),
          first_(first),
          last_(last),
          width_(padded(last - first, problem.n_outputs)),
          V_(X.d, last - first, width_),
          B_(problem.averaged ? X.d : 0, last - first, width_),
          b_(problem.b + first, problem.b + last),
          b_sum_(last - first, 0.0),
          visits_(last - first, 0.0),
          gain_(width_, 0.0),
          f_(width_, 0.0),
          mistakes_(last - first, 0),
          cycles_(last - first, 0),
          clean_(last - first, 0),
          idle_(last - first, 0),
          fewest_(last - first),
          margins_(last - first, 0.0) {
        V_.load(problem.W + first * X.d);
        for (std::size_t i = 0; i < X.n; ++i)
            if (problem.weights[i] > 0) order_.push_back(i);
    }

    void run(Watch& watch) {
        std::mt19937_64 random(p_.seed);
        for (std::size_t cycle = 0; cycle < p_.max_cycles; ++cycle) {
            if (p_.shuffle)
                for (std::size_t k = order_.size(); k > 1; --k)
                    std::swap(order_[k - 1], order_[random() % k]);
            const std::vector<std::int64_t> before = mistakes_;
            if (!one_cycle(watch)) return;
            if (all_done(before, cycle + 1)) break;
        }
    }

    void store() {
        V_.store(p_.W + first_ * X_.d, 1.0);
        for (std::size_t c = 0; c < b_.size(); ++c) {
            p_.b[first_ + c] = b_[c];
            p_.visits[first_ + c] += visits_[c];
            p_.mistakes[first_ + c] = mistakes_[c];
            p_.cycles[first_ + c] = cycles_[c];
            p_.clean[first_ + c] = clean_[c] != 0;
            p_.margins[first_ + c] = margins_[c];
        }
        if (!p_.averaged) return;
        // sum of s_t W_t = (sum of s_t) W - sum over corrections of (sum of s before) times the correction
        B_.add_to(p_.total_W + first_ * X_.d, -1.0);
        for (std::size_t c = 0; c < b_.size(); ++c) {
            const double* w = p_.W + (first_ + c) * X_.d;
            double* total = p_.total_W + (first_ + c) * X_.d;
            for (std::size_t j = 0; j < X_.d; ++j) total[j] += visits_[c] * w[j];
            p_.total_b[first_ + c] += visits_[c] * b_[c] - b_sum_[c];
        }
    }

  private:
    bool one_cycle(Watch& watch) {
        const std::size_t n = order_.size();
        std::fill(margins_.begin(), margins_.end(), std::numeric_limits<double>::infinity());
        for (std::size_t k = 0; k < n; ++k) {
            if (k + 4 < n) X_.prefetch(order_[k + 4]);
            if (k + 1 < n) V_.prefetch(X_, order_[k + 1]);
            visit(order_[k]);
            work_ += static_cast<double>((X_.size(order_[k]) + 8) * b_.size());
            if (!watch.go_on(work_)) return false;
        }
        for (std::size_t c = 0; c < b_.size(); ++c)
            if (!clean_[c] && !idle_[c]) visits_[c] = seen_, cycles_[c] += 1;
        return true;
    }

    void visit(std::size_t i) {
        V_.scores(X_, i, f_.data());
        for (std::size_t c = 0; c < b_.size(); ++c) f_[c] += b_[c];
        p_.correction(f_.data(), static_cast<std::size_t>(p_.labels[i]), first_, last_, p_.n_outputs,
                      gain_.data());
        note_margins(static_cast<std::size_t>(p_.labels[i]));
        const double weight = p_.weights[i];
        bool any = false;
        for (std::size_t c = 0; c < b_.size(); ++c) {
            if (idle_[c]) gain_[c] = 0.0;
            if (gain_[c] == 0.0) continue;
            any = true;
            mistakes_[c] += separate_ || gain_[c] < 0.0;
            gain_[c] *= weight;
            if (!p_.bias) continue;
            b_[c] += gain_[c];
            b_sum_[c] += seen_ * gain_[c];
        }
        if (any) {
            V_.add(X_, i, gain_.data());
            if (p_.averaged) {
                for (double& a : gain_) a *= seen_;
                B_.add(X_, i, gain_.data());
            }
        }
        seen_ += weight;
    }

    void note_margins(std::size_t y) {
        double rival = -std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < b_.size(); ++c) {
            const std::size_t positive = p_.n_outputs == 1 ? 1 : first_ + c;
            if (separate_) margins_[c] = std::min(margins_[c], y == positive ? f_[c] : -f_[c]);
            if (!separate_ && c != y) rival = std::max(rival, f_[c]);
        }
        if (!separate_) std::fill(margins_.begin(), margins_.end(), std::min(margins_[0], f_[y] - rival));
    }

    // A column without a mistake in a whole cycle is done, as it cannot change any more; one whose cycles no
    // longer help is left as it is. Joint rules end together.
    bool all_done(const std::vector<std::int64_t>& before, std::size_t cycle) {
        if (!separate_) {
            std::int64_t made = 0;
            for (std::size_t c = 0; c < b_.size(); ++c) made += mistakes_[c] - before[c];
            if (made == 0) std::fill(clean_.begin(), clean_.end(), 1);
            return made == 0 || no_longer_helps(0, made, cycle);
        }
        bool all = true;
        for (std::size_t c = 0; c < b_.size(); ++c) {
            if (clean_[c] || idle_[c]) continue;
            const std::int64_t made = mistakes_[c] - before[c];
            if (made == 0)
                clean_[c] = 1;
            else if (no_longer_helps(c, made, cycle))
                idle_[c] = 1;
            all = all && (clean_[c] || idle_[c]);
        }
        return all;
    }

    // Whether twice as many cycles brought the fewest mistakes in a cycle down by less than a tenth.
    bool no_longer_helps(std::size_t c, std::int64_t made, std::size_t cycle) {
        std::vector<std::int64_t>& fewest = fewest_[c];
        fewest.push_back(fewest.empty() ? made : std::min(made, fewest.back()));
        return p_.least_cycles > 0 && cycle >= p_.least_cycles &&
               10 * fewest.back() > 9 * fewest[cycle / 2 - 1];
    }

    const Rows& X_;
    const PerceptronProblem& p_;
    const std::size_t first_, last_, width_;
    const bool separate_ = p_.correction == rule::one_vs_rest;
    Plane<Rows> V_, B_;
    std::vector<double> b_, b_sum_, visits_, gain_, f_;
    std::vector<std::int64_t> mistakes_, cycles_;
    std::vector<char> clean_, idle_;
    std::vector<std::vector<std::int64_t>> fewest_;  // mistakes in a cycle, up to each cycle
    std::vector<double> margins_;
    std::vector<std::size_t> order_;
    double seen_ = 0.0, work_ = 0.0;
};

template <class Rows>
void perceptron(const Rows& X, const PerceptronProblem& problem) {
    const std::size_t K = problem.n_outputs;
    const bool split = problem.correction == rule::one_vs_rest;
    const std::size_t n_tasks = split ? std::min<std::size_t>(K, std::max(1, thread_limit.load())) : 1;
    std::vector<std::unique_ptr<PerceptronColumns<Rows>>> parts(n_tasks);
    Watch watch;
    const double density = X.n ? static_cast<double>(X.size(0)) : 1.0;
    parallel_for(n_tasks, density * static_cast<double>(X.n * K * problem.max_cycles), [&](std::size_t t) {
        parts[t] = std::make_unique<PerceptronColumns<Rows>>(X, problem, share_begin(K, n_tasks, t),
                                                             share_begin(K, n_tasks, t + 1));
        parts[t]->run(watch);
    });
    for (const auto& part : parts) part->store();
}

}  // namespace nearline
