// Newton's system on the weights that are not zero. With their signs held the model is a plain quadratic there:
// coordinate descent finds the signs quickly and the solution slowly, conjugate gradients the other way round.
#pragma once

#include "coordinate_subspace.hpp"

namespace nearline {

struct Coordinate {
    Size column;
    double weight;
    double gradient;  // of the data loss along this weight, at the start
    double hessian;   // of the model along this weight, with the bias at its best
    double sum;       // sum_i d_i x_ij
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

struct Penalty {
    double l1, l2;
};

// A step t x of the weights: one that would change its sign stops at zero.
inline void cut_step(const Moving& moving, const std::vector<double>& x, double t, std::vector<double>& step) {
    for (std::size_t k = 0; k < x.size(); ++k) step[k] = t * x[k];
    for (std::size_t k = 0; k < moving.coordinates.size(); ++k) {
        const double w = moving.coordinates[k]->weight;
        if ((w + step[k]) * w < 0) step[k] = -w;
    }
}

// Moves the weights and gives the step of weights and biases back. slope(i, t): the rows' slopes t (K,) as they stand;
// curve(i, v, t): what a change v of the scores adds to them; bias_gradient, bias_curvature: (K,).
template <class View, class Slope, class Curve>
std::vector<double> polish(const Subspace<View>& space, const Moving& moving, const Penalty& penalty, const Slope& slope,
                           const Curve& curve, const std::vector<double>& bias_gradient,
                           const std::vector<double>& bias_curvature, double tol) {
    const std::size_t size = moving.coordinates.size(), m = space.size();
    std::vector<double> start(m), diagonal(m, 1.0), step(m, 0.0), moved(m);
    space.product(step.data(), [&](Size i, const double*, double* t) { slope(i, t); }, start.data());
    for (std::size_t k = 0; k < size; ++k) {
        const Coordinate& c = *moving.coordinates[k];
        start[k] += c.gradient + (c.weight > 0 ? penalty.l1 : -penalty.l1) + penalty.l2 * c.weight;
        diagonal[k] = c.hessian + penalty.l2;
    }
    for (std::size_t k = size; k < m; ++k) {
        start[k] += bias_gradient[k - size];
        if (bias_curvature[k - size] > 0) diagonal[k] = bias_curvature[k - size];
    }
    auto A = [&](const double* p, double* z) {
        space.product(p, curve, z);
        for (std::size_t k = 0; k < size; ++k) z[k] += penalty.l2 * p[k];
    };
    std::vector<double> r = start;
    const std::vector<double> x = conjugate_gradients(A, r, diagonal, tol, 64);
    double safe = 1;  // up to here no sign changes, so the model goes down all the way
    for (std::size_t k = 0; k < size; ++k) {
        const double w = moving.coordinates[k]->weight;
        if ((w + x[k]) * w < 0) safe = std::min(safe, -w / x[k]);
    }
    for (double t = 1; t > safe; t *= 0.5) {
        cut_step(moving, x, t, step);
        A(step.data(), moved.data());
        double decrease = 0;
        for (std::size_t k = 0; k < m; ++k) decrease -= step[k] * (start[k] + 0.5 * moved[k]);
        if (decrease > 0) {
            safe = 0;
            break;
        }
    }
    if (safe > 0) cut_step(moving, x, safe, step);
    for (std::size_t k = 0; k < size; ++k) moving.coordinates[k]->weight += step[k];
    return step;
}

}  // namespace nearline
