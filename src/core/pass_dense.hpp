// One pass over the rows of a dense X: scores = X W^T + b, work on them, G^T X, tile by tile, while the
// tile's rows are still in the cache. BLAS does the two products apart and reads X twice; with few columns it
// is far from both the memory's and the arithmetic's limit.
//
// Numbers are added in an order that the shapes alone define: products over features in vectors, products
// over rows in registers (one tile), in T (kFlush tiles), in float64 (one task), tasks in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "dense_kernels.hpp"
#include "dense_layout.hpp"
#include "parallel.hpp"
#include "tile_work.hpp"

namespace nearline {

template <class T>
struct DenseRows {
    const T* x;
    std::size_t n_rows, n_features;
};

// Copies kTile rows with what lies beyond their end as zeros.
template <class T>
TileView<T> padded_tile(const DenseRows<T>& X, const Cut<T>& cut, std::size_t first, std::size_t n_rows,
                        T* room) {
    std::fill_n(room, kTile * cut.width, T{});
    for (std::size_t r = 0; r < n_rows; ++r)
        std::copy_n(X.x + (first + r) * X.n_features, X.n_features, room + r * cut.width);
    return {room, cut.width};
}

// W: null if the work needs no product; scores: (n, K), null if not wanted; gradient: (K, D), null if not
// wanted.
template <class T>
void dense_pass(const DenseRows<T>& X, std::size_t K, const PackedWeights<T>* W, TileWork* work, T* scores,
                double* gradient) {
    const Cut<T> cut(X.n_features);
    const std::size_t sums_size = gradient == nullptr ? 1 : K * cut.n_vectors * Cut<T>::L * sizeof(double);
    const RowTasks tasks(X.n_rows, std::clamp<std::size_t>((std::size_t{1} << 26) / sums_size, 4, 32));
    std::vector<std::unique_ptr<BackSums<T>>> sums(gradient == nullptr ? 0 : tasks.n_tasks);
    if (work != nullptr) work->prepare(tasks.n_tasks);
    const double products = (W != nullptr) + (gradient != nullptr);
    parallel_for(tasks.n_tasks, products * X.n_rows * X.n_features * K + 10.0 * X.n_rows * K,
                 [&](std::size_t task) {
                     Buffer<T> f(K * kTile), room(0);
                     Buffer<double> f64(K * kTile);
                     std::unique_ptr<Forward<T>> forward;
                     if (W != nullptr) forward = std::make_unique<Forward<T>>(*W);
                     if (gradient != nullptr) sums[task] = std::make_unique<BackSums<T>>(K, cut);
                     tasks.each_tile(task, [&](std::size_t first, std::size_t n_rows) {
                         TileView<T> tile{X.x + first * X.n_features, X.n_features};
                         const bool whole = n_rows == kTile && !cut.padded();
                         if (!whole) {
                             room = Buffer<T>(kTile * cut.width);
                             tile = padded_tile(X, cut, first, n_rows, room.get());
                         }
                         const T* next = whole ? tile.x + kTile * tile.stride : nullptr;
                         if (forward != nullptr)
                             (*forward)(tile, f.get(), gradient == nullptr ? next : nullptr);
                         if (scores != nullptr)
                             for (std::size_t r = 0; r < n_rows; ++r)
                                 for (std::size_t c = 0; c < K; ++c)
                                     scores[(first + r) * K + c] = f[c * kTile + r];
                         if (work == nullptr) return;
                         for (std::size_t i = 0; i < K * kTile; ++i) f64[i] = static_cast<double>(f[i]);
                         work->run(task, first, n_rows, f64.get());
                         if (gradient == nullptr) return;
                         for (std::size_t i = 0; i < K * kTile; ++i) f[i] = static_cast<T>(f64[i]);
                         sums[task]->add(tile, f.get(), next);
                     });
                 });
    if (gradient == nullptr) return;
    std::vector<const double*> parts;
    for (auto& part : sums) parts.push_back(part->finish());
    const std::size_t stride = cut.n_vectors * Cut<T>::L;
    parallel_for(K, static_cast<double>(K * stride * parts.size()), [&](std::size_t c) {
        for (std::size_t v = 0; v < cut.n_vectors; ++v)
            for (std::size_t i = cut.fresh(v); i < Cut<T>::L && cut.start(v) + i < X.n_features; ++i) {
                double sum = 0.0;
                for (const double* part : parts) sum += part[c * stride + v * Cut<T>::L + i];
                gradient[c * X.n_features + cut.start(v) + i] = sum;
            }
    });
}

}  // namespace nearline
