// Inner products of rows turned into entries of a Gaussian kernel, in place.
#pragma once

#include <algorithm>
#include <cstddef>

#include "parallel.hpp"
#include "simd.hpp"

namespace nearline {

// exp(-gamma max(0, a + b_j - 2 row_j)) for the entries of a part of a row.
template <class T>
void gaussian_entries(T* row, double a, const double* b, std::size_t m, double gamma) {
    std::size_t j = 0;
    for (; j + kReals <= m; j += kReals) {
        const Reals square = max(a + load(b + j) - 2.0 * reals_of(row + j), fill(0.0));
        store_reals(row + j, exp_of_nonpositive(-gamma * square));
    }
    if (j == m) return;
    double rest[kReals] = {}, norms[kReals] = {};
    for (std::size_t l = 0; j + l < m; ++l) rest[l] = row[j + l], norms[l] = b[j + l];
    const Reals square = max(a + load(norms) - 2.0 * load(rest), fill(0.0));
    store(rest, exp_of_nonpositive(-gamma * square));
    for (std::size_t l = 0; j + l < m; ++l) row[j + l] = static_cast<T>(rest[l]);
}

// K (n, m) holds a_i . b_j and becomes exp(-gamma |a_i - b_j|^2), given the squared norms.
template <class T>
void gaussian_between(T* K, const double* a, const double* b, std::size_t n, std::size_t m, double gamma) {
    constexpr std::size_t rows = 16;
    parallel_for((n + rows - 1) / rows, 10.0 * n * m, [&](std::size_t part) {
        for (std::size_t i = part * rows; i < std::min(n, (part + 1) * rows); ++i)
            gaussian_entries(K + i * m, a[i], b, m, gamma);
    });
}

// K (n, n) holds the products on and below the diagonal; the kernel is written to both halves.
template <class T>
void gaussian_among(T* K, const double* norms, std::size_t n, double gamma) {
    constexpr std::size_t tile = 64;
    const std::size_t tiles = (n + tile - 1) / tile;
    parallel_for(tiles, 10.0 * n * n, [&](std::size_t task) {
        const std::size_t I = tiles - 1 - task;  // the longest first
        const std::size_t i_end = std::min(n, (I + 1) * tile);
        for (std::size_t J = 0; J <= I; ++J) {
            const std::size_t j0 = J * tile;
            for (std::size_t i = I * tile; i < i_end; ++i) {
                T* row = K + i * n;
                const std::size_t j_end = J == I ? i : j0 + tile;
                gaussian_entries(row + j0, norms[i], norms + j0, j_end - j0, gamma);
            }
            for (std::size_t i = I * tile; i < i_end; ++i) {
                const std::size_t j_end = J == I ? i : j0 + tile;
                for (std::size_t j = j0; j < j_end; ++j) K[j * n + i] = K[i * n + j];
            }
        }
        for (std::size_t i = I * tile; i < i_end; ++i) K[i * n + i] = T{1};
    });
}

}  // namespace nearline
