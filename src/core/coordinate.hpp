// Cyclic coordinate descent on the quadratic model of a risk around a point, over a working set of weights:
//
//   min over W, b   g.(W - W0) + g_b.(b - b0) + (1/2) sum_i v_i^T H_i v_i + l1 |W|_1 + (l2/2) |W|^2,
//
// with v_i the change of row i's scores. H_i is diagonal where the score columns are separate, and
// diag(q) - q q^T / sum(q) + damping where they are joint (softmax: q = probabilities; sparsemax: q = the
// support). The bias is at its best after every step: it follows each weight in closed form, at no cost, so
// that neither it nor an offset of the features ever slows the descent down.
#pragma once

#include <thread>

#include "coordinate_polish.hpp"

namespace nearline {

// The working set, score column by score column, and what the descent gives back.
struct WorkingSet {
    Size n_rows, n_outputs;
    const Size* starts;           // (K + 1,) where each score column's coordinates begin
    const Id* columns;            // of X
    const double* gradient;       // of the data loss
    const double* bias_gradient;  // (K,)
    double* weights;              // in and out
    double* bias_step;            // (K,) out, in shifted columns
    double* score_step;           // (K, n) out

    Size size(Size c) const { return starts[c + 1] - starts[c]; }
};

struct Descent {
    Penalty penalty;
    bool bias;
    double tol;  // ends when a sweep changes the model by tol times what the first one did
    Size max_rounds;
};

inline double soft_threshold(double z, double t) { return z > t ? z - t : (z < -t ? z + t : 0.0); }

// The minimizer of the model along one weight; gradient: of the data part of the model, where it stands.
inline double best_weight(const Coordinate& c, double gradient, const Penalty& penalty) {
    const double curvature = c.hessian + penalty.l2;
    if (!(curvature > 0)) return penalty.l1 > 0 ? 0.0 : c.weight;  // only the penalty speaks
    return soft_threshold(c.hessian * c.weight - gradient, penalty.l1) / curvature;
}

// The model as a function of the weights of one score column; d: (n,) the rows' curvature.
template <class View>
class Block {
  public:
    Block(const View& X, const double* d, const Descent& how) : X_(X), d_(d), penalty_(how.penalty) {
        if (how.bias)
            for (Size i = 0; i < X.n_rows(); ++i) mass_ += d[i];
    }

    void prepare(const WorkingSet& set, Size c, bool parallel) {
        coordinates.resize(set.size(c));
        double work = 0;
        for (Size k = set.starts[c]; k < set.starts[c + 1]; ++k) work += 4.0 * X_.work(set.columns[k]);
        const Size first = set.starts[c], chunk = 32, n_chunks = (set.size(c) + chunk - 1) / chunk;
        auto measure = [&](Size task) {
            for (Size k = task * chunk; k < std::min((task + 1) * chunk, set.size(c)); ++k) {
                const ColumnMoments s = X_.sums(set.columns[first + k], d_);
                const double hessian = mass_ > 0 ? s.second - s.first * s.first / mass_ : s.second;
                coordinates[k] = {set.columns[first + k], set.weights[first + k], set.gradient[first + k],
                                  std::max(hessian, 1e-12 * s.second), s.first};
            }
        };
        if (parallel) return parallel_for(n_chunks, work, measure);
        for (Size task = 0; task < n_chunks; ++task) measure(task);
    }

    // Put the bias at its best, given the derivative of the model along it where the slopes stand.
    void settle_bias(double gradient) { bias = mass_ > 0 ? -gradient / mass_ : 0.0; }

    // One update of each coordinate, or of those that are not zero. slope: (n,) curvature times change of the
    // scores. Gives the sum of hessian * step^2, about twice the decrease of the model.
    double sweep(bool all, double* slope) {
        double change = 0;
        for (Coordinate& c : coordinates)
            if (all || c.weight != 0) change += update(c, slope);
        return change;
    }

    double mass() const { return mass_; }

    std::vector<Coordinate> coordinates;
    double bias = 0;

  private:
    double update(Coordinate& c, double* slope) {
        const double gradient = c.gradient + X_.dot(c.column, slope) + bias * c.sum;
        const double weight = best_weight(c, gradient, penalty_), step = weight - c.weight;
        if (step == 0) return 0.0;
        X_.add(c.column, step, d_, slope);
        if (mass_ > 0) bias -= step * c.sum / mass_;
        c.weight = weight;
        return (c.hessian + penalty_.l2) * step * step;
    }

