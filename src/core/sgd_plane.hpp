// Rows of X, and the weights of a few score columns laid out for one row at a time: what SGD and the
// perceptron share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "parallel.hpp"
#include "simd.hpp"

namespace nearline {

constexpr std::size_t LANES = Pack<double>::size;

// One order of summation, whoever calls.
template <class T>
__attribute__((noinline)) double dot(const T* x, const double* v, std::size_t d) {
    Four a0 = {}, a1 = {}, a2 = {}, a3 = {};
    std::size_t j = 0;
    for (; j + 4 * LANES <= d; j += 4 * LANES) {
        a0 += four(x + j) * four(v + j);
        a1 += four(x + j + LANES) * four(v + j + LANES);
        a2 += four(x + j + 2 * LANES) * four(v + j + 2 * LANES);
        a3 += four(x + j + 3 * LANES) * four(v + j + 3 * LANES);
    }
    for (; j + LANES <= d; j += LANES) a0 += four(x + j) * four(v + j);
    const Four a = (a0 + a1) + (a2 + a3);
    double sum = (a[0] + a[1]) + (a[2] + a[3]);
    for (; j < d; ++j) sum += static_cast<double>(x[j]) * v[j];
    return sum;
}

template <class T>
struct VisitedDense {
    using Value = T;
    const T* data;
    std::size_t n, d;

    const T* row(std::size_t i) const { return data + i * d; }
    std::size_t size(std::size_t) const { return d; }
    double square_norm(std::size_t i) const {
        double sum = 0.0;
        for (std::size_t j = 0; j < d; ++j) sum += static_cast<double>(row(i)[j]) * row(i)[j];
        return sum;
    }
    void prefetch(std::size_t i) const {
        const char* p = reinterpret_cast<const char*>(row(i));
        const std::size_t bytes =
            std::min<std::size_t>(d * sizeof(T), 1024);  // the hardware sees the rest coming
        for (std::size_t k = 0; k < bytes; k += 64) __builtin_prefetch(p + k);
    }
};

template <class T>
struct VisitedSparse {
    using Value = T;
    const T* data;
    const std::int32_t* indices;
    const std::int64_t* indptr;
    std::size_t n, d;

    std::size_t size(std::size_t i) const { return static_cast<std::size_t>(indptr[i + 1] - indptr[i]); }
    double square_norm(std::size_t i) const {
        double sum = 0.0;
        for (std::int64_t p = indptr[i]; p < indptr[i + 1]; ++p)
            sum += static_cast<double>(data[p]) * data[p];
        return sum;
    }
    void prefetch(std::size_t i) const {
        const std::int64_t begin = indptr[i], end = std::min(indptr[i + 1], begin + 256);
        for (std::int64_t p = begin; p < end; p += 16) __builtin_prefetch(indices + p);
        for (std::int64_t p = begin; p < end; p += 64 / sizeof(T)) __builtin_prefetch(data + p);
    }
};

// Number of doubles that some of a model's `n_outputs` score columns take in buffers: whole vectors, so that
// a column goes through the same instructions whichever columns share its task.
inline std::size_t padded(std::size_t columns, std::size_t n_outputs) {
    return n_outputs == 1 ? 1 : (columns + LANES - 1) / LANES * LANES;
}

// Weights of some columns. Buffers of scores and coefficients have `width` = padded(...) places.
template <class Rows>
class Plane;

template <class T>
class Plane<VisitedDense<T>> {  // one column after the other
  public:
    Plane(std::size_t d, std::size_t columns, std::size_t)
        : d_(d), columns_(columns), values(d * columns, 0.0) {}
    void load(const double* W) { std::copy(W, W + values.size(), values.begin()); }
    void store(double* W, double scale) const {
        for (std::size_t k = 0; k < values.size(); ++k) W[k] = scale * values[k];
    }
    void add_to(double* W, double scale) const {
        for (std::size_t k = 0; k < values.size(); ++k) W[k] += scale * values[k];
    }

    void scores(const VisitedDense<T>& X, std::size_t i, double* f) const {
        for (std::size_t c = 0; c < columns_; ++c) f[c] = dot(X.row(i), values.data() + c * d_, d_);
    }
    void add(const VisitedDense<T>& X, std::size_t i, const double* coefficients) {
        const T* x = X.row(i);
        for (std::size_t c = 0; c < columns_; ++c) {
            const double a = coefficients[c];
            if (a == 0.0) continue;
            double* v = values.data() + c * d_;
            for (std::size_t j = 0; j < d_; ++j) v[j] += a * x[j];
        }
    }
    void prefetch(const VisitedDense<T>&, std::size_t) const {}

  private:
    std::size_t d_, columns_;

