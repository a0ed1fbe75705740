// Scores of a few rows with as little overhead as can be: nothing is packed, no thread is started.
#pragma once

#include <cstddef>

#include "simd.hpp"

namespace nearline {

// out[c] = x . W[c] + b[c] for C rows of W at once.
template <class T, std::size_t C>
NL_INLINE void dot_block(const T* x, const T* W, const T* b, std::size_t D, T* out) {
    constexpr std::size_t L = kLanes<T>;
    Vec<T> acc[2][C] = {};
    std::size_t j = 0;
    for (; j + 2 * L <= D; j += 2 * L) {
        const Vec<T> x0 = load(x + j), x1 = load(x + j + L);
#pragma GCC unroll 4
        for (std::size_t c = 0; c < C; ++c) {
            acc[0][c] += x0 * load(W + c * D + j);
            acc[1][c] += x1 * load(W + c * D + j + L);
        }
    }
    for (std::size_t c = 0; c < C; ++c) {
        const Vec<T> both = acc[0][c] + acc[1][c];
        T sum = b[c];
        for (std::size_t i = 0; i < L; ++i) sum += both[i];
        for (std::size_t i = j; i < D; ++i) sum += x[i] * W[c * D + i];
        out[c] = sum;
    }
}

template <class T>
void row_scores(const T* x, const T* W, const T* b, std::size_t K, std::size_t D, T* out) {
    std::size_t c = 0;
    for (; c + 4 <= K; c += 4) dot_block<T, 4>(x, W + c * D, b + c, D, out + c);
    for (; c < K; ++c) dot_block<T, 1>(x, W + c * D, b + c, D, out + c);
}

}  // namespace nearline
