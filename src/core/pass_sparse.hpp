// Passes over the rows of a CSR matrix. Scores are sums of rows of W^T (D x K, so that the K numbers of a
// feature lie side by side); gradients are sums over a CSC copy of X, feature by feature in row order, so
// that they do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "parallel.hpp"
#include "simd.hpp"
#include "tile_work.hpp"

namespace nearline {

template <class T, class I>
struct CsrRows {
    const T* values;
    const I* columns;
    const I* starts;
    std::size_t n_rows, n_features;

    std::size_t size() const { return static_cast<std::size_t>(starts[n_rows]); }
};

template <class T>
struct CscColumns {
    const T* values;
    const std::int32_t* rows;
    const std::int64_t* starts;
    std::size_t n_rows, n_features;

    std::size_t size() const { return static_cast<std::size_t>(starts[n_features]); }
};

// -- CSR to CSC ----------------------------------------------------------------------------------------

// Entries of a column come out in row order whatever the number of row ranges that are counted apart.
template <class T, class I>
void csc_of_csr(const CsrRows<T, I>& X, T* values, std::int32_t* rows, std::int64_t* starts) {
    const std::size_t D = X.n_features, nnz = X.size();
    const std::size_t parts = std::clamp<std::size_t>(nnz / (4 * std::max<std::size_t>(D, 1)), 1, 8);
    std::vector<std::size_t> bounds(parts + 1, X.n_rows);  // row ranges with about as many entries each
    for (std::size_t p = 0; p < parts; ++p)
        bounds[p] =
            std::lower_bound(X.starts, X.starts + X.n_rows, static_cast<I>(nnz * p / parts)) - X.starts;
    std::vector<std::vector<std::int64_t>> place(parts);
    parallel_for(parts, 2.0 * nnz, [&](std::size_t p) {
        place[p].assign(D, 0);
        for (I k = X.starts[bounds[p]]; k < X.starts[bounds[p + 1]]; ++k) ++place[p][X.columns[k]];
    });
    std::int64_t total = 0;
    for (std::size_t j = 0; j < D; ++j) {
        starts[j] = total;
        for (std::size_t p = 0; p < parts; ++p) {
            const std::int64_t count = place[p][j];
            place[p][j] = total;
            total += count;
        }
    }
    starts[D] = total;
    parallel_for(parts, 4.0 * nnz, [&](std::size_t p) {
        for (std::size_t i = bounds[p]; i < bounds[p + 1]; ++i)
            for (I k = X.starts[i]; k < X.starts[i + 1]; ++k) {
                const std::int64_t to = place[p][X.columns[k]]++;
                values[to] = X.values[k];
                rows[to] = static_cast<std::int32_t>(i);
            }
    });
}

// -- K numbers a row or a feature, side by side --------------------------------------------------------

constexpr std::size_t kWidest = 4;  // vectors that are summed together

// An (m, K) table whose rows are whole vectors, cut into slices of at most kWidest vectors; K = 1 is not
// padded.
template <class T>
class SlicedTable {
  public:
    static constexpr std::size_t L = kLanes<T>;
    SlicedTable(std::size_t n_rows, std::size_t n_columns)
        : n_rows_(n_rows),
          n_columns_(n_columns),
          vectors_((n_columns + L - 1) / L),
          data_(n_columns == 1 ? n_rows : n_rows * vectors_ * L, false) {}

    std::size_t n_slices() const { return (vectors_ + kWidest - 1) / kWidest; }
    std::size_t width(std::size_t slice) const { return std::min(kWidest, vectors_ - slice * kWidest); }
    std::size_t first_column(std::size_t slice) const { return slice * kWidest * L; }
    std::size_t columns(std::size_t slice) const {
        return std::min(n_columns_ - first_column(slice), width(slice) * L);
    }
    T* row(std::size_t slice, std::size_t i) const {
        return data_.get() + (n_columns_ == 1 ? i : (slice * kWidest * n_rows_ + i * width(slice)) * L);
    }
    std::size_t n_columns() const { return n_columns_; }

    // Rows first .. end - 1, column by column: source(c, i).
    template <class Source>
    void fill_rows(std::size_t first, std::size_t end, const Source& source) {
        for (std::size_t s = 0; s < n_slices(); ++s) {
            const std::size_t stride = n_columns_ == 1 ? 1 : width(s) * L, used = columns(s);
            for (std::size_t c = 0; c < stride; ++c) {
                T* to = row(s, first) + c;
                for (std::size_t i = first; i < end; ++i, to += stride)
                    *to = c < used ? static_cast<T>(source(first_column(s) + c, i)) : T{};
            }
        }
    }

