// Rows as coordinate descent on the dual sees them: score a row, move the weights along it. Dense or sparse.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd.hpp"

namespace nearline::dual {

// C-contiguous rows; the weights have the type of the data, class after class. Sums over a row stay in that
// type: an error in the weights changes the certified gap to second order only, and the certificate is
// computed elsewhere.
template <class T>
struct DenseRows {
    using Weight = T;
    const T* values;
    std::size_t n_rows, n_features;

    const T* row(std::size_t i) const { return values + i * n_features; }

    void prefetch(std::size_t i) const {
        const char* p = reinterpret_cast<const char*>(row(i));
        const std::size_t bytes = n_features * sizeof(T) < 4096 ? n_features * sizeof(T) : 4096;
        for (std::size_t k = 0; k < bytes; k += 64) __builtin_prefetch(p + k);
    }

    double square(std::size_t i) const {
        double total = 0;
        for (std::size_t j = 0; j < n_features; ++j) total += double(row(i)[j]) * double(row(i)[j]);
        return total;
    }

    double dot(std::size_t i, const T* w) const {
        double score;
        dots<1>(row(i), w, &score);
        return score;
    }

    void add(std::size_t i, double factor, T* w) const {
        const T* x = row(i);
        const T t = static_cast<T>(factor);
        for (std::size_t j = 0; j < n_features; ++j) w[j] += t * x[j];
    }

    void scores(std::size_t i, const T* W, std::size_t n_classes, double* out) const {
        std::size_t c = 0;
        for (; c + 4 <= n_classes; c += 4) dots<4>(row(i), W + c * n_features, out + c);
        for (; c + 2 <= n_classes; c += 2) dots<2>(row(i), W + c * n_features, out + c);
        for (; c < n_classes; ++c) dots<1>(row(i), W + c * n_features, out + c);
    }

    void add_classes(std::size_t i, const double* factors, std::size_t n_classes, T* W) const {
        for (std::size_t c = 0; c < n_classes; ++c)
            if (factors[c] != 0) add(i, factors[c], W + c * n_features);
    }

  private:
    // Scores of B classes at once: eight sums in flight hide the latency of the additions.
    template <std::size_t B>
    void dots(const T* x, const T* w, double* out) const {
        using P = Pack<T>;
        constexpr std::size_t U = 8 / B, stride = U * P::size;
        typename P::type sums[B][U] = {};
        std::size_t j = 0;
        for (; j + stride <= n_features; j += stride)
            for (std::size_t u = 0; u < U; ++u) {
                const auto v = P::load(x + j + u * P::size);
                for (std::size_t b = 0; b < B; ++b)
                    sums[b][u] += v * P::load(w + b * n_features + j + u * P::size);
            }
        for (; j + P::size <= n_features; j += P::size)
            for (std::size_t b = 0; b < B; ++b)
                sums[b][0] += P::load(x + j) * P::load(w + b * n_features + j);
        for (std::size_t b = 0; b < B; ++b) {
            for (std::size_t u = 1; u < U; ++u) sums[b][0] += sums[b][u];
            double total = P::sum(sums[b][0]);
            for (std::size_t k = j; k < n_features; ++k)
                total += double(x[k]) * double(w[b * n_features + k]);
            out[b] = total;
        }
    }
};

// Rows of a CSR matrix. One class: weights by feature. Many classes: weights of all classes side by side,
// feature after feature, so that a nonzero meets them in one stretch of memory.
template <class T>
struct SparseRows {
    using Weight = double;
    const std::int64_t* starts;
    const std::int32_t* features;
    const T* values;
    std::size_t n_rows, n_features;

    void prefetch(std::size_t i) const {
        const std::int64_t begin = starts[i], end = starts[i + 1] < begin + 512 ? starts[i + 1] : begin + 512;
        for (std::int64_t k = begin; k < end; k += 64 / sizeof(std::int32_t))
            __builtin_prefetch(features + k);
        for (std::int64_t k = begin; k < end; k += 64 / sizeof(T)) __builtin_prefetch(values + k);
    }

    double square(std::size_t i) const {
        double total = 0;
        for (std::int64_t k = starts[i]; k < starts[i + 1]; ++k)
            total += double(values[k]) * double(values[k]);
        return total;
    }

    double dot(std::size_t i, const double* w) const {
        double a = 0, b = 0, c = 0, d = 0;
        std::int64_t k = starts[i];
        const std::int64_t end = starts[i + 1];
        for (; k + 4 <= end; k += 4) {
            a += double(values[k]) * w[features[k]];
            b += double(values[k + 1]) * w[features[k + 1]];
            c += double(values[k + 2]) * w[features[k + 2]];
            d += double(values[k + 3]) * w[features[k + 3]];
        }
        for (; k < end; ++k) a += double(values[k]) * w[features[k]];
        return (a + b) + (c + d);
    }

    void add(std::size_t i, double factor, double* w) const {
        for (std::int64_t k = starts[i]; k < starts[i + 1]; ++k) w[features[k]] += factor * double(values[k]);
    }

    void scores(std::size_t i, const double* W, std::size_t n_classes, double* out) const {
        for (std::size_t c = 0; c < n_classes; ++c) out[c] = 0;
        for (std::int64_t k = starts[i]; k < starts[i + 1]; ++k) {
            const double* w = W + std::size_t(features[k]) * n_classes;
            const double v = values[k];
            for (std::size_t c = 0; c < n_classes; ++c) out[c] += v * w[c];
        }
    }

    void add_classes(std::size_t i, const double* factors, std::size_t n_classes, double* W) const {
        for (std::int64_t k = starts[i]; k < starts[i + 1]; ++k) {
            double* w = W + std::size_t(features[k]) * n_classes;
            const double v = values[k];
            for (std::size_t c = 0; c < n_classes; ++c) w[c] += v * factors[c];
        }
    }
};

}  // namespace nearline::dual
