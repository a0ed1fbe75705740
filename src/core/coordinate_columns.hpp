// What coordinate descent sees of a design matrix: its columns. A column may be shifted: the descent then
// sees x_ij - shift_j, and the bias takes up the rest.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "parallel.hpp"

namespace nearline {

using Size = std::int64_t;
using Id = std::int32_t;

struct ColumnMoments {
    double first = 0, second = 0;  // sum_i d_i x_ij, sum_i d_i x_ij^2
};

// A sparse matrix by columns, and by rows too. shift is zero but for columns without a zero entry.
template <class T>
struct SparseView {
    Size n, n_columns;
    const T* x;          // entries by column, each column's in row order
    const Id* rows;      // of the entries
    const Size* starts;  // (D + 1,) of the columns
    const T* row_x;      // entries by row
    const Id* columns;
    const Size* row_starts;  // (n + 1,)
    const double* shift;     // (D,)

    Size n_rows() const { return n; }
    double work(Size j) const { return static_cast<double>(starts[j + 1] - starts[j]); }

    // sum_i x_ij u_i; four running sums, as one would wait for its own last addition.
    double dot(Size j, const double* u) const {
        const double m = shift[j];
        Size k = starts[j];
        const Size end = starts[j + 1];
        double a = 0, b = 0, c = 0, d = 0;
        for (; k + 4 <= end; k += 4) {
            a += (x[k] - m) * u[rows[k]];
            b += (x[k + 1] - m) * u[rows[k + 1]];
            c += (x[k + 2] - m) * u[rows[k + 2]];
            d += (x[k + 3] - m) * u[rows[k + 3]];
        }
        for (; k < end; ++k) a += (x[k] - m) * u[rows[k]];
        return (a + b) + (c + d);
    }

    // u_i += step d_i x_ij
    void add(Size j, double step, const double* d, double* u) const {
        const double m = shift[j];
        for (Size k = starts[j]; k < starts[j + 1]; ++k) u[rows[k]] += step * (x[k] - m) * d[rows[k]];
    }

    // v_i += step x_ij
    void add(Size j, double step, double* v) const {
        const double m = shift[j];
        for (Size k = starts[j]; k < starts[j + 1]; ++k) v[rows[k]] += step * (x[k] - m);
    }

    ColumnMoments sums(Size j, const double* d) const {
        const double m = shift[j];
        ColumnMoments even, odd;
        Size k = starts[j];
        const Size end = starts[j + 1];
        auto take = [&](Size k, ColumnMoments& s) {
            const double value = x[k] - m, weighted = d[rows[k]] * value;
            s.first += weighted, s.second += weighted * value;
        };
        for (; k + 2 <= end; k += 2) take(k, even), take(k + 1, odd);
        if (k < end) take(k, even);
        return {even.first + odd.first, even.second + odd.second};
    }
};

// The same for dense columns, shifted already: one column of n after another.
template <class T>
struct DenseView {
    const T* values;
    Size n;

    Size n_rows() const { return n; }
    double work(Size) const { return static_cast<double>(n); }

    double dot(Size j, const double* u) const { return dot(j, 0, n, u); }

    // sum over rows low .. high-1; u begins at row low.
    double dot(Size j, Size low, Size high, const double* u) const {
        const T* x = values + j * n + low;
        const Size size = high - low;
        double sums[8] = {};
        Size i = 0;
        for (; i + 8 <= size; i += 8)
            for (int l = 0; l < 8; ++l) sums[l] += x[i + l] * u[i + l];
        for (; i < size; ++i) sums[0] += x[i] * u[i];
        return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }

    void add(Size j, double step, const double* d, double* u) const {
        const T* x = values + j * n;
        for (Size i = 0; i < n; ++i) u[i] += step * x[i] * d[i];
    }

    void add(Size j, double step, double* v) const { add(j, step, 0, n, v); }

    void add(Size j, double step, Size low, Size high, double* v) const {
        const T* x = values + j * n + low;
        for (Size i = 0; i < high - low; ++i) v[i] += step * x[i];
    }

    ColumnMoments sums(Size j, const double* d) const {
        const T* x = values + j * n;
        double first[8] = {}, second[8] = {};
        Size i = 0;
        for (; i + 8 <= n; i += 8)
            for (int l = 0; l < 8; ++l) {
                const double weighted = d[i + l] * x[i + l];
                first[l] += weighted, second[l] += weighted * x[i + l];
            }
        for (; i < n; ++i) first[0] += d[i] * x[i], second[0] += d[i] * x[i] * x[i];
        ColumnMoments s;
        for (int l = 0; l < 8; ++l) s.first += first[l], s.second += second[l];
        return s;
    }
};

}  // namespace nearline
