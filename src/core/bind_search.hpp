// Search: the lists of a block of queries, filled through a filter, from all rows, or from given distances.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "bind_neighbors.hpp"
#include "neighbor_search.hpp"
#include "neighbor_sparse.hpp"

namespace nearline::neighbors {

constexpr std::size_t kBlock = 64;  // queries that look at the rows together

template <class T>
const T* data_or_null(const Vector<const T>& v) {
    return v.size() ? v.data() : nullptr;
}

// The lists of some queries, filled by one scan after the other.
class Search {
  public:
    Search(std::optional<Metric> metric, double exponent, Matrix<const double> map, Matrix<const double> q,
           Matrix<const std::uint8_t> bytes, Vector<const std::uint8_t> whole,
           Vector<const std::int64_t> groups, std::size_t k, double radius, std::size_t most_ties)
        : map_(map),
          q_(q),
          bytes_(bytes),
          whole_(whole),
          groups_(groups),
          k_(k),
          lists_(q.shape(0), NeighborList(k ? k : NeighborList::kUnlimited, radius, most_ties)) {
        const std::size_t m = q.shape(0);
        check(bytes.size() == 0 || (has_shape(bytes, m, q.shape(1)) && whole.size() == m),
              "bytes must have the shape of the queries, with one flag a query");
        check(none_or(groups, m), "groups must have one number a query");
        if (!metric) return;
        measure_.emplace(*metric, q.shape(1), exponent, map.data(), map.shape(0));
        check(!measure_->functions->mapped || map.shape(1) == q.shape(1),
              "the map must have a column for each feature");
        if (measure_->functions->sized) {
            sizes_.resize(m);
            for (std::size_t i = 0; i < m; ++i) sizes_[i] = measure_->size(q.data() + i * measure_->d);
        }
    }

    template <class T>
    void scan(Matrix<const T> X, Vector<const double> sizes, Vector<const std::int64_t> groups,
              Vector<const std::int64_t> blocks, Norm norm, std::size_t r, std::size_t r2, std::size_t chunk,
              Vector<const float> panels, Vector<const float> starts, Matrix<const float> low,
              Matrix<const float> high, Vector<const float> squares, Vector<const float> errors,
              Matrix<const float> more, Vector<const float> more_errors, Vector<const std::int64_t> order,
              Matrix<const float> v, Vector<const float> q_squares, Vector<const double> q_errors,
              Matrix<const float> q_more, Vector<const double> q_more_errors, Vector<const double> bases,
              double scale, double relative) {
        const Rows<T> rows = checked(X, sizes, groups);
        check(blocks.size() == lists_.size(), "blocks must have the number of each query once");
        check_permutation(blocks, "blocks must have the number of each query once");
        const std::size_t n = order.size(), m = lists_.size(), R = v.shape(1);
        check(has_shape(v, m, R) && r <= R && R == padded(r) && q_squares.size() == m &&
                  q_errors.size() == m && bases.size() == m,
              "what is known of the queries does not fit them");
        check_packed(norm, n, r, chunk, R, panels, starts, low, high, squares, errors);
        check_below(order, X.shape(0), "order has a row that there is not");
        check(r2 == 0 ||
                  (r2 <= more.shape(1) && has_shape(more, n, padded(r2)) &&
                   has_shape(q_more, m, padded(r2)) && more_errors.size() == n && q_more_errors.size() == m),
              "the second bound does not fit the rows or the queries");
        if (n == 0 || m == 0) return;
        const Filter filter{norm,
                            n,
                            r,
                            chunk,
                            panels.data(),
                            starts.data(),
                            low.data(),
                            high.data(),
                            squares.data(),
                            errors.data(),
                            r2,
                            more.data(),
                            more_errors.data(),
                            order.data()};
        const Probes probes{m,
                            v.data(),
                            q_squares.data(),
                            q_errors.data(),
                            q_more.data(),
                            q_more_errors.data(),
                            bases.data(),
                            scale,
                            relative};
        nb::gil_scoped_release release;
        switch (norm) {
            case Norm::squares:
                return filtered<Norm::squares>(filter, probes, rows, blocks.data());
            case Norm::magnitudes:
                return filtered<Norm::magnitudes>(filter, probes, rows, blocks.data());
            case Norm::largest:
                return filtered<Norm::largest>(filter, probes, rows, blocks.data());
            case Norm::rounded:
                if constexpr (kRounds) filtered<Norm::rounded>(filter, probes, rows, blocks.data());
        }
    }

