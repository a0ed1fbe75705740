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

// One query against all rows. Frequent features are most of the work and little of the lengths: they are left
// out of the products, and by Cauchy-Schwarz add at most |q| |x| taken over them alone.
template <class T>
class SparseSearch {
  public:
    SparseSearch(const SparseRows<T>& rows, const SparseColumns<T>& columns, const Measure& measure)
        : rows_(rows),
          columns_(columns),
          measure_(measure),
          bounds_(rows.n),
          values_(measure.d, 0.0),
          done_(rows.n, 0) {}

    void run(const SparseRow<double>& query, std::int64_t group, NeighborList& list, std::size_t k) {
        bound(query);
        auto measure = [&](std::size_t i) {
            if (rows_.groups && rows_.groups[i] == group) return;
            const double distance = measure_.template from_all_values<T>()
                                        ? measure_(rows_[i], values_.data(), query.size)
                                        : measure_(rows_[i], query);
            list.add(distance, static_cast<std::int64_t>(i));
        };
        for (std::size_t e = 0; e < query.n; ++e) values_[query.features[e]] = query.values[e];
        // The most promising rows first: they give a good limit.
        best_.clear();
        for (std::size_t i = 0; i < rows_.n && k < rows_.n; ++i) {
            const double bound = bounds_[i];
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
            if (!done_[i] && !(bounds_[i] > list.limit())) measure(i);
        for (const Neighbor& first : best_) done_[static_cast<std::size_t>(first.index)] = 0;
        for (std::size_t e = 0; e < query.n; ++e) values_[query.features[e]] = 0.0;
    }

  private:
    // Lower bounds of the distances from the inner products, known within rounding.
    void bound(const SparseRow<double>& query) {
        const double rest = multiply(query);
        for (std::size_t i = 0; i < rows_.n; ++i) bounds_[i] += rest * (rows_.common[i] + kVanishing);
        measure_.functions->least(measure_, rows_.sizes, rows_.n, query.size, bounds_.data());
    }

    // Products over the other features; gives the length of q in the frequent ones, a little rounded up (0 if
    // it has none of them).
    double multiply(const SparseRow<double>& query) {
        std::fill(bounds_.begin(), bounds_.end(), 0.0);
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
                bounds_[columns_.rows[p]] += q * static_cast<double>(columns_.values[p]);
        }
        return any ? std::sqrt(left) * (1.0 + 1e-10) + kVanishing : 0.0;
    }

    const SparseRows<T>& rows_;
    const SparseColumns<T>& columns_;
    const Measure& measure_;
    std::vector<double> bounds_, values_;  // products, then bounds, with each row; of the query, by feature
    std::vector<std::uint8_t> done_;       // rows that were measured first
    std::vector<Neighbor> best_;
};

template <class T>
void search_sparse(const SparseRows<T>& rows, const SparseColumns<T>& columns,
                   const SparseRows<double>& queries, const Measure& measure, std::size_t k,
                   NeighborList* lists) {
    constexpr std::size_t kBlock = 32;
    const std::size_t m = queries.n, n_blocks = (m + kBlock - 1) / kBlock;
    const bool bounded = measure.functions->least != nullptr;
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
