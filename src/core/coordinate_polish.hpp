// Newton's system on the weights that are not zero. With their signs held the model is a plain quadratic
// there: coordinate descent finds the signs quickly and the solution slowly, conjugate gradients the other
// way round.
#pragma once

#include "coordinate_subspace.hpp"

namespace nearline {

struct Penalty {
    double l1, l2;
};

struct Coordinate {
    Size column;
    double weight;
    double gradient;  // of the data loss along this weight, at the start
    double hessian;   // of the model along this weight, with the bias at its best
    double sum;       // sum_i d_i x_ij

    // What the start and the penalty give to the model's gradient, sign held.
    double own_gradient(const Penalty& penalty) const {
        return gradient + (weight > 0 ? penalty.l1 : -penalty.l1) + penalty.l2 * weight;
    }
};

struct Moving {
    std::vector<Coordinate*> coordinates;
    std::vector<Variable> variables;

    void add(Size output, std::vector<Coordinate>& all) {
        for (Coordinate& c : all)
            if (c.weight != 0 && c.hessian > 0) {
                coordinates.push_back(&c);
                variables.push_back({output, c.column});
            }
    }
};

// A step t x of the weights: one that would change its sign stops at zero.
inline void cut_step(const Moving& moving, const std::vector<double>& x, double t,
                     std::vector<double>& step) {
    for (std::size_t k = 0; k < x.size(); ++k) step[k] = t * x[k];
    for (std::size_t k = 0; k < moving.coordinates.size(); ++k) {
        const double w = moving.coordinates[k]->weight;
        if ((w + step[k]) * w < 0) step[k] = -w;
    }
}

// Moves the weights and gives the step of all variables back (weights, then biases). start: (m,) the model's
// gradient, signs held; A(p, z): z = the model's matrix times p.
template <class Product>
std::vector<double> polish_step(const Moving& moving, const Product& A, const std::vector<double>& start,
                                const std::vector<double>& diagonal, double tol) {
    const std::size_t size = moving.coordinates.size(), m = start.size();
    std::vector<double> r = start, step(m), moved(m);
    const std::vector<double> x = conjugate_gradients(A, r, diagonal, tol, 64);
    double safe = 1;  // up to here no sign changes, so the model goes down all the way
    for (std::size_t k = 0; k < size; ++k) {
        const double w = moving.coordinates[k]->weight;
        if ((w + x[k]) * w < 0) safe = std::min(safe, -w / x[k]);
    }
    bool found = false;
    for (double t = 1; t > safe && !found; t *= 0.5) {
        cut_step(moving, x, t, step);
        A(step.data(), moved.data());
        double decrease = 0;
        for (std::size_t k = 0; k < m; ++k) decrease -= step[k] * (start[k] + 0.5 * moved[k]);
        found = decrease > 0;
    }
    if (!found) cut_step(moving, x, safe, step);
    for (std::size_t k = 0; k < size; ++k) moving.coordinates[k]->weight += step[k];
    return step;
}

// The same, rows given. slope(i, t): the rows' slopes t (K,) as they stand; curve(i, v, t): what a change v
// of the scores adds to them; bias_gradient, bias_curvature: (K,).
template <class View, class Slope, class Curve>
std::vector<double> polish(const Subspace<View>& space, const Moving& moving, const Penalty& penalty,
                           const Slope& slope, const Curve& curve, const std::vector<double>& bias_gradient,
                           const std::vector<double>& bias_curvature, double tol) {
    const std::size_t size = moving.coordinates.size(), m = space.size();
    std::vector<double> start(m), diagonal(m, 1.0);
    const std::vector<double> zeros(m, 0.0);
    space.product(zeros.data(), [&](Size i, const double*, double* t) { slope(i, t); }, start.data());
    for (std::size_t k = 0; k < size; ++k) {
        start[k] += moving.coordinates[k]->own_gradient(penalty);
        diagonal[k] = moving.coordinates[k]->hessian + penalty.l2;
    }
    for (std::size_t k = size; k < m; ++k) {
        start[k] += bias_gradient[k - size];
        if (bias_curvature[k - size] > 0) diagonal[k] = bias_curvature[k - size];
    }
    auto A = [&](const double* p, double* z) {
        space.product(p, curve, z);
        for (std::size_t k = 0; k < size; ++k) z[k] += penalty.l2 * p[k];
    };
    return polish_step(moving, A, start, diagonal, tol);
}

}  // namespace nearline