    const View& X_;
    const double* d_;
    Penalty penalty_;
    double mass_ = 0;
};

// Writes the weights and the change of the scores back.
template <class View>
void finish(const View& X, const WorkingSet& set, Size c, const std::vector<Coordinate>& coordinates,
            double bias) {
    double* v = set.score_step + c * set.n_rows;
    std::fill(v, v + set.n_rows, bias);
    double* weights = set.weights + set.starts[c];
    for (std::size_t k = 0; k < coordinates.size(); ++k) {
        const double step = coordinates[k].weight - weights[k];
        if (step != 0) X.add(coordinates[k].column, step, v);
        weights[k] = coordinates[k].weight;
    }
    set.bias_step[c] = bias;
}

// A score column that no other is coupled with.
template <class View>
class SeparateModel {
  public:
    SeparateModel(const View& X, const WorkingSet& set, const Descent& how, Size c, const double* d,
                  bool parallel, const Workspace& workspace)
        : X_(X),
          set_(set),
          how_(how),
          c_(c),
          d_(d),
          parallel_(parallel),
          workspace_(workspace),
          block_(X, d, how),
          slope_(set.n_rows, 0.0) {
        block_.prepare(set, c, parallel);
        block_.settle_bias(set.bias_gradient[c]);
    }

    double sweep(bool all) { return block_.sweep(all, slope_.data()); }

    void polish() {
        Moving moving;
        moving.add(0, block_.coordinates);
        if (moving.coordinates.empty()) return;
        const Subspace<View> space(X_, 1, moving.variables, block_.mass() > 0, parallel_, workspace_);
        const auto step = nearline::polish(
            space, moving, how_.penalty, [&](Size i, double* t) { t[0] = slope_[i] + d_[i] * block_.bias; },
            [&](Size i, const double* v, double* t) { t[0] = d_[i] * v[0]; }, {set_.bias_gradient[c_]},
            {block_.mass()}, how_.tol);
        const double bias_step = block_.mass() > 0 ? step.back() : 0.0;
        space.scores(step.data(), [&](Size i, const double* v) { slope_[i] += d_[i] * (v[0] - bias_step); });
        block_.bias += bias_step;
    }

    void finish() { nearline::finish(X_, set_, c_, block_.coordinates, block_.bias); }

  private:
    const View& X_;
    const WorkingSet& set_;
    const Descent& how_;
    Size c_;
    const double* d_;
    bool parallel_;
    Workspace workspace_;
    Block<View> block_;
    std::vector<double> slope_;
};

// Score columns that the loss couples, updated one after another. With m_i = sum_k q_ik v_ik / sum_k q_ik,
// column c sees the curvature q_c (1 - q_c / sum q) and the slope q_c (v_c - m).
template <class View>
class JointModel {
  public:
    JointModel(const View& X, const WorkingSet& set, const Descent& how, const double* q, double damping,
               const Workspace& workspace)
        : X_(X),
          set_(set),
          how_(how),
          q_(q),
          damping_(damping),
          workspace_(workspace),
          n_(set.n_rows),
          K_(set.n_outputs) {
        const Size size = n_ * K_;
        share_.resize(size), d_.resize(size), v_.assign(size, 0.0), mean_.assign(n_, 0.0),
            bias_.assign(K_, 0.0);
        std::vector<double> total(n_, 0.0);
        for (Size at = 0; at < size; ++at) total[at % n_] += q[at];
        for (Size at = 0; at < size; ++at) {
            share_[at] = total[at % n_] > 0 ? q[at] / total[at % n_] : 0.0;
            d_[at] = q[at] * (1.0 - share_[at]) + damping;
        }
        for (Size c = 0; c < K_; ++c) blocks_.emplace_back(X, d_.data() + c * n_, how);
        for (Size c = 0; c < K_; ++c) blocks_[c].prepare(set, c, true);
    }

