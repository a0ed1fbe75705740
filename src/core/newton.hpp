// One step of Newton's method on mean loss + (l2/2) |W|^2 over dense rows: H d = -g, and the point at full
// length.
//
// The blocks of H that belong to one class each are formed and factored. Where score columns are separate,
// they are all of H. Where they are joint, they precondition conjugate gradients, which need no more of H
// than its products. Sums are added in an order that the shapes alone define.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "cholesky.hpp"
#include "gram.hpp"
#include "pass_dense.hpp"
#include "row_sums.hpp"
#include "tile_work.hpp"

namespace nearline {

// What is minimized. Parameters are flat: the weights (K, D), then the biases (K,).
template <class T>
struct SmoothRisk {
    DenseRows<T> X;
    Rows rows;
    const double* mean;  // of the features: systems are formed about it, null without a bias
    double l2, total_weight;

    std::size_t n_weights() const { return rows.n_columns * X.n_features; }
    std::size_t size() const { return n_weights() + rows.n_columns; }
    PackedWeights<T> packed(const double* params) const {
        return PackedWeights<T>(params, params + n_weights(), rows.n_columns, X.n_features);
    }
    // sums over rows -> derivatives of the risk, at or along params
    void finish(const double* params, double* out) const {
        for (std::size_t i = 0; i < n_weights(); ++i) out[i] = out[i] / total_weight + l2 * params[i];
        for (std::size_t i = n_weights(); i < size(); ++i)
            out[i] = mean == nullptr ? 0.0 : out[i] / total_weight;
    }
    double penalty(const double* params) const { return 0.5 * l2 * dot(params, params, n_weights()); }

    // The mean loss, its scores and the gradient of the risk.
    double at(const double* params, T* scores, double* gradient) const {
        GradientWork work(rows);
        const PackedWeights<T> W = packed(params);
        dense_pass<T>({X, rows.n_columns, &W, &work, scores, gradient});
        work.sums.columns(gradient + n_weights());
        finish(params, gradient);
        return work.sums.value() / total_weight;
    }
    // out := H direction
    void curve(const TileSource& scores, const double* direction, double* out) const {
        CurvatureWork work(rows, scores);
        const PackedWeights<T> W = packed(direction);
        dense_pass<T>({X, rows.n_columns, &W, &work, nullptr, out});
        work.sums.columns(out + n_weights());
        finish(direction, out);
    }
};

// The blocks of H of each class alone, factored.
template <class T>
class ClassBlocks {
  public:
    ClassBlocks(const SmoothRisk<T>& risk, const TileSource& scores) : risk_(risk) {
        const std::size_t K = risk.rows.n_columns, D = risk.X.n_features, P = D + 1;
        const std::size_t N = risk.mean == nullptr ? D : P;
        const std::vector<double> h = row_weights(scores);
        std::vector<double> grams(K * P * P, 0.0), block(N * N);
        add_weighted_grams(risk.X, h.data(), K, grams.data(), risk.mean);
        factors_.reserve(K);
        for (std::size_t c = 0; c < K; ++c) {
            for (std::size_t i = 0; i < N; ++i)
                for (std::size_t j = 0; j <= i; ++j)
                    block[i * N + j] = grams[(c * P + i) * P + j] / risk.total_weight;
            for (std::size_t j = 0; j < D; ++j) block[j * N + j] += risk.l2;
            factors_.emplace_back(block.data(), N);
        }
    }
    // out := M^-1 r. About the mean, b is the score there: (W, b) = (V, c - V mean).
    void solve(const double* r, double* out) const {
        const std::size_t K = risk_.rows.n_columns, D = risk_.X.n_features, biases = risk_.n_weights();
        std::vector<double> x(D + 1);
        for (std::size_t c = 0; c < K; ++c) {
            const double* mean = risk_.mean;
            const double r_b = r[biases + c];
            for (std::size_t j = 0; j < D; ++j)
                x[j] = mean == nullptr ? r[c * D + j] : r[c * D + j] - mean[j] * r_b;
            x[D] = r_b;
            factors_[c].solve(x.data());
            std::copy_n(x.data(), D, out + c * D);
            out[biases + c] = mean == nullptr ? 0.0 : x[D] - dot(x.data(), mean, D);
        }
    }

