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

// One query against all rows. What they share is added up through the columns of the query's features. Where
// that is an inner product, frequent features are most of the work and often little of the lengths: they are
// left out at first, as by Cauchy-Schwarz they add at most |q| |x| taken over them alone, and met where that
// leaves too many rows to be measured.
template <class T>
class SparseSearch {
  public:
    SparseSearch(const SparseRows<T>& rows, const SparseColumns<T>& columns, const Measure& measure)
        : rows_(rows),
          columns_(columns),
          measure_(measure),
          shared_(rows.n),
          bounds_(rows.n),
          values_(measure.d, 0.0),
          done_(rows.n, 0) {}

    void run(const SparseRow<double>& query, std::int64_t group, NeighborList& list, std::size_t k) {
        for (std::size_t e = 0; e < query.n; ++e) values_[query.features[e]] = query.values[e];
        std::fill(shared_.begin(), shared_.end(), 0.0);
        const bool partly = measure_.functions->multiplies && !complete_;
        const double left = partly ? gather_rare(query) : gather_all(query);
        bound(query, left);
        measure_nearest(query, group, list, k);
        if (left > 0.0 && survivors_cost(query, list) > frequent_cost(query)) {
            gather(query, 1, 1);
            bound(query, 0.0);
            measure_nearest(query, group, list, k);
            complete_ = true;
        }
        for (std::size_t i = 0; i < rows_.n; ++i)
            if (!done_[i] && !(bounds_[i] > list.limit())) measure(i, query, group, list);
        for (const std::int64_t i : measured_) done_[static_cast<std::size_t>(i)] = 0;
        measured_.clear();
        for (std::size_t e = 0; e < query.n; ++e) values_[query.features[e]] = 0.0;
    }

  private:
    void measure(std::size_t i, const SparseRow<double>& query, std::int64_t group, NeighborList& list) {
        if (rows_.groups && rows_.groups[i] == group) return;
        const double distance = measure_.template from_all_values<T>()
                                    ? measure_(rows_[i], values_.data(), query.size)
                                    : measure_(rows_[i], query);
        list.add(distance, static_cast<std::int64_t>(i));
    }

    // The k rows of the smallest bounds, but for those that were measured before: they give a good limit.
    void measure_nearest(const SparseRow<double>& query, std::int64_t group, NeighborList& list,
                         std::size_t k) {
        if (k >= rows_.n) return;
        best_.clear();
        for (std::size_t i = 0; i < rows_.n; ++i) {
            const double bound = bounds_[i];
            if (best_.size() == k && !(bound < best_.front().distance)) continue;
            if (done_[i]) continue;
            if (best_.size() == k) {
                std::pop_heap(best_.begin(), best_.end());
                best_.pop_back();
            }
            best_.push_back({bound, static_cast<std::int64_t>(i)});
            std::push_heap(best_.begin(), best_.end());
        }
        for (const Neighbor& first : best_) {
            const auto i = static_cast<std::size_t>(first.index);
            measure(i, query, group, list);
            done_[i] = 1;
            measured_.push_back(first.index);
        }
    }

    // Lower bounds of the distances; `left` is the length of the query in what was left out.
    void bound(const SparseRow<double>& query, double left) {
        if (left > 0.0)
            for (std::size_t i = 0; i < rows_.n; ++i)
                bounds_[i] = shared_[i] + left * (rows_.common[i] + kVanishing);
        else
            std::copy(shared_.begin(), shared_.end(), bounds_.begin());
        measure_.functions->least(measure_, rows_.sizes, rows_.n, query.size, bounds_.data());
    }

    // The query's features whose frequency is between two marks.
    void gather(const SparseRow<double>& query, std::uint8_t least, std::uint8_t most) {
        for (std::size_t e = 0; e < query.n; ++e) {
            const std::int32_t j = query.features[e];
            if (columns_.frequent[j] < least || columns_.frequent[j] > most) continue;
            const std::int64_t p = columns_.starts[j];
            measure_.gather(columns_.rows + p, columns_.values + p,
                            static_cast<std::size_t>(columns_.starts[j + 1] - p), query.values[e],
                            shared_.data());
        }
    }

    double gather_all(const SparseRow<double>& query) {
        gather(query, 0, 1);
        return 0.0;
    }

    // The others; gives the length of q in the frequent ones, a little rounded up (0 if it has none of them).
    double gather_rare(const SparseRow<double>& query) {
        gather(query, 0, 0);
        double squares = 0.0;
        bool any = false;
        for (std::size_t e = 0; e < query.n; ++e) {
            if (!columns_.frequent[query.features[e]]) continue;
            squares += query.values[e] * query.values[e];
            any = true;
        }
        return any ? std::sqrt(squares) * (1.0 + 1e-10) + kVanishing : 0.0;
    }

    // Entries that measuring the rows within the limit would meet; of two rows that are merged, each costs as
    // much as several that are added to a column's sums.
    double survivors_cost(const SparseRow<double>& query, const NeighborList& list) const {
        constexpr double kMerged = 4.0;
        double cost = 0.0;
        for (std::size_t i = 0; i < rows_.n; ++i)
            if (!done_[i] && !(bounds_[i] > list.limit()))
                cost += static_cast<double>(rows_.starts[i + 1] - rows_.starts[i]) + query.n;
        return kMerged * cost;
    }

    // Entries of the frequent features, and what bounds cost anew.
    double frequent_cost(const SparseRow<double>& query) const {
        constexpr double kBound = 8.0;
        double cost = kBound * static_cast<double>(rows_.n);
        for (std::size_t e = 0; e < query.n; ++e) {
            const std::int32_t j = query.features[e];
            if (columns_.frequent[j])
                cost += static_cast<double>(columns_.starts[j + 1] - columns_.starts[j]);
        }
        return cost;
    }

    const SparseRows<T>& rows_;
    const SparseColumns<T>& columns_;
    const Measure& measure_;
    std::vector<double> shared_, bounds_, values_;  // with each row; of the query, by feature
    std::vector<std::uint8_t> done_;                // rows that were measured first
    std::vector<std::int64_t> measured_;            // their numbers
    std::vector<Neighbor> best_;
    bool complete_ = false;  // a query before needed all of its features: the next ones will, too
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
