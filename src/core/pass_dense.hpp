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

// What a pass does and where its results go.
template <class T>
struct DensePlan {
    DenseRows<T> X;
    std::size_t n_columns;
    const PackedWeights<T>* W;  // null if the work needs no product
    TileWork* work;             // null if only the scores are wanted
    T* scores;                  // (n, K), null if they are not wanted
    double* gradient;           // (K, D), null if it is not wanted

    Cut<T> cut() const { return Cut<T>(X.n_features); }
    std::size_t tile_size() const { return n_columns * kTile; }
    std::size_t sums_size() const { return n_columns * cut().n_vectors * Cut<T>::L; }
    // Whether the sums of a task stay in its second-level cache. If not, they are moved about less often.
    bool sums_are_small() const { return sums_size() * sizeof(T) <= (std::size_t{1} << 18); }

    // kTile rows of X; copied to room, with zeros beyond the end, where X does not have them as they are
    // needed.
    TileView<T> tile(std::size_t first, T* room) const {
        if (whole(first)) return {X.x + first * X.n_features, X.n_features};
        const Cut<T> c = cut();
        std::fill_n(room, kTile * c.width, T{});
        for (std::size_t r = 0; r < std::min(kTile, X.n_rows - first); ++r)
            std::copy_n(X.x + (first + r) * X.n_features, X.n_features, room + r * c.width);
        return {room, c.width};
    }
    bool whole(std::size_t first) const { return first + kTile <= X.n_rows && !cut().padded(); }
};

// The rows of one task: scores, work, and the gradient summed over them.
template <class T>
class DenseTask {
  public:
    DenseTask(const DensePlan<T>& plan, std::size_t task)
        : plan_(plan),
          task_(task),
          f_(plan.tile_size()),
          f64_(plan.tile_size()),
          room_(kTile * plan.cut().width) {
        if (plan.W != nullptr) forward_ = std::make_unique<Forward<T>>(*plan.W);
        if (plan.gradient == nullptr) return;
        const std::size_t flush = plan.sums_are_small() ? kFlush : 4 * kFlush;
        sums_ = std::make_unique<BackSums<T>>(plan.n_columns, plan.cut(), flush);
    }

    void tile(std::size_t first, std::size_t n_rows) {
        const TileView<T> tile = plan_.tile(first, room_.get());
        const T* next = plan_.whole(first) ? tile.x + kTile * tile.stride : nullptr;
        const std::size_t size = plan_.tile_size();
        // The next tile is fetched during the last product that this one goes through.
        if (forward_ != nullptr) (*forward_)(tile, f_.get(), sums_ == nullptr ? next : nullptr);
        if (plan_.scores != nullptr) write_scores(first, n_rows);
        if (plan_.work == nullptr) return;
        for (std::size_t i = 0; i < size; ++i) f64_[i] = static_cast<double>(f_[i]);
        plan_.work->run(task_, first, n_rows, f64_.get());
        if (sums_ == nullptr) return;
        for (std::size_t i = 0; i < size; ++i) f_[i] = static_cast<T>(f64_[i]);
        sums_->add(tile, f_.get(), next);
    }
    const double* sums() { return sums_->finish(); }

  private:
    void write_scores(std::size_t first, std::size_t n_rows) const {
        const std::size_t K = plan_.n_columns;
        for (std::size_t r = 0; r < n_rows; ++r)
            for (std::size_t c = 0; c < K; ++c) plan_.scores[(first + r) * K + c] = f_[c * kTile + r];
    }

    const DensePlan<T>& plan_;
    std::size_t task_;
    Buffer<T> f_;
    Buffer<double> f64_;
    Buffer<T> room_;
    std::unique_ptr<Forward<T>> forward_;
    std::unique_ptr<BackSums<T>> sums_;
};

// gradient := the sums of all tasks, in their order.
template <class T>
void add_up(const DensePlan<T>& plan, const std::vector<const double*>& parts) {
    constexpr std::size_t L = Cut<T>::L;
    const Cut<T> cut = plan.cut();
    const std::size_t stride = cut.n_vectors * L, D = cut.n_features;
    parallel_for(plan.n_columns, 1.0 * plan.sums_size() * parts.size(), [&](std::size_t c) {
        for (std::size_t v = 0; v < cut.n_vectors; ++v)
            for (std::size_t i = cut.fresh(v); i < L && cut.start(v) + i < D; ++i) {
                double sum = 0.0;
                for (const double* part : parts) sum += part[c * stride + v * L + i];
                plan.gradient[c * D + cut.start(v) + i] = sum;
            }
    });
}

template <class T>
void dense_pass(const DensePlan<T>& plan) {
    const std::size_t n = plan.X.n_rows;
    const bool back = plan.gradient != nullptr;
    // A task that keeps sums must have rows enough to be worth their memory.
    const bool large = back && !plan.sums_are_small();
    const std::size_t memory = plan.sums_size() * (sizeof(T) + sizeof(double));
    const std::size_t most = large ? std::clamp<std::size_t>((std::size_t{1} << 27) / memory, 4, 32) : 32;
    const RowTasks tasks(n, most, large ? 32 : 8);
    std::vector<std::unique_ptr<DenseTask<T>>> done(tasks.n_tasks);
    std::vector<const double*> parts(back ? tasks.n_tasks : 0);
    if (plan.work != nullptr) plan.work->prepare(tasks.n_tasks);
    const double products = (plan.W != nullptr) + back;
    const double work = (products * plan.X.n_features + 10.0) * n * plan.n_columns;
    parallel_for(tasks.n_tasks, work, [&](std::size_t t) {
        done[t] = std::make_unique<DenseTask<T>>(plan, t);
        tasks.each_tile(t, [&](std::size_t first, std::size_t n_rows) { done[t]->tile(first, n_rows); });
        if (back)
            parts[t] = done[t]->sums();
        else
            done[t].reset();
    });
    if (back) add_up(plan, parts);
}

}  // namespace nearline
