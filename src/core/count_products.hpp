// Inner products of rows of counts: k(s, t) = sum_g weight_g sum_{f of group g} count_s(f) count_t(f). The
// inner sums are of whole numbers and so exact; groups are added in their order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel_pairs.hpp"

namespace nearline {

struct Counts {
    const std::int64_t* starts;    // of each row's entries
    const std::int32_t* features;  // ordered by group within a row
    const double* counts;
    const std::int32_t* groups;  // of each feature
    const double* weights;       // of each group
    std::size_t n_features;
};

// Rows from..to by features: which rows have a feature, and how often.
class Postings {
  public:
    Postings(const Counts& c, std::size_t from, std::size_t to) : starts_(c.n_features + 1, 0) {
        for (std::int64_t k = c.starts[from]; k < c.starts[to]; ++k) ++starts_[c.features[k] + 1];
        for (std::size_t f = 0; f < c.n_features; ++f) starts_[f + 1] += starts_[f];
        entries_.resize(starts_.back());
        std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
        for (std::size_t row = from; row < to; ++row)
            for (std::int64_t k = c.starts[row]; k < c.starts[row + 1]; ++k)
                entries_[next[c.features[k]]++] = {row - from, c.counts[k]};
    }

    // f(row, count) for the rows that have a feature, from the last down to `least`.
    template <class F>
    void each(std::int32_t feature, std::size_t least, const F& f) const {
        for (std::size_t k = starts_[feature + 1]; k-- > starts_[feature] && entries_[k].row >= least;)
            f(entries_[k].row, entries_[k].count);
    }

  private:
    struct Entry {
        std::size_t row;
        double count;
    };
    std::vector<std::size_t> starts_;
    std::vector<Entry> entries_;
};

// Products of one row with others: the sum of the groups before, and that of the present one.
class WeightedSums {
  public:
    explicit WeightedSums(std::size_t n) : sums_(n) {}

    void add(std::size_t row, std::int32_t group, const double* weights, double product) {
        Sum& sum = sums_[row];
        if (sum.group != group) {
            sum.total += weights[sum.group] * sum.exact;
            sum.exact = 0.0;
            sum.group = group;
        }
        sum.exact += product;
    }

    // The sum of a row, which begins anew.
    double take(std::size_t row, const double* weights) {
        const Sum sum = sums_[row];
        sums_[row] = Sum{};
        return sum.total + weights[sum.group] * sum.exact;
    }

  private:
    struct Sum {
        double total = 0.0, exact = 0.0;
        std::int32_t group = 0;
    };
    std::vector<Sum> sums_;
};

inline void count_products(const Counts& c, Kind kind, std::size_t n_rows, std::size_t n_columns, double* out,
                           double work) {
    if (kind == Kind::diagonal) {
        WeightedSums sums(1);
        for (std::size_t row = 0; row < n_rows; ++row) {
            for (std::int64_t k = c.starts[row]; k < c.starts[row + 1]; ++k)
                sums.add(0, c.groups[c.features[k]], c.weights, c.counts[k] * c.counts[k]);
            out[row] = sums.take(0, c.weights);
        }
        return;
    }
    const bool among = kind == Kind::among;
    const Postings postings(c, among ? 0 : n_rows, among ? n_rows : n_rows + n_columns);
    Pool<WeightedSums> pool;
    parallel_for(n_rows, work, [&](std::size_t row) {
        auto sums = pool.take([&] { return WeightedSums(n_columns); });
        const std::size_t least = among ? row : 0;
        for (std::int64_t k = c.starts[row]; k < c.starts[row + 1]; ++k) {
            const std::int32_t group = c.groups[c.features[k]];
            postings.each(c.features[k], least, [&](std::size_t column, double count) {
                sums->add(column, group, c.weights, c.counts[k] * count);
            });
        }
        for (std::size_t column = least; column < n_columns; ++column)
            out[row * n_columns + column] = sums->take(column, c.weights);
        pool.give(std::move(sums));
    });
    if (among) mirror(out, n_rows, [](std::size_t, std::size_t) { return true; });
}

}  // namespace nearline
