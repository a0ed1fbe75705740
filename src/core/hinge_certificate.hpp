// The bias that is best for given dual variables of a two-class machine with hinge loss, and the values of
// the primal and the dual problem there (in the notation of smo.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "ordering.hpp"

namespace nearline {

struct HingeCertificate {
    double b, primal, dual, null;  // null: the primal of the best constant score
};

// The loss of row i is C_i max(0, y_i (c_i - b)) with c_i = -F_i: ramps in b that fall for y = +1 and rise
// for y = -1. The slope of their sum begins at minus the weight of the rows of +1 and grows by C_i at each
// c_i; b is where it changes its sign, in the middle where it is 0 on an interval.
inline HingeCertificate hinge_certificate(std::size_t n, const double* y, const double* C, const double* beta,
                                          const double* F) {
    std::vector<std::pair<double, double>> corner;
    corner.reserve(n);
    double positive = 0.0, negative = 0.0, square = 0.0, linear = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        if (C[i] > 0.0) corner.emplace_back(-F[i], C[i]);
        (y[i] > 0.0 ? positive : negative) += C[i];
        square += beta[i] * (F[i] + y[i]);
        linear += beta[i] * y[i];
    }
    std::sort(corner.begin(), corner.end(), [](const auto& a, const auto& b) {
        if (nan_last(a.first, b.first)) return true;
        return !nan_last(b.first, a.first) && nan_last(a.second, b.second);
    });
    const double zero = 1e-12 * positive;
    double slope = -positive, left = 0.0, right = 0.0;
    for (std::size_t k = 0; k < corner.size(); ++k) {
        slope += corner[k].second;
        left = right = corner[k].first;
        if (slope < -zero) continue;
        if (slope <= zero && k + 1 < corner.size()) right = corner[k + 1].first;
        break;
    }
    const double b = 0.5 * (left + right);
    double loss = 0.0;
    for (std::size_t i = 0; i < n; ++i) loss += C[i] * std::max(0.0, y[i] * (-F[i] - b));
    return {b, 0.5 * square + loss, linear - 0.5 * square, 2.0 * std::min(positive, negative)};
}

}  // namespace nearline
