// Weighted Gram matrices [X, 1]^T diag(h_m) [X, 1] for several weightings h_m of the rows at once: the blocks
// of Hessians. A task owns some rows of one matrix, or a part of the data that the shapes alone define, and
// goes over the data in order, so sums do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "dense_kernels.hpp"
#include "dense_layout.hpp"
#include "parallel.hpp"
#include "pass_dense.hpp"
#include "tile_work.hpp"

namespace nearline {

// Rows of [X, 1] that are worked on together, as whole tiles of whole vectors; what lies beyond the end is
// zero.
template <class T>
class PaddedRows {
  public:
    static constexpr std::size_t kRows = 16 * kTile;

    explicit PaddedRows(std::size_t n_features)
        : width(n_features + 1),
          stride((width + kLanes<T> - 1) / kLanes<T> * kLanes<T>),
          data_(kRows * stride) {}

    // used: the rows of X, null for all; shift: what is subtracted from each feature, null for nothing
    template <class In>
    void read(const DenseRows<In>& X, const std::size_t* used, std::size_t first, std::size_t last,
              const double* shift, bool alone) {
        n_rows = std::min(kRows, last - first);
        const auto read_tile = [&](std::size_t tile) {
            for (std::size_t r = tile * kTile; r < (tile + 1) * kTile; ++r) {
                T* row = data_.get() + r * stride;
                std::fill_n(row, stride, T{});
                if (r >= n_rows) continue;
                const In* x = X.x + (used == nullptr ? first + r : used[first + r]) * X.n_features;
                for (std::size_t j = 0; j < X.n_features; ++j)
                    row[j] = static_cast<T>(shift == nullptr ? x[j] : x[j] - shift[j]);
                row[X.n_features] = T{1};
            }
        };
        const std::size_t n_tiles = (n_rows + kTile - 1) / kTile;
        if (alone) return parallel_for(n_tiles, 1.0 * n_rows * stride, read_tile);
        for (std::size_t tile = 0; tile < n_tiles; ++tile) read_tile(tile);
    }
    const T* row(std::size_t r) const { return data_.get() + r * stride; }

    std::size_t width, stride, n_rows = 0;

  private:
    Buffer<T> data_;
};

// Weightings of rows: M in all, from the first one on, of h (n, stride); used: n_rows of the rows of X, null
// for all.
struct Weightings {
    const double* h;
    std::size_t stride, M, n_rows;
    const std::size_t* used = nullptr;

    double operator()(std::size_t i, std::size_t m) const {
        return h[(used == nullptr ? i : used[i]) * stride + m];
    }
};

// out (M, P, P), P = D + 1, += the upper triangles of the Gram matrices of rows first .. last - 1. alone: no
// other thread has a part, so that bands may have threads.
template <class T, class In>
void add_grams_of(const DenseRows<In>& X, std::size_t first, std::size_t last, const Weightings& h, T* out,
                  const double* shift, bool alone) {
    constexpr std::size_t kBand = 4 * kMostClasses;  // rows of a matrix that a task owns
    constexpr std::size_t kRows = PaddedRows<T>::kRows;
    PaddedRows<T> rows(X.n_features);
    const std::size_t M = h.M, P = rows.width, n_bands = (P + kBand - 1) / kBand;
    Buffer<T> weights(M * kRows);
    for (; first < last; first += kRows) {
        rows.read(X, h.used, first, last, shift, alone);
        for (std::size_t m = 0; m < M; ++m)
            for (std::size_t r = 0; r < kRows; ++r)
                weights[m * kRows + r] = r < rows.n_rows ? static_cast<T>(h(first + r, m)) : T{};
        const auto add_band = [&](std::size_t task) {
            const std::size_t m = task / n_bands, begin = task % n_bands * kBand;
            const std::size_t end = std::min(begin + kBand, P);
            const T* w = weights.get() + m * kRows;
            const std::size_t L = kLanes<T>, skipped = begin / L * L;  // columns left of the diagonal
            const Back<T> back(end - begin, Cut<T>(rows.stride), begin / L, rows.stride / L);
            Buffer<T> sums((end - begin) * back.stride()), G(kBand * kTile, false);
            for (std::size_t r = 0; r < rows.n_rows; r += kTile) {
                for (std::size_t s = 0; s < kTile; ++s)
                    for (std::size_t i = begin; i < end; ++i)
                        G[(i - begin) * kTile + s] = w[r + s] * rows.row(r + s)[i];
                back({rows.row(r), rows.stride}, G.get(), sums.get(), nullptr);
            }
            for (std::size_t i = begin; i < end; ++i)
                for (std::size_t j = i; j < P; ++j)
                    out[(m * P + i) * P + j] += sums[(i - begin) * back.stride() + j - skipped];
        };
        if (alone)
            parallel_for(M * n_bands, 1.0 * M * rows.n_rows * P * P, add_band);
        else
            for (std::size_t task = 0; task < M * n_bands; ++task) add_band(task);
    }
}

// out (M, P, P) += the upper triangles of the Gram matrices. Small matrices of many rows are summed by parts
// of the rows, which threads share; large ones by their bands.
template <class T, class In>
void add_upper_grams(const DenseRows<In>& X, const Weightings& h, T* out, const double* shift) {
    constexpr std::size_t kSmall = 1 << 17, kMostParts = 16, kLeast = 4 * PaddedRows<T>::kRows;
    const std::size_t P = X.n_features + 1, size = h.M * P * P;
    const std::size_t rows_of_part = std::max(kLeast, (h.n_rows + kMostParts - 1) / kMostParts);
    const std::size_t n_parts = size > kSmall ? 1 : (h.n_rows + rows_of_part - 1) / rows_of_part;
    if (n_parts <= 1) return add_grams_of(X, 0, h.n_rows, h, out, shift, true);
    Buffer<T> sums(n_parts * size);
    parallel_for(n_parts, 1.0 * h.n_rows * size, [&](std::size_t part) {
        const std::size_t first = part * rows_of_part, last = std::min(first + rows_of_part, h.n_rows);
        add_grams_of(X, first, last, h, sums.get() + part * size, shift, false);
    });
    for (std::size_t part = 0; part < n_parts; ++part)
        for (std::size_t i = 0; i < size; ++i) out[i] += sums[part * size + i];
}

// out (M, P, P) += the Gram matrices of the weightings h (n, M), of X less a shift of its features. Where
// many weights are 0, as of losses that some rows are done with, each matrix is summed over its own rows
// alone.
template <class T, class In>
void add_weighted_grams(const DenseRows<In>& X, const double* h, std::size_t M, T* out,
                        const double* shift = nullptr) {
    constexpr double kMany = 0.25;  // share of the weights
    const std::size_t n = X.n_rows, P = X.n_features + 1;
    const std::size_t zeros = static_cast<std::size_t>(std::count(h, h + n * M, 0.0));
    if (static_cast<double>(zeros) < kMany * static_cast<double>(n * M)) {
        add_upper_grams(X, {h, M, M, n}, out, shift);
    } else {
        std::vector<std::size_t> used;
        used.reserve(n);
        for (std::size_t m = 0; m < M; ++m) {
            used.clear();
            for (std::size_t i = 0; i < n; ++i)
                if (h[i * M + m] != 0.0) used.push_back(i);
            add_upper_grams(X, {h + m, M, 1, used.size(), used.data()}, out + m * P * P, shift);
        }
    }
    for (std::size_t m = 0; m < M; ++m)
        for (std::size_t i = 0; i < P; ++i)
            for (std::size_t j = 0; j < i; ++j) out[(m * P + i) * P + j] = out[(m * P + j) * P + i];
}

}  // namespace nearline