    double sweep(bool all) {
        double change = 0;
        std::vector<double> slope(n_), before(n_);
        for (Size c = 0; c < K_; ++c) {
            check_interrupt();
            double *v = v_.data() + c * n_, bias_gradient = set_.bias_gradient[c];
            const double *d = d_.data() + c * n_, *share = share_.data() + c * n_;
            for (Size i = 0; i < n_; ++i) {
                slope[i] = slope_of(i, c, v[i], mean_[i]);
                bias_gradient += slope[i];
            }
            before = slope;
            blocks_[c].settle_bias(bias_gradient);
            change += blocks_[c].sweep(all, slope.data());
            bias_[c] += blocks_[c].bias;
            for (Size i = 0; i < n_; ++i) {
                // Where a row has no curvature its change of score is never looked at.
                const double moved = (d[i] > 0 ? (slope[i] - before[i]) / d[i] : 0.0) + blocks_[c].bias;
                v[i] += moved;
                mean_[i] += share[i] * moved;
            }
        }
        return change;
    }

    void polish() {
        Moving moving;
        for (Size c = 0; c < K_; ++c) moving.add(c, blocks_[c].coordinates);
        if (moving.coordinates.empty()) return;
        const Subspace<View> space(X_, K_, moving.variables, how_.bias, true, workspace_);
        std::vector<double> bias_gradient(set_.bias_gradient, set_.bias_gradient + K_), masses;
        for (const auto& block : blocks_) masses.push_back(block.mass());
        auto slope = [&](Size i, double* t) {
            for (Size c = 0; c < K_; ++c) t[c] = slope_of(i, c, v_[c * n_ + i], mean_[i]);
        };
        auto curve = [&](Size i, const double* v, double* t) {
            double mean = 0;
            for (Size c = 0; c < K_; ++c) mean += share_[c * n_ + i] * v[c];
            for (Size c = 0; c < K_; ++c) t[c] = slope_of(i, c, v[c], mean);
        };
        const auto step =
            nearline::polish(space, moving, how_.penalty, slope, curve, bias_gradient, masses, how_.tol);
        space.scores(step.data(), [&](Size i, const double* v) {
            for (Size c = 0; c < K_; ++c) {
                v_[c * n_ + i] += v[c];
                mean_[i] += share_[c * n_ + i] * v[c];
            }
        });
        for (Size c = 0; how_.bias && c < K_; ++c) bias_[c] += step[moving.coordinates.size() + c];
    }

    void finish() {
        for (Size c = 0; c < K_; ++c) nearline::finish(X_, set_, c, blocks_[c].coordinates, bias_[c]);
    }

  private:
    double slope_of(Size i, Size c, double v, double mean) const {
        return q_[c * n_ + i] * (v - mean) + damping_ * v;
    }

    const View& X_;
    const WorkingSet& set_;
    const Descent& how_;
    const double* q_;
    double damping_;
    Workspace workspace_;
    Size n_, K_;
    std::vector<double> share_, d_, v_, mean_, bias_;
    std::vector<Block<View>> blocks_;
};

// Sweeps over all coordinates find out which move; sweeps over those and a polish bring them to rest.
template <class Model>
void descend(Model& model, const Descent& how, std::thread::id caller) {
    const double goal = how.tol * model.sweep(true);
    for (Size round = 0; round < how.max_rounds; ++round) {
        if (std::this_thread::get_id() == caller) check_interrupt();
        if (model.sweep(false) > goal && model.sweep(false) > goal) model.polish();
        if (model.sweep(true) <= goal) break;
    }
    model.finish();
}

template <class View>
void descend_separate(const View& X, const WorkingSet& set, const Descent& how, const double* curvature,
                      const Workspace& workspace) {
    const auto caller = std::this_thread::get_id();
    const bool alone = set.n_outputs == 1;
    parallel_for(set.n_outputs, 1e9, [&](Size c) {
        const Workspace given = alone ? workspace : Workspace{nullptr, nullptr, 0};
        SeparateModel<View> model(X, set, how, c, curvature + c * set.n_rows, alone, given);
        descend(model, how, caller);
    });
}

template <class View>
void descend_joint(const View& X, const WorkingSet& set, const Descent& how, const double* q, double damping,
                   const Workspace& workspace) {
    JointModel<View> model(X, set, how, q, damping, workspace);
    descend(model, how, std::this_thread::get_id());
}

}  // namespace nearline