    // Every row against every query.
    template <class T>
    void scan_all(Matrix<const T> X, Vector<const double> sizes, Vector<const std::int64_t> groups) {
        const Rows<T> rows = checked(X, sizes, groups);
        const std::size_t n = X.shape(0), m = lists_.size(), block = 16, n_blocks = (m + block - 1) / block;
        const Queries queries = all();
        const Measure& measure = *measure_;
        nb::gil_scoped_release release;
        Watch watch;
        parallel_for(n_blocks, static_cast<double>(n) * m * (rows.d + 1), [&](std::size_t b) {
            const std::size_t first = b * block, last = std::min(m, first + block);
            double work = 0.0;
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t a = first; a < last; ++a) {
                    if (rows.groups && rows.groups[i] == queries.groups[a]) continue;
                    lists_[a].add(measure(rows[i], queries.at(a, rows.d), lists_[a].limit()),
                                  static_cast<std::int64_t>(i));
                }
                work += static_cast<double>((last - first) * (rows.d + 1));
                if (!watch.go_on(work)) return;
            }
        });
    }

    // Sparse rows, by rows and by columns, against sparse queries.
    template <class T>
    void scan_sparse(Vector<const std::int64_t> starts, Vector<const std::int32_t> features,
                     Vector<const T> values, Vector<const std::int64_t> column_starts,
                     Vector<const std::int32_t> column_rows, Vector<const T> column_values,
                     Vector<const std::uint8_t> frequent, Vector<const double> common,
                     Vector<const std::int64_t> groups, Vector<const std::int64_t> q_starts,
                     Vector<const std::int32_t> q_features, Vector<const double> q_values,
                     std::size_t n_features) {
        check(measure_ && !measure_->functions->mapped, "there is no metric, or one of dense rows only");
        check_compressed(starts, features, values.size(), n_features);
        const std::size_t n = starts.size() - 1;
        check_compressed(column_starts, column_rows, column_values.size(), n);
        check(column_starts.size() == n_features + 1 && frequent.size() == n_features && common.size() == n,
              "rows and columns do not fit");
        check_groups(groups, n);
        check_compressed(q_starts, q_features, q_values.size(), n_features);
        check(q_starts.size() == lists_.size() + 1, "there must be as many queries as the search began with");
        measure_->d = n_features;
        SparseRows<T> rows{starts.size() - 1, starts.data(), features.data(),
                           values.data(),     nullptr,       data_or_null(groups)};
        SparseRows<double> queries{q_starts.size() - 1, q_starts.data(), q_features.data(),
                                   q_values.data(),     nullptr,         data_or_null(groups_)};
        nb::gil_scoped_release release;
        const std::vector<double> sizes = lengths(rows), q_sizes = lengths(queries);
        rows.sizes = sizes.data();
        rows.common = common.data();
        queries.sizes = q_sizes.data();
        search_sparse(
            rows,
            SparseColumns<T>{column_starts.data(), column_rows.data(), column_values.data(), frequent.data()},
            queries, *measure_, k_, lists_.data());
    }

    // Distances that someone else has computed: (queries, n), of the rows from number `first` on.
    void scan_distances(Matrix<const double> D, Vector<const std::int64_t> groups, std::int64_t first) {
        check(D.shape(0) == lists_.size(), "distances must have a row for each query");
        check(first >= 0 &&
                  first <= std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(D.shape(1)),
              "row numbers must be 0 or more, and 64-bit numbers");
        check_groups(groups, D.shape(1));
        const std::int64_t* own = data_or_null(groups);
        nb::gil_scoped_release release;
        parallel_for(lists_.size(), static_cast<double>(D.size()), [&](std::size_t a) {
            const double* d = D.data() + a * D.shape(1);
            for (std::size_t i = 0; i < D.shape(1); ++i)
                if (!(own && own[i] == groups_.data()[a]))
                    lists_[a].add(d[i], first + static_cast<std::int64_t>(i));
        });
    }

    // Number of tied rows beyond the lists, and (radius) of list entries, of each query; sorts the lists.
    void finish(Vector<std::int64_t> n_found, Vector<std::int64_t> n_ties) {
        check(n_found.size() == lists_.size() && n_ties.size() == lists_.size(),
              "there must be one number for each query");
        nb::gil_scoped_release release;
        parallel_for(lists_.size(), 1e3 * lists_.size(), [&](std::size_t a) {
            lists_[a].finish();
            n_found.data()[a] = static_cast<std::int64_t>(lists_[a].best().size());
            n_ties.data()[a] = static_cast<std::int64_t>(lists_[a].ties().size());
        });
    }

    // List a goes to places starts[a].. of distances and indices, its ties to tie_starts[a].. of ties.
    void write(Vector<const std::int64_t> starts, Vector<double> distances, Vector<std::int64_t> indices,
               Vector<const std::int64_t> tie_starts, Vector<std::int64_t> ties) const {
        const std::size_t m = lists_.size();
        check(starts.size() == m && tie_starts.size() == m && distances.size() == indices.size(),
              "there must be one start for each query, and as many indices as distances");
        for (std::size_t a = 0; a < m; ++a)
            check(fits(starts.data()[a], lists_[a].best().size(), indices.size()) &&
                      fits(tie_starts.data()[a], lists_[a].ties().size(), ties.size()),
                  "a list would be written beyond the arrays");
        for (std::size_t a = 0; a < lists_.size(); ++a) {
            std::int64_t at = starts.data()[a];
            for (const Neighbor& found : lists_[a].best()) {
                distances.data()[at] = found.distance;
                indices.data()[at++] = found.index;
            }
            std::copy(lists_[a].ties().begin(), lists_[a].ties().end(), ties.data() + tie_starts.data()[a]);
        }
    }

  private:
    static bool fits(std::int64_t start, std::size_t count, std::size_t size) {
        return start >= 0 && count <= size && static_cast<std::size_t>(start) <= size - count;
    }

    void check_groups(const Vector<const std::int64_t>& groups, std::size_t n) const {
        check(groups.size() == 0 || (groups.size() == n && groups_.size() == lists_.size()),
              "groups must have one number a row, and one a query");
    }

    template <class T>
    Rows<T> checked(const Matrix<const T>& X, const Vector<const double>& sizes,
                    const Vector<const std::int64_t>& groups) const {
        check(measure_.has_value(), "a search without a metric takes distances only");
        check(X.shape(1) == q_.shape(1) && measure_->d == q_.shape(1),
              "rows and queries must have the same features");
        check(sizes.size() == (measure_->functions->sized ? X.shape(0) : 0),
              "sizes must have one number a row where the metric needs them, and none elsewhere");
        check_groups(groups, X.shape(0));
        return {X.data(), X.shape(1), data_or_null(sizes), data_or_null(groups)};
    }

    template <class T>
    std::vector<double> lengths(SparseRows<T> rows) const {
        std::vector<double> out(rows.n, 0.0);
        rows.sizes = out.data();
        for (std::size_t i = 0; i < rows.n; ++i) out[i] = measure_->size(rows[i]);
        return out;
    }

    Queries all() const {
        return {lists_.size(),
                q_.data(),
                bytes_.size() ? bytes_.data() : nullptr,
                data_or_null(whole_),
                sizes_.empty() ? nullptr : sizes_.data(),
                data_or_null(groups_)};
    }

    template <Norm norm, class T>
    void filtered(const Filter& filter, const Probes& probes, const Rows<T>& rows,
                  const std::int64_t* members) {
        const std::size_t m = lists_.size(), n_blocks = (m + kBlock - 1) / kBlock;
        const Queries queries = all();
        Watch watch;
        parallel_for(n_blocks, static_cast<double>(filter.n) * m * (filter.r + 1), [&](std::size_t b) {
            BlockSearch<norm, T> search(filter, probes, rows, queries, *measure_, lists_.data());
            search.run(members + b * kBlock, std::min(kBlock, m - b * kBlock), watch);
        });
    }

    std::optional<Measure> measure_;
    Matrix<const double> map_, q_;
    Matrix<const std::uint8_t> bytes_;
    Vector<const std::uint8_t> whole_;
    Vector<const std::int64_t> groups_;
    std::size_t k_;
    std::vector<double> sizes_;
    std::vector<NeighborList> lists_;
};

}  // namespace nearline::neighbors