  private:
    // (n, K): the curvature of each row's loss in each score, times the row's weight
    std::vector<double> row_weights(const TileSource& scores) const {
        const Rows& rows = risk_.rows;
        const std::size_t K = rows.n_columns;
        std::vector<double> h(rows.n_rows * K);
        row_curvature(rows, scores, h.data());
        std::vector<double> q(K);
        for (std::size_t i = 0; i < rows.n_rows; ++i) {
            double* row = h.data() + i * K;
            const double s = std::max(rows.weights[i], 0.0);
            std::copy_n(row, K, q.data());
            for (std::size_t c = 0; c < K; ++c) row[c] = s * (rows.loss->joint ? q[c] * others(q, c) : q[c]);
        }
        return h;
    }

    // Of a joint loss h_cc = q_c (sum of the other q): a sum, as a difference would lose what is small.
    static double others(const std::vector<double>& q, std::size_t c) {
        double sum = 0.0;
        for (std::size_t d = 0; d < q.size(); ++d) sum += d == c ? 0.0 : q[d];
        return sum;
    }

    const SmoothRisk<T>& risk_;
    std::vector<Cholesky> factors_;
};

// direction := about -H^-1 gradient. ``value``: the risk, in whose units the error is small enough.
template <class T>
void newton_direction(const SmoothRisk<T>& risk, const TileSource& scores, double value,
                      const double* gradient, double* direction) {
    constexpr int most = 50;  // products with H
    const std::size_t size = risk.size();
    const ClassBlocks<T> blocks(risk, scores);
    std::vector<double> r(size), z(size), p(size), Hp(size);
    for (std::size_t i = 0; i < size; ++i) r[i] = -gradient[i];
    blocks.solve(r.data(), z.data());
    std::copy(z.begin(), z.end(), direction);
    if (!risk.rows.loss->joint) return;
    std::fill_n(direction, size, 0.0);
    double decrement = dot(r.data(), z.data(), size);
    // The closer to the minimum, the more exact: convergence stays faster than linear.
    const double enough = decrement * std::min(0.01, decrement / std::max(value, 1e-300));
    p = z;
    for (int k = 0; k < most && decrement > enough; ++k) {
        risk.curve(scores, p.data(), Hp.data());
        const double curvature = dot(p.data(), Hp.data(), size);
        if (!(curvature > 0.0)) break;
        const double step = decrement / curvature;
        for (std::size_t i = 0; i < size; ++i) {
            direction[i] += step * p[i];
            r[i] -= step * Hp[i];
        }
        blocks.solve(r.data(), z.data());
        const double left = dot(r.data(), z.data(), size), share = left / decrement;
        for (std::size_t i = 0; i < size; ++i) p[i] = z[i] + share * p[i];
        decrement = left;
    }
}

// The point at params + direction, and whether it is good enough: strong Wolfe conditions at full length.
template <class T>
struct NewtonStep {
    double data_loss, penalty;
    bool good;

    // value, gradient: at params; noise: what values may be off by
    NewtonStep(const SmoothRisk<T>& risk, const double* params, const TileSource& scores,
               const double* gradient, double value, double noise, double* direction, double* next,
               T* next_scores, double* next_gradient) {
        const std::size_t size = risk.size();
        newton_direction(risk, scores, value, gradient, direction);
        for (std::size_t i = 0; i < size; ++i) next[i] = params[i] + direction[i];
        data_loss = risk.at(next, next_scores, next_gradient);
        penalty = risk.penalty(next);
        const double before = dot(gradient, direction, size), after = dot(next_gradient, direction, size);
        good = before < 0.0 && data_loss + penalty <= value + 1e-4 * before + noise &&
               std::fabs(after) <= -0.9 * before;
    }
};

}  // namespace nearline