  public:
    std::vector<double> values;
};

template <class T>
class Plane<VisitedSparse<T>> {  // all columns of a feature side by side
  public:
    Plane(std::size_t d, std::size_t columns, std::size_t width)
        : d_(d), columns_(columns), width(width), values(d * width, 0.0) {}
    void load(const double* W) {
        for (std::size_t j = 0; j < d_; ++j)
            for (std::size_t c = 0; c < columns_; ++c) values[j * width + c] = W[c * d_ + j];
    }
    void store(double* W, double scale) const {
        for (std::size_t j = 0; j < d_; ++j)
            for (std::size_t c = 0; c < columns_; ++c) W[c * d_ + j] = scale * values[j * width + c];
    }
    void add_to(double* W, double scale) const {
        for (std::size_t j = 0; j < d_; ++j)
            for (std::size_t c = 0; c < columns_; ++c) W[c * d_ + j] += scale * values[j * width + c];
    }

    void scores(const VisitedSparse<T>& X, std::size_t i, double* f) const {
        if (width == 1) {
            f[0] = dot_one(X, i);
            return;
        }
        std::size_t c = 0;
        for (; c + 4 * LANES <= width; c += 4 * LANES) dot_block<4>(X, i, c, f);
        switch ((width - c) / LANES) {
            case 3:
                dot_block<3>(X, i, c, f);
                break;
            case 2:
                dot_block<2>(X, i, c, f);
                break;
            case 1:
                dot_block<1>(X, i, c, f);
                break;
            default:
                break;
        }
    }
    void add(const VisitedSparse<T>& X, std::size_t i, const double* coefficients) {
        if (width == 1) {
            const double a = coefficients[0];
            if (a == 0.0) return;
            for (std::int64_t p = X.indptr[i]; p < X.indptr[i + 1]; ++p)
                values[X.indices[p]] += a * X.data[p];
            return;
        }
        for (std::size_t c = 0; c < width; c += LANES) {
            const Four a = four(coefficients + c);
            if (a[0] == 0.0 && a[1] == 0.0 && a[2] == 0.0 && a[3] == 0.0) continue;
            for (std::int64_t p = X.indptr[i]; p < X.indptr[i + 1]; ++p) {
                double* at = values.data() + X.indices[p] * width + c;
                store_four(at, four(at) + a * static_cast<double>(X.data[p]));
            }
        }
    }
    // The weights that a row will need, asked for while another row is worked on.
    void prefetch(const VisitedSparse<T>& X, std::size_t i) const {
        if (width == 1) return;  // the processor finds single numbers as fast by itself
        const std::int64_t begin = X.indptr[i], end = std::min(X.indptr[i + 1], begin + 256);
        for (std::int64_t p = begin; p < end; ++p) {
            const double* v = values.data() + X.indices[p] * width;
            for (std::size_t c = 0; c < width; c += 8) __builtin_prefetch(v + c);
        }
    }

  private:
    double dot_one(const VisitedSparse<T>& X, std::size_t i) const {
        double a0 = 0.0, a1 = 0.0, a2 = 0.0, a3 = 0.0;
        const double* v = values.data();
        const std::int64_t end = X.indptr[i + 1];
        std::int64_t p = X.indptr[i];
        for (; p + 4 <= end; p += 4) {
            a0 += X.data[p] * v[X.indices[p]];
            a1 += X.data[p + 1] * v[X.indices[p + 1]];
            a2 += X.data[p + 2] * v[X.indices[p + 2]];
            a3 += X.data[p + 3] * v[X.indices[p + 3]];
        }
        for (; p < end; ++p) a0 += X.data[p] * v[X.indices[p]];
        return (a0 + a1) + (a2 + a3);
    }
    template <int BLOCKS>
    void dot_block(const VisitedSparse<T>& X, std::size_t i, std::size_t c, double* f) const {
        Four sums[BLOCKS] = {};
        for (std::int64_t p = X.indptr[i]; p < X.indptr[i + 1]; ++p) {
            const double* v = values.data() + X.indices[p] * width + c;
            const double x = X.data[p];
            for (int k = 0; k < BLOCKS; ++k) sums[k] += x * four(v + k * LANES);
        }
        for (int k = 0; k < BLOCKS; ++k) store_four(f + c + k * LANES, sums[k]);
    }
    std::size_t d_, columns_;

  public:
    std::size_t width;
    std::vector<double> values;
};

// Columns [first, last) of task t out of n_tasks, as even as can be.
inline std::size_t share_begin(std::size_t columns, std::size_t n_tasks, std::size_t t) {
    return columns * t / n_tasks;
}

template <class Rows>
double largest_square_norm(const Rows& X) {
    constexpr std::size_t BLOCK = 512;
    std::vector<double> largest((X.n + BLOCK - 1) / BLOCK, 0.0);
    parallel_for(largest.size(), static_cast<double>(X.n) * X.d, [&](std::size_t t) {
        for (std::size_t i = t * BLOCK; i < std::min(X.n, (t + 1) * BLOCK); ++i)
            largest[t] = std::max(largest[t], X.square_norm(i));
    });
    return largest.empty() ? 0.0 : *std::max_element(largest.begin(), largest.end());
}

}  // namespace nearline