  private:
    std::size_t n_rows_, n_columns_, vectors_;
    Buffer<T> data_;
};

// sum over k of values[k] * table[places[k]], V vectors wide. ahead_end: places may be looked at up to there.
template <class T, std::size_t V, class I>
NL_INLINE void gather_sum(const T* values, const I* places, std::size_t count, std::size_t readable,
                          const T* table, Vec<T>* sums) {
    constexpr std::size_t L = kLanes<T>, stride = V * L, ahead = 8;
    Vec<T> even[V] = {}, odd[V] = {};
    const auto add = [&](std::size_t k, Vec<T>* acc) __attribute__((always_inline)) {
        const T* row = table + static_cast<std::size_t>(places[k]) * stride;
        if (k + ahead < readable) {
            const T* later = table + static_cast<std::size_t>(places[k + ahead]) * stride;
            for (std::size_t i = 0; i < stride; i += 64 / sizeof(T)) __builtin_prefetch(later + i);
        }
        const Vec<T> x = fill(values[k]);
#pragma GCC unroll 4
        for (std::size_t v = 0; v < V; ++v) acc[v] += x * load(row + v * L);
    };
    std::size_t k = 0;
    for (; k + 2 <= count; k += 2) {
        add(k, even);
        add(k + 1, odd);
    }
    if (k < count) add(k, even);
#pragma GCC unroll 4
    for (std::size_t v = 0; v < V; ++v) sums[v] = even[v] + odd[v];
}

template <class T, class I>
NL_INLINE T gather_dot(const T* values, const I* places, std::size_t count, const T* table) {
    T s[4] = {};
    std::size_t k = 0;
    for (; k + 4 <= count; k += 4)
        for (std::size_t i = 0; i < 4; ++i) s[i] += values[k + i] * table[places[k + i]];
    for (; k < count; ++k) s[0] += values[k] * table[places[k]];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

// The same for any width and K = 1; out gets the sums of a slice's columns.
template <class T, class I>
void gather(const SlicedTable<T>& table, std::size_t slice, const T* values, const I* places,
            std::size_t count, std::size_t readable, T* out) {
    if (table.n_columns() == 1) {
        out[0] = gather_dot(values, places, count, table.row(0, 0));
        return;
    }
    Vec<T> sums[kWidest];
    const T* base = table.row(slice, 0);
    switch (table.width(slice)) {
        case 1:
            gather_sum<T, 1>(values, places, count, readable, base, sums);
            break;
        case 2:
            gather_sum<T, 2>(values, places, count, readable, base, sums);
            break;
        case 3:
            gather_sum<T, 3>(values, places, count, readable, base, sums);
            break;
        default:
            gather_sum<T, 4>(values, places, count, readable, base, sums);
    }
    std::memcpy(out, sums, table.columns(slice) * sizeof(T));
}

// -- the passes ----------------------------------------------------------------------------------------

// W (K, D) as a table of D rows.
template <class T>
void fill_from_weights(SlicedTable<T>& table, const double* W, std::size_t D) {
    constexpr std::size_t block = 256;
    const std::size_t n_blocks = (D + block - 1) / block;
    parallel_for(n_blocks, 2.0 * table.n_columns() * D, [&](std::size_t i) {
        const std::size_t first = i * block, end = std::min(first + block, D);
        table.fill_rows(first, end, [&](std::size_t c, std::size_t j) { return W[c * D + j]; });
    });
}

// W: null if the work needs no product; scores: (n, K), null if not wanted; G: table of n rows, null if not
// wanted.
template <class T, class I>
void sparse_row_pass(const CsrRows<T, I>& X, std::size_t K, const SlicedTable<T>* W, const double* bias,
                     TileWork* work, T* scores, SlicedTable<T>* G) {
    const RowTasks tasks(X.n_rows, kRowTasks);
    if (work != nullptr) work->prepare(tasks.n_tasks);
    const double product = W == nullptr ? 0.0 : 2.0 * K * X.size();
    parallel_for(tasks.n_tasks, product + 10.0 * K * X.n_rows, [&](std::size_t task) {
        Buffer<double> f(K * kTile);
        Buffer<T> row(K);
        tasks.each_tile(task, [&](std::size_t first, std::size_t n_rows) {
            for (std::size_t r = 0; W != nullptr && r < n_rows; ++r) {
                const std::size_t start = X.starts[first + r], count = X.starts[first + r + 1] - start;
                for (std::size_t s = 0; s < W->n_slices(); ++s)
                    gather(*W, s, X.values + start, X.columns + start, count, X.size() - start,
                           row.get() + W->first_column(s));
                for (std::size_t c = 0; c < K; ++c) {
                    const T score = row[c] + static_cast<T>(bias[c]);
                    f[c * kTile + r] = static_cast<double>(score);
                    if (scores != nullptr) scores[(first + r) * K + c] = score;
                }
            }
            if (work == nullptr) return;
            work->run(task, first, n_rows, f.get());
            if (G != nullptr)
                G->fill_rows(first, first + n_rows,
                             [&](std::size_t c, std::size_t i) { return f[c * kTile + (i - first)]; });
        });
    });
}

// gradient (K, D) := G^T X. Sums of up to kSegment entries are taken in T, then added in float64.
template <class T>
void sparse_back_product(const CscColumns<T>& X, const SlicedTable<T>& G, double* gradient) {
    constexpr std::size_t kSegment = 256, kBlock = 128;
    const std::size_t D = X.n_features, K = G.n_columns(), n_blocks = (D + kBlock - 1) / kBlock;
    parallel_for(n_blocks, 2.0 * K * X.size() + K * D, [&](std::size_t block) {
        const std::size_t end = std::min((block + 1) * kBlock, D);
        T part[kWidest * SlicedTable<T>::L];
        double total[kWidest * SlicedTable<T>::L];
        for (std::size_t s = 0; s < G.n_slices(); ++s)
            for (std::size_t j = block * kBlock; j < end; ++j) {
                std::fill_n(total, G.columns(s), 0.0);
                for (std::size_t k = X.starts[j]; k < static_cast<std::size_t>(X.starts[j + 1]);
                     k += kSegment) {
                    const std::size_t count = std::min<std::size_t>(kSegment, X.starts[j + 1] - k);
                    gather(G, s, X.values + k, X.rows + k, count, X.size() - k, part);
                    for (std::size_t c = 0; c < G.columns(s); ++c) total[c] += static_cast<double>(part[c]);
                }
                for (std::size_t c = 0; c < G.columns(s); ++c)
                    gradient[(G.first_column(s) + c) * D + j] = total[c];
            }
    });
}

// gradient (K, D) := G^T X from the rows themselves, for a product that is needed once: no copy by columns.
// The number of row ranges that are summed apart depends on the data alone.
template <class T, class I>
void sparse_scatter(const CsrRows<T, I>& X, const double* G, std::size_t K, double* gradient) {
    constexpr std::size_t kBlock = 1024;
    const std::size_t D = X.n_features, nnz = X.size();
    const std::size_t parts = std::clamp<std::size_t>(nnz / (8 * std::max<std::size_t>(D, 1)), 1, 4);
    std::vector<std::vector<double>> sums(parts);
    parallel_for(parts, 4.0 * K * nnz, [&](std::size_t p) {
        sums[p].assign(D * K, 0.0);
        double* sum = sums[p].data();
        const std::size_t end = X.n_rows * (p + 1) / parts;
        for (std::size_t i = X.n_rows * p / parts; i < end; ++i) {
            const double* g = G + i * K;
            if (std::all_of(g, g + K, [](double v) { return v == 0; })) continue;
            for (I k = X.starts[i]; k < X.starts[i + 1]; ++k) {
                double* to = sum + static_cast<std::size_t>(X.columns[k]) * K;
                const double x = X.values[k];
                for (std::size_t c = 0; c < K; ++c) to[c] += x * g[c];
            }
        }
    });
    parallel_for((D + kBlock - 1) / kBlock, 1.0 * parts * D * K, [&](std::size_t block) {
        const std::size_t first = block * kBlock, end = std::min(first + kBlock, D);
        for (std::size_t c = 0; c < K; ++c)
            for (std::size_t j = first; j < end; ++j) {
                double total = 0;
                for (const auto& sum : sums) total += sum[j * K + c];
                gradient[c * D + j] = total;
            }
    });
}

}  // namespace nearline
