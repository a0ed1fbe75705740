// Small symmetric systems: one factorization, many right sides.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "simd.hpp"

namespace nearline {

inline double dot(const double* a, const double* b, std::size_t n) {
    constexpr std::size_t L = kReals;
    Reals sums[2] = {fill(0.0), fill(0.0)};
    std::size_t i = 0;
    for (; i + 2 * L <= n; i += 2 * L) {
        sums[0] += load(a + i) * load(b + i);
        sums[1] += load(a + i + L) * load(b + i + L);
    }
    const Reals both = sums[0] + sums[1];
    double total = 0.0;
    for (std::size_t k = 0; k < L; ++k) total += both[k];
    for (; i < n; ++i) total += a[i] * b[i];
    return total;
}

// L L^T = A for a symmetric positive semi-definite A (N, N), brought to a unit diagonal first. An unknown
// whose pivot is lost in rounding is left out: it is 0 in every solution.
class Cholesky {
  public:
    // A: row-major, its lower triangle is read
    Cholesky(const double* A, std::size_t N) : N_(N), scale_(N), L_(N * N) {
        constexpr double lost = 1e-13;  // pivots are squares of what is left of a unit diagonal
        for (std::size_t i = 0; i < N; ++i) {
            const double diagonal = A[i * N + i];
            scale_[i] = diagonal > 0.0 ? 1.0 / std::sqrt(diagonal) : 0.0;
        }
        for (std::size_t i = 0; i < N; ++i) {
            double* row = L_.data() + i * N;
            for (std::size_t j = 0; j < i; ++j) {
                const double* other = L_.data() + j * N;
                const double entry = A[i * N + j] * scale_[i] * scale_[j] - dot(row, other, j);
                row[j] = entry * other[j];  // the diagonal holds 1 / pivot, 0 where it is left out
            }
            const double pivot = scale_[i] > 0.0 ? 1.0 - dot(row, row, i) : 0.0;
            row[i] = pivot > lost ? 1.0 / std::sqrt(pivot) : 0.0;
        }
    }
    // x := A^-1 x
    void solve(double* x) const {
        for (std::size_t i = 0; i < N_; ++i) {
            const double* row = L_.data() + i * N_;
            x[i] = (x[i] * scale_[i] - dot(row, x, i)) * row[i];
        }
        for (std::size_t i = N_; i-- > 0;) {
            const double* row = L_.data() + i * N_;
            x[i] *= row[i];
            for (std::size_t j = 0; j < i; ++j) x[j] -= row[j] * x[i];
            x[i] *= scale_[i];
        }
    }

  private:
    std::size_t N_;
    std::vector<double> scale_, L_;
};

}  // namespace nearline
