// Nearest neighbors among sparse rows: inner products with all rows through the columns that a query has,
// which tell within rounding how far each row is; those that may be near enough are measured.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
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
    const double* sizes;         // |x|
    const std::int64_t* groups;  // null: none

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
};

// Least that the distance can be, given the inner product p within rounding; `none` where p says nothing.
class FromProduct {
  public:
    FromProduct(const Measure& measure, double query_size)
        : metric_(measure.metric), size_(query_size), eps_(static_cast<double>(measure.d + 64) * 0x1p-52) {}
    static bool serves(Metric metric) {
        return metric == Metric::l2 || metric == Metric::squared_l2 || metric == Metric::cosine ||
               metric == Metric::inner_product;
    }
    double operator()(double p, double row_size) const {
        const double both = size_ * row_size;
        switch (metric_) {
            case Metric::cosine:
                return both > 0 ? 1.0 - p / both - 4.0 * eps_ : 1.0;
            case Metric::inner_product:
                return -p - 2.0 * eps_ * both;
            default: {
                const double squares = size_ * size_ + row_size * row_size;
                const double least = std::max(squares - 2.0 * p - 4.0 * eps_ * squares, 0.0);
                return metric_ == Metric::l2 ? std::sqrt(least) : least;
            }
        }
    }

  private:
    Metric metric_;
    double size_, eps_;
};

template <class T>
void search_sparse(const SparseRows<T>& rows, const SparseColumns<T>& columns,
                   const SparseRows<double>& queries, const Measure& measure, NeighborList* lists) {
    constexpr std::size_t kBlock = 16;
    const std::size_t m = queries.n, n_blocks = (m + kBlock - 1) / kBlock;
    const bool bounded = FromProduct::serves(measure.metric);
    Watch watch;
    parallel_for(n_blocks, 1e3 * static_cast<double>(rows.n) * m, [&](std::size_t b) {
        std::vector<double> products(bounded ? rows.n : 0);
        double work = 0.0;
        for (std::size_t a = b * kBlock; a < std::min(m, (b + 1) * kBlock); ++a) {
            const SparseRow<double> query = queries[a];
            const FromProduct least(measure, query.size);
            NeighborList& list = lists[a];
            if (bounded) {
                std::fill(products.begin(), products.end(), 0.0);
                for (std::size_t e = 0; e < query.n; ++e) {
                    const std::int64_t end = columns.starts[query.features[e] + 1];
                    for (std::int64_t p = columns.starts[query.features[e]]; p < end; ++p)
                        products[columns.rows[p]] += query.values[e] * static_cast<double>(columns.values[p]);
                }
            }
            for (std::size_t i = 0; i < rows.n; ++i) {
                if (bounded && least(products[i], rows.sizes[i]) > list.limit()) continue;
                if (rows.groups && rows.groups[i] == queries.groups[a]) continue;
                list.add(measure(rows[i], query), static_cast<std::int64_t>(i));
            }
            work += 10.0 * static_cast<double>(rows.n);
            if (!watch.go_on(work)) return;
        }
    });
}

}  // namespace nearline::neighbors
