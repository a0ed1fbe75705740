// The work on one tile of rows that the passes over X (pass_dense.hpp, pass_sparse.hpp) do between their two
// products, and what all sweeps over rows share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "losses.hpp"
#include "parallel.hpp"

namespace nearline {

// Memory that starts on a cache line.
template <class T>
class Buffer {
  public:
    explicit Buffer(std::size_t size, bool zero = true)
        : data_(static_cast<T*>(
              ::operator new[](std::max<std::size_t>(size, 1) * sizeof(T), std::align_val_t{64}))) {
        if (zero) std::fill_n(data_.get(), size, T{});
    }
    T* get() const { return data_.get(); }
    T& operator[](std::size_t i) const { return data_.get()[i]; }

  private:
    struct Free {
        void operator()(T* p) const { ::operator delete[](p, std::align_val_t{64}); }
    };
    std::unique_ptr<T, Free> data_;
};

// An (n, K) row-major matrix of either float type, read tile by tile.
struct TileSource {
    const float* single = nullptr;
    const double* real = nullptr;

    template <class T>
    static void read(const T* source, std::size_t n_rows, std::size_t n_columns, double* f) {
        for (std::size_t r = 0; r < n_rows; ++r)
            for (std::size_t c = 0; c < n_columns; ++c)
                f[c * kTile + r] = static_cast<double>(source[r * n_columns + c]);
    }
    void read(std::size_t first, std::size_t n_rows, std::size_t n_columns, double* f) const {
        if (n_rows < kTile) std::fill_n(f, n_columns * kTile, 0.0);
        if (single != nullptr)
            read(single + first * n_columns, n_rows, n_columns, f);
        else
            read(real + first * n_columns, n_rows, n_columns, f);
    }
};

// Targets and weights of all rows, and what is asked of each.
struct Rows {
    const std::int32_t* targets;
    const double* weights;
    std::size_t n_rows, n_columns;
    const CoreLoss* loss;
};

// Targets and weights of one tile; rows beyond the end have weight 0.
struct TileRows {
    alignas(64) std::int64_t targets[kTile];
    alignas(64) double weights[kTile];
    alignas(64) double values[kTile];

    void read(const Rows& rows, std::size_t first, std::size_t n_rows) {
        for (std::size_t r = 0; r < kTile; ++r) {
            targets[r] = r < n_rows ? rows.targets[first + r] : 0;
            weights[r] = r < n_rows ? rows.weights[first + r] : 0.0;
        }
    }
    NL_INLINE double weighted_values() const {
        double sum = 0.0;
        for (std::size_t r = 0; r < kTile; ++r) sum += weights[r] > 0.0 ? weights[r] * values[r] : 0.0;
        return sum;
    }
};

// A split of the rows into tasks of whole tiles that depends on the number of rows alone.
struct RowTasks {
    std::size_t n_rows, n_tiles, n_tasks;

    // most: number of tasks; least: tiles in a task
    RowTasks(std::size_t rows, std::size_t most, std::size_t least = 8)
        : n_rows(rows),
          n_tiles((rows + kTile - 1) / kTile),
          n_tasks(std::min(most, (n_tiles + least - 1) / least)) {}
    // tile(first row, number of rows) for the tiles of a task, in order
    template <class Tile>
    void each_tile(std::size_t task, const Tile& tile) const {
        const std::size_t end = n_tiles * (task + 1) / n_tasks;
        for (std::size_t t = n_tiles * task / n_tasks; t < end; ++t)
            tile(t * kTile, std::min(kTile, n_rows - t * kTile));
    }
};

constexpr std::size_t kRowTasks = 64;

// -- the work between the two products -----------------------------------------------------------------

// Turns the product of one tile, f = X_tile W^T + b (class-major, float64), into the G of the product G^T
// X_tile, and adds up what else is asked. Sums are kept apart by task and added in task order.
class TileWork {
  public:
    virtual ~TileWork() = default;
    virtual void prepare(std::size_t n_tasks) { (void)n_tasks; }
    virtual void run(std::size_t task, std::size_t first, std::size_t n_rows, double* f) = 0;
};

// Sums over rows, by task: a number and a vector over the columns.
class ColumnSums {
  public:
    void prepare(std::size_t n_tasks, std::size_t n_columns) {
        n_columns_ = n_columns;
        values_.assign(n_tasks, 0.0);
        columns_.assign(n_tasks * n_columns, 0.0);
    }
    void add_value(std::size_t task, double value) { values_[task] += value; }
    // f := weights * f, and its sum over the rows of the tile is added to the columns
    void weigh(std::size_t task, const double* weights, double* f) {
        double* sums = columns_.data() + task * n_columns_;
        for (std::size_t c = 0; c < n_columns_; ++c) {
            Reals sum = fill(0.0);
            for (std::size_t r = 0; r < kTile; r += kReals) {
                const Reals w = load(weights + r), g = load(f + c * kTile + r);
                const Reals weighed = w > 0.0 ? w * g : fill(0.0);
                store(f + c * kTile + r, weighed);
                sum += weighed;
            }
            double total = 0.0;
            for (std::size_t i = 0; i < kReals; ++i) total += sum[i];
            sums[c] += total;
        }
    }
    double value() const {
        double total = 0.0;
        for (double v : values_) total += v;
        return total;
    }
    void columns(double* out) const {
        std::fill_n(out, n_columns_, 0.0);
        for (std::size_t i = 0; i < columns_.size(); ++i) out[i % n_columns_] += columns_[i];
    }

