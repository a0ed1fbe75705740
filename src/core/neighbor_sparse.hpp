// Nearest neighbors among sparse rows: inner products with all rows through the columns that a query has,
// which tell within rounding how far each row is; those that may be near enough are measured.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "neighbor_distance.hpp"
#include "neighbor_lists.hpp"
#include "parallel.hpp"

namespace nearline::neighbors {

template <class T>
struct SparseRows {
    std::size_t n;
    const std::int64_t* starts;
    const std::int32_t* features;
    const T* values;
    const double* sizes;             // |x|
    const std::int64_t* groups;      // null: none
    const double* common = nullptr;  // |x| in the frequent features alone

    SparseRow<T> operator[](std::size_t i) const {
        return {features + starts[i], values + starts[i], static_cast<std::size_t>(starts[i + 1] - starts[i]),
                sizes[i]};
    }
};

template <class T>
struct SparseColumns {
    const std::int64_t* starts;
    const std::int32_t* rows;
    const T* values;
    const std::uint8_t* frequent;  // whether a feature is one that many rows have
};

// Squares of what is below it are so near the smallest numbers that lengths lose their digits, or are 0.
constexpr double kVanishing = 1e-140;

// Least that the distance can be, given the inner product p within rounding; -inf, where squares overflow or
// vanish, excludes nothing.
class FromProduct {
  public:
    FromProduct(const Measure& measure, double query_size)
        : metric_(measure.metric),
          size_(query_size),
          eps_(static_cast<double>(measure.d + 64) * 0x1p-52),
          grid_(cosine_grid(measure.d)) {}
    static bool serves(Metric metric) {
        return metric == Metric::l2 || metric == Metric::squared_l2 || metric == Metric::cosine ||
               metric == Metric::inner_product;
    }
    double operator()(double p, double row_size) const {
        const double least = bound(p, row_size);
        return std::isnan(least) ? -std::numeric_limits<double>::infinity() : least;
    }

  private:
    static constexpr double kLost = 1e-300;  // more than the products of any row lose where they vanish

    double bound(double p, double row_size) const {
        const double both = size_ * row_size;
        switch (metric_) {
            case Metric::cosine:
                if (!(both > 0)) return 1.0;  // so is the distance
                if (std::min(size_, row_size) < kVanishing) return -std::numeric_limits<double>::infinity();
                return 1.0 - p / both - 4.0 * eps_ - grid_;
            case Metric::inner_product:
                return -p - 2.0 * eps_ * (size_ + kVanishing) * (row_size + kVanishing) - kLost;
            default: {
                const double squares = size_ * size_ + row_size * row_size;
                const double least = std::max(squares - 2.0 * p - 4.0 * eps_ * squares - kLost, 0.0);
                return metric_ == Metric::l2 ? std::sqrt(least) : least;
            }
        }
    }

    Metric metric_;
    double size_, eps_, grid_;
};

// One query against all rows. Frequent features are most of the work and little of the lengths: they are left
// out of the products, and by Cauchy-Schwarz add at most |q| |x| taken over them alone.
template <class T>
class SparseSearch {
  public:
    SparseSearch(const SparseRows<T>& rows, const SparseColumns<T>& columns, const Measure& measure)
        : rows_(rows),
          columns_(columns),
          measure_(measure),
          products_(rows.n),
          values_(measure.d, 0.0),
          done_(rows.n, 0) {}

    void run(const SparseRow<double>& query, std::int64_t group, NeighborList& list, std::size_t k) {
        const double rest = multiply(query);
        const FromProduct least(measure_, query.size);
        auto lower = [&](std::size_t i) {
            return least(products_[i] + rest * (rows_.common[i] + kVanishing), rows_.sizes[i]);
        };
        auto measure = [&](std::size_t i) {
            if (rows_.groups && rows_.groups[i] == group) return;
            const double distance =
                measure_.metric == Metric::cosine || measure_.metric == Metric::inner_product
                    ? measure_.from_values(rows_[i], values_.data(), query.size)
                    : measure_(rows_[i], query);
            list.add(distance, static_cast<std::int64_t>(i));
        };
        for (std::size_t e = 0; e < query.n; ++e) values_[query.features[e]] = query.values[e];
        // The most promising rows first: they give a good limit.
        best_.clear();
        for (std::size_t i = 0; i < rows_.n && k < rows_.n; ++i) {
            const double bound = lower(i);
            if (best_.size() == k && !(bound < best_.front().distance)) continue;
            if (best_.size() == k) {
                std::pop_heap(best_.begin(), best_.end());
                best_.pop_back();
            }
            best_.push_back({bound, static_cast<std::int64_t>(i)});
            std::push_heap(best_.begin(), best_.end());
        }
        for (const Neighbor& first : best_) {
            measure(static_cast<std::size_t>(first.index));
            done_[static_cast<std::size_t>(first.index)] = 1;
        }
        for (std::size_t i = 0; i < rows_.n; ++i)
            if (!done_[i] && !(lower(i) > list.limit())) measure(i);
        for (const Neighbor& first : best_) done_[static_cast<std::size_t>(first.index)] = 0;
        for (std::size_t e = 0; e < query.n; ++e) values_[query.features[e]] = 0.0;
    }

  private:
    // Products over the other features; gives the length of q in the frequent ones, a little rounded up (0 if
    // it has none of them).
    double multiply(const SparseRow<double>& query) {
        std::fill(products_.begin(), products_.end(), 0.0);
        double left = 0.0;
        bool any = false;
        for (std::size_t e = 0; e < query.n; ++e) {
            const std::int32_t j = query.features[e];
            const double q = query.values[e];
            if (columns_.frequent[j]) {
                left += q * q;
                any = true;
                continue;
            }
            for (std::int64_t p = columns_.starts[j]; p < columns_.starts[j + 1]; ++p)
                products_[columns_.rows[p]] += q * static_cast<double>(columns_.values[p]);
        }
        return any ? std::sqrt(left) * (1.0 + 1e-10) + kVanishing : 0.0;
    }

    const SparseRows<T>& rows_;
    const SparseColumns<T>& columns_;
    const Measure& measure_;
    std::vector<double> products_, values_;  // with each row; of the query, feature by feature
    std::vector<std::uint8_t> done_;         // rows that were measured first
    std::vector<Neighbor> best_;
};

template <class T>
void search_sparse(const SparseRows<T>& rows, const SparseColumns<T>& columns,
                   const SparseRows<double>& queries, const Measure& measure, std::size_t k,
                   NeighborList* lists) {
    constexpr std::size_t kBlock = 32;
    const std::size_t m = queries.n, n_blocks = (m + kBlock - 1) / kBlock;
    const bool bounded = FromProduct::serves(measure.metric);
    Watch watch;
    parallel_for(n_blocks, 1e3 * static_cast<double>(rows.n) * m, [&](std::size_t b) {
        SparseSearch<T> search(rows, columns, measure);
        double work = 0.0;
        for (std::size_t a = b * kBlock; a < std::min(m, (b + 1) * kBlock); ++a) {
            const std::int64_t group = rows.groups ? queries.groups[a] : 0;
            if (bounded) {
                search.run(queries[a], group, lists[a], k ? std::min(k, rows.n) : 1);
            } else {
                for (std::size_t i = 0; i < rows.n; ++i)
                    if (!(rows.groups && rows.groups[i] == group))
                        lists[a].add(measure(rows[i], queries[a]), static_cast<std::int64_t>(i));
            }
            work += 10.0 * static_cast<double>(rows.n);
            if (!watch.go_on(work)) return;
        }
    });
}

}  // namespace nearline::neighbors
