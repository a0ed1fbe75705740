// Sweeps over rows whose scores are known: losses, slopes, margins, sums for the bias.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "parallel.hpp"
#include "tile_work.hpp"

namespace nearline {

// sum_i s_i loss(f_i + step v_i) and, if there is a direction v, its derivative in step.
inline void value_and_slope(const Rows& rows, const TileSource& scores, const TileSource* direction,
                            double step, double& value, double& slope) {
    const std::size_t K = rows.n_columns, size = K * kTile;
    const RowTasks tasks(rows.n_rows, kRowTasks);
    std::vector<double> values(tasks.n_tasks, 0.0), slopes(tasks.n_tasks, 0.0);
    parallel_for(tasks.n_tasks, 20.0 * rows.n_rows * K, [&](std::size_t task) {
        Buffer<double> f(size, false), v(direction == nullptr ? 0 : size, false);
        TileRows tile;
        tasks.each_tile(task, [&](std::size_t first, std::size_t n_rows) {
            tile.read(rows, first, n_rows);
            scores.read(first, n_rows, K, f.get());
            if (direction != nullptr) {
                direction->read(first, n_rows, K, v.get());
                for (std::size_t i = 0; i < size; ++i) f[i] += step * v[i];
            }
            rows.loss->gradient(f.get(), K, tile.targets, tile.values);
            values[task] += tile.weighted_values();
            if (direction == nullptr) return;
            for (std::size_t r = 0; r < kTile; ++r) tile.values[r] = 0.0;
            for (std::size_t c = 0; c < K; ++c)
                for (std::size_t r = 0; r < kTile; ++r) tile.values[r] += f[c * kTile + r] * v[c * kTile + r];
            slopes[task] += tile.weighted_values();
        });
    });
    value = slope = 0.0;
    for (std::size_t t = 0; t < tasks.n_tasks; ++t) {
        value += values[t];
        slope += slopes[t];
    }
}

// min over rows of positive weight of y f, or of f_y less the largest other score.
inline double smallest_margin(const Rows& rows, const TileSource& scores) {
    const std::size_t K = rows.n_columns;
    const RowTasks tasks(rows.n_rows, kRowTasks);
    std::vector<double> smallest(tasks.n_tasks, std::numeric_limits<double>::infinity());
    parallel_for(tasks.n_tasks, 4.0 * rows.n_rows * K, [&](std::size_t task) {
        Buffer<double> f(K * kTile, false);
        tasks.each_tile(task, [&](std::size_t first, std::size_t n_rows) {
            scores.read(first, n_rows, K, f.get());
            for (std::size_t r = 0; r < n_rows; ++r) {
                if (!(rows.weights[first + r] > 0.0)) continue;
                const std::size_t y = static_cast<std::size_t>(rows.targets[first + r]);
                const double own = rows.loss->joint ? f[y * kTile + r] : 0.0;
                for (std::size_t c = 0; c < K; ++c) {
                    const double fc = f[c * kTile + r];
                    double margin;
                    if (!rows.loss->joint)
                        margin = (K == 1 ? y == 1 : y == c) ? fc : -fc;
                    else if (c != y)
                        margin = own - fc;
                    else
                        continue;
                    // written so that NaN counts as the smallest
                    if (!(margin >= smallest[task])) smallest[task] = margin;
                }
            }
        });
    });
    double least = std::numeric_limits<double>::infinity();
    for (double s : smallest)
        if (!(s >= least)) least = s;
    return least;
}

// Sums at scores + b: losses, gradient in b (K,), and the curvature in b as a full (K, K) matrix (null: not
// wanted).
inline double bias_sums(const Rows& rows, const TileSource& scores, const double* b, double* gradient,
                        double* curvature) {
    const std::size_t K = rows.n_columns, size = K * kTile;
    const RowTasks tasks(rows.n_rows, kRowTasks);
    ColumnSums sums;
    sums.prepare(tasks.n_tasks, K);
    std::vector<double> blocks(curvature == nullptr ? 0 : tasks.n_tasks * K * K, 0.0);
    const double work = rows.n_rows * (20.0 * K + (curvature != nullptr && rows.loss->joint ? K * K : 0));
    parallel_for(tasks.n_tasks, work, [&](std::size_t task) {
        Buffer<double> f(size, false), h(curvature == nullptr ? 0 : size, false);
        TileRows tile;
        tasks.each_tile(task, [&](std::size_t first, std::size_t n_rows) {
            tile.read(rows, first, n_rows);
            scores.read(first, n_rows, K, f.get());
            for (std::size_t i = 0; i < size; ++i) f[i] += b[i / kTile];
            if (curvature != nullptr) {
                std::copy_n(f.get(), size, h.get());
                rows.loss->curvature(h.get(), K, tile.targets);
                double* block = blocks.data() + task * K * K;
                for (std::size_t c = 0; c < K; ++c) {
                    // Separate columns: the diagonal. Joint: -q_c q_d below it; the diagonal follows from H 1
                    // = 0.
                    for (std::size_t d = rows.loss->joint ? 0 : c; d < (rows.loss->joint ? c : c + 1); ++d) {
                        Reals sum = fill(0.0);
                        for (std::size_t r = 0; r < kTile; r += kReals) {
                            Reals term = load(tile.weights + r) * load(h.get() + c * kTile + r);
                            sum += rows.loss->joint ? -term * load(h.get() + d * kTile + r) : term;
                        }
                        for (std::size_t i = 0; i < kReals; ++i) block[c * K + d] += sum[i];
                    }
                }
            }
            rows.loss->gradient(f.get(), K, tile.targets, tile.values);
            sums.add_value(task, tile.weighted_values());
            sums.weigh(task, tile.weights, f.get());
        });
    });
    sums.columns(gradient);
    if (curvature != nullptr) {
        std::fill_n(curvature, K * K, 0.0);
        for (std::size_t i = 0; i < blocks.size(); ++i) curvature[i % (K * K)] += blocks[i];
        for (std::size_t c = 0; rows.loss->joint && c < K; ++c)
            for (std::size_t d = 0; d < c; ++d) {
                const double h = curvature[c * K + d];
                curvature[d * K + c] = h;
                curvature[c * K + c] -= h;
                curvature[d * K + d] -= h;
            }
    }
    return sums.value();
}

// The curvature of each row: second derivatives of the columns, or q for joint losses (see losses.hpp), (n,
// K).
inline void row_curvature(const Rows& rows, const TileSource& scores, double* out) {
    const std::size_t K = rows.n_columns;
    const RowTasks tasks(rows.n_rows, kRowTasks);
    parallel_for(tasks.n_tasks, 20.0 * rows.n_rows * K, [&](std::size_t task) {
        Buffer<double> f(K * kTile, false);
        TileRows tile;
        tasks.each_tile(task, [&](std::size_t first, std::size_t n_rows) {
            tile.read(rows, first, n_rows);
            scores.read(first, n_rows, K, f.get());
            rows.loss->curvature(f.get(), K, tile.targets);
            for (std::size_t r = 0; r < n_rows; ++r)
                for (std::size_t c = 0; c < K; ++c) out[(first + r) * K + c] = f[c * kTile + r];
        });
    });
}

}  // namespace nearline