  private:
    std::size_t n_columns_ = 0;
    std::vector<double> values_, columns_;
};

// Scores to weighted gradients; sums of losses and of gradients. Scores are f itself or read from `cached`.
class GradientWork : public TileWork {
  public:
    GradientWork(const Rows& rows, const TileSource* cached = nullptr) : rows_(rows), cached_(cached) {}
    ColumnSums sums;

    void prepare(std::size_t n_tasks) override { sums.prepare(n_tasks, rows_.n_columns); }
    void run(std::size_t task, std::size_t first, std::size_t n_rows, double* f) override {
        TileRows tile;
        tile.read(rows_, first, n_rows);
        if (cached_ != nullptr) cached_->read(first, n_rows, rows_.n_columns, f);
        rows_.loss->gradient(f, rows_.n_columns, tile.targets, tile.values);
        sums.add_value(task, tile.weighted_values());
        sums.weigh(task, tile.weights, f);
    }

  private:
    Rows rows_;
    const TileSource* cached_;
};

// Scores of a direction to weighted curvature times direction, at cached scores.
class CurvatureWork : public TileWork {
  public:
    CurvatureWork(const Rows& rows, const TileSource& scores) : rows_(rows), scores_(scores) {}
    ColumnSums sums;

    void prepare(std::size_t n_tasks) override { sums.prepare(n_tasks, rows_.n_columns); }
    void run(std::size_t task, std::size_t first, std::size_t n_rows, double* v) override {
        TileRows tile;
        tile.read(rows_, first, n_rows);
        const std::size_t size = rows_.n_columns * kTile;
        Buffer<double> h(size, false);
        scores_.read(first, n_rows, rows_.n_columns, h.get());
        rows_.loss->curvature(h.get(), rows_.n_columns, tile.targets);
        if (rows_.loss->joint) {
            joint_product(h.get(), v);
        } else {
            for (std::size_t i = 0; i < size; ++i) v[i] *= h[i];
        }
        sums.weigh(task, tile.weights, v);
    }

  private:
    // v := diag(q Q) v - q (q.v), row by row
    void joint_product(const double* q, double* v) const {
        for (std::size_t r = 0; r < kTile; r += kReals) {
            Reals total = fill(0.0), dot = fill(0.0);
            for (std::size_t c = 0; c < rows_.n_columns; ++c) {
                const Reals qc = load(q + c * kTile + r);
                total += qc;
                dot += qc * load(v + c * kTile + r);
            }
            for (std::size_t c = 0; c < rows_.n_columns; ++c) {
                double* vc = v + c * kTile + r;
                store(vc, load(q + c * kTile + r) * (total * load(vc) - dot));
            }
        }
    }
    Rows rows_;
    TileSource scores_;
};

// A given G.
class GivenWork : public TileWork {
  public:
    GivenWork(const TileSource& source, std::size_t n_columns) : source_(source), n_columns_(n_columns) {}
    void run(std::size_t, std::size_t first, std::size_t n_rows, double* f) override {
        source_.read(first, n_rows, n_columns_, f);
    }

  private:
    TileSource source_;
    std::size_t n_columns_;
};

}  // namespace nearline
