// Pairs of items whose kernel values fill a matrix: each pair once, and always in the same order of its two
// items (by rank, which depends on content alone). Sums then have the same bits in K(A, A), K(A, B) and K(B,
// A)^T.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "parallel.hpp"

namespace nearline {

enum class Kind { among, between, diagonal };

struct Pair {
    std::size_t first, second;  // rank[first] <= rank[second]
    double* value;
};

// Both halves of a symmetric matrix from one: of (i, j) and (j, i), written(i, j) tells which one is there.
// By tiles, as a column written at once would touch a page of memory for each value.
template <class Written>
void mirror(double* out, std::size_t n, const Written& written) {
    constexpr std::size_t side = 32;
    parallel_for((n + side - 1) / side, static_cast<double>(n) * static_cast<double>(n),
                 [&](std::size_t tile) {
                     const std::size_t first = tile * side, last = std::min(n, first + side);
                     for (std::size_t begin = first; begin < n; begin += side)
                         for (std::size_t i = first; i < last; ++i)
                             for (std::size_t j = std::max(begin, i + 1); j < std::min(n, begin + side); ++j)
                                 if (written(i, j))
                                     out[j * n + i] = out[i * n + j];
                                 else
                                     out[i * n + j] = out[j * n + i];
                 });
}

// Items 0 .. n_rows - 1 are the rows of `out`; for Kind::between its columns are the items that follow.
class Pairs {
  public:
    Pairs(Kind kind, const std::int64_t* rank, std::size_t n_rows, std::size_t n_columns, double* out)
        : kind_(kind), n_rows_(n_rows), n_columns_(n_columns), out_(out), rows_(by_rank(rank, 0, n_rows)) {
        if (kind == Kind::between) columns_ = by_rank(rank, n_rows, n_columns);
        const auto below = [rank](std::size_t a, std::size_t b) { return rank[a] < rank[b]; };
        for (std::size_t r = 0; r < n_rows; ++r) {
            if (kind == Kind::among) add(rows_[r], rows_, r, n_rows);
            if (kind == Kind::diagonal) add(rows_[r], rows_, r, r + 1);
            if (kind == Kind::between) {
                const auto from = std::lower_bound(columns_.begin(), columns_.end(), rows_[r], below);
                add(rows_[r], columns_, static_cast<std::size_t>(from - columns_.begin()), n_columns);
            }
        }
        for (const std::size_t column : columns_) {
            const auto from = std::upper_bound(rows_.begin(), rows_.end(), column, below);
            add(column, rows_, static_cast<std::size_t>(from - rows_.begin()), n_rows);
        }
        // few pairs may be long ones, of which every thread is to have its share
        block_ = std::min<std::size_t>(512, 8 + size() / 2048 * 8);
    }

    std::size_t size() const { return starts_.back(); }
    std::size_t n_tasks() const { return (size() + block_ - 1) / block_; }

    // f(pair) for each pair of a task; those with the same first item follow each other.
    template <class F>
    void each(std::size_t task, const F& f) const {
        const std::size_t end = std::min((task + 1) * block_, size());
        std::size_t at = task * block_;
        auto r = static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), at) -
                                          starts_.begin() - 1);
        for (; at < end; ++r) {
            const Run& run = runs_[r];
            for (const std::size_t last = std::min(end, starts_[r + 1]); at < last; ++at)
                if (!f(pair(run.first, (*run.others)[run.from + at - starts_[r]]))) return;
        }
    }

    // After all tasks: what each pair has, also for its items in the other order.
    void complete() const {
        if (kind_ != Kind::among) return;
        std::vector<std::size_t> place(n_rows_);
        for (std::size_t r = 0; r < n_rows_; ++r) place[rows_[r]] = r;
        mirror(out_, n_rows_, [&](std::size_t i, std::size_t j) { return place[i] < place[j]; });
    }

  private:
    struct Run {
        std::size_t first;
        const std::vector<std::size_t>* others;
        std::size_t from;
    };

    static std::vector<std::size_t> by_rank(const std::int64_t* rank, std::size_t first, std::size_t count) {
        std::vector<std::size_t> items(count);
        for (std::size_t i = 0; i < count; ++i) items[i] = first + i;
        std::stable_sort(items.begin(), items.end(),
                         [rank](std::size_t a, std::size_t b) { return rank[a] < rank[b]; });
        return items;
    }

    void add(std::size_t first, const std::vector<std::size_t>& others, std::size_t from, std::size_t to) {
        if (from == to) return;
        runs_.push_back({first, &others, from});
        starts_.push_back(starts_.back() + to - from);
    }

    Pair pair(std::size_t first, std::size_t second) const {
        if (kind_ == Kind::diagonal) return {first, second, out_ + first};
        if (kind_ == Kind::among) return {first, second, out_ + first * n_columns_ + second};
        const std::size_t row = std::min(first, second), column = std::max(first, second) - n_rows_;
        return {first, second, out_ + row * n_columns_ + column};
    }

    Kind kind_;
    std::size_t n_rows_, n_columns_;
    double* out_;
    std::vector<std::size_t> rows_, columns_;
    std::vector<Run> runs_;
    std::size_t block_;                   // pairs that are one task
    std::vector<std::size_t> starts_{0};  // number of pairs before each run
};

// Working memory that tasks take and give back, so that there is one for each thread and not for each task.
template <class Scratch>
class Pool {
  public:
    template <class Make>
    std::unique_ptr<Scratch> take(const Make& make) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            if (!free_.empty()) {
                auto scratch = std::move(free_.back());
                free_.pop_back();
                return scratch;
            }
        }
        return std::make_unique<Scratch>(make());
    }

    void give(std::unique_ptr<Scratch> scratch) {
        std::lock_guard<std::mutex> lock(mutex_);
        free_.push_back(std::move(scratch));
    }

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<Scratch>> free_;
};

// A kernel between a first item, for which begin() prepares and end() cleans up, and others; go_on() tells
// whether the user still wants the result.
template <class Kernel, class Make>
void fill_by_first(const Pairs& pairs, double work, const Make& make) {
    Pool<Kernel> pool;
    parallel_for(pairs.n_tasks(), work, [&](std::size_t task) {
        auto kernel = pool.take(make);
        bool begun = false;
        std::size_t first = 0;
        pairs.each(task, [&](const Pair& pair) {
            if (!begun || first != pair.first) {
                if (begun) kernel->end(first);
                kernel->begin(pair.first);
                first = pair.first;
                begun = true;
            }
            *pair.value = kernel->with(pair.second);
            return kernel->go_on();
        });
        if (begun) kernel->end(first);
        pool.give(std::move(kernel));
    });
    pairs.complete();
}

}  // namespace nearline
