// Weighted mean and sum of squared deviations of each feature. Offsets that dwarf the spread do no harm: sums
// are taken relative to a row of the tile itself, and tiles are merged by their means (Chan, Golub and
// LeVeque 1979).
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "parallel.hpp"
#include "pass_dense.hpp"
#include "pass_sparse.hpp"
#include "tile_work.hpp"

namespace nearline {

struct Moments {
    double weight = 0.0;
    std::vector<double> mean, square;  // square: sum_i s_i (x_i - mean)^2

    void resize(std::size_t D) {
        mean.assign(D, 0.0);
        square.assign(D, 0.0);
    }
    // Merges sums over rows of total weight w relative to an origin: first = sum s (x - origin), second
    // likewise.
    template <class T>
    void merge(double w, const T* origin, const double* first, const double* second) {
        const double share = w / (weight + w), cross = weight * share;
        for (std::size_t j = 0; j < mean.size(); ++j) {
            const double shift = first[j] / w;
            const double inner = second[j] - first[j] * shift;
            const double delta = (static_cast<double>(origin[j]) - mean[j]) + shift;
            mean[j] += share * delta;
            square[j] += (inner > 0.0 ? inner : 0.0) + cross * delta * delta;
        }
        weight += w;
    }
    void merge(const Moments& other) {
        const double share = other.weight / (weight + other.weight), cross = weight * share;
        for (std::size_t j = 0; j < mean.size(); ++j) {
            const double delta = other.mean[j] - mean[j];
            mean[j] += share * delta;
            square[j] += other.square[j] + cross * delta * delta;
        }
        weight += other.weight;
    }
};

template <class T>
Moments dense_moments(const DenseRows<T>& X, const double* weights) {
    const std::size_t D = X.n_features;
    const RowTasks tasks(X.n_rows, 32);
    std::vector<Moments> parts(tasks.n_tasks);
    parallel_for(tasks.n_tasks, 4.0 * X.n_rows * D, [&](std::size_t task) {
        parts[task].resize(D);
        std::vector<double> first(D), second(D);
        tasks.each_tile(task, [&](std::size_t start, std::size_t n_rows) {
            // The heaviest row as the origin: it is part of the spread itself, so little can cancel.
            const double* w = weights + start;
            const std::size_t heaviest = std::max_element(w, w + n_rows) - w;
            if (!(w[heaviest] > 0.0)) return;
            const T* origin = X.x + (start + heaviest) * D;
            std::fill(first.begin(), first.end(), 0.0);
            std::fill(second.begin(), second.end(), 0.0);
            double total = 0.0;
            for (std::size_t r = 0; r < n_rows; ++r) {
                const T* row = X.x + (start + r) * D;
                total += w[r];
                for (std::size_t j = 0; j < D; ++j) {
                    const double d = static_cast<double>(row[j]) - static_cast<double>(origin[j]);
                    const double wd = w[r] * d;
                    first[j] += wd;
                    second[j] += wd * d;
                }
            }
            parts[task].merge(total, origin, first.data(), second.data());
        });
    });
    Moments all;
    all.resize(D);
    for (const Moments& part : parts)
        if (part.weight > 0.0) all.merge(part);
    return all;
}

template <class T>
Moments sparse_moments(const CscColumns<T>& X, const double* weights) {
    constexpr std::size_t kBlock = 256;
    Moments all;
    all.resize(X.n_features);
    for (std::size_t i = 0; i < X.n_rows; ++i) all.weight += weights[i];
    parallel_for((X.n_features + kBlock - 1) / kBlock, 4.0 * X.size(), [&](std::size_t block) {
        const std::size_t end = std::min((block + 1) * kBlock, X.n_features);
        for (std::size_t j = block * kBlock; j < end; ++j) {
            double present = 0.0, sum = 0.0, square = 0.0;
            for (std::int64_t k = X.starts[j]; k < X.starts[j + 1]; ++k) {
                present += weights[X.rows[k]];
                sum += weights[X.rows[k]] * static_cast<double>(X.values[k]);
            }
            const double mean = sum / all.weight;
            for (std::int64_t k = X.starts[j]; k < X.starts[j + 1]; ++k) {
                const double d = static_cast<double>(X.values[k]) - mean;
                square += weights[X.rows[k]] * d * d;
            }
            all.mean[j] = mean;
            // A full column has no zeros, whatever rounding makes of the difference of the weights.
            const bool full = X.starts[j + 1] - X.starts[j] == static_cast<std::int64_t>(X.n_rows);
            const double absent = full ? 0.0 : std::max(all.weight - present, 0.0);
            all.square[j] = square + absent * mean * mean;
        }
    });
    return all;
}

}  // namespace nearline
