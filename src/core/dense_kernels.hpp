// The two products of a pass over dense rows, blocked for registers and caches: scores of a tile, and G^T
// X_tile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dense_layout.hpp"
#include "simd.hpp"
#include "tile_work.hpp"

namespace nearline {

constexpr std::size_t kFlush = 8;  // tiles whose sums are added in T before they go to float64

// -- forward product -----------------------------------------------------------------------------------

// Adds the products of R rows and C columns over `count` vectors to scores[c * kTile + r].
// Fetch: lines to fetch from `next` on with every second vector.
template <class T, std::size_t R, std::size_t C, std::size_t Fetch>
__attribute__((noinline)) void forward_block(TileView<T> tile, const T* w, std::size_t count, T* scores,
                                             const char* next) {
    constexpr std::size_t L = kLanes<T>;
    constexpr std::size_t Q = 16 / sizeof(T);
    Vec<T> acc[(R * C + Q - 1) / Q * Q] = {};
    const auto step = [&](std::size_t v) __attribute__((always_inline)) {
        Vec<T> x[R];
#pragma GCC unroll 8
        for (std::size_t r = 0; r < R; ++r) x[r] = load(tile.x + r * tile.stride + v * L);
#pragma GCC unroll 8
        for (std::size_t c = 0; c < C; ++c) {
            Vec<T> wc = load(w + (v * C + c) * L);
            NL_HOLD(wc);
#pragma GCC unroll 8
            for (std::size_t r = 0; r < R; ++r) acc[c * R + r] += x[r] * wc;
        }
    };
    std::size_t v = 0;
    for (; v + 2 <= count; v += 2) {
#pragma GCC unroll 8
        for (std::size_t i = 0; i < Fetch; ++i) __builtin_prefetch(next + (v / 2 * Fetch + i) * 64, 0, 2);
        step(v);
        step(v + 1);
    }
    if (v < count) step(v);
    T sums[(R * C + Q - 1) / Q * Q];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < R * C; i += Q) lane_sums<T>(acc + i, sums + i);
#pragma GCC unroll 8
    for (std::size_t c = 0; c < C; ++c)
#pragma GCC unroll 8
        for (std::size_t r = 0; r < R; ++r) scores[c * kTile + r] += sums[c * R + r];
}

template <class T>
class Forward {
  public:
    explicit Forward(const PackedWeights<T>& W) : W_(W) {
        // Vectors in one go: what two column groups need stays in half of a first-level cache.
        const std::size_t columns = std::min<std::size_t>(W.bias.size(), 2 * kMostClasses);
        const std::size_t most = std::max<std::size_t>(16384 / (columns * kVectorBytes), 8);
        const std::size_t chunks = (W.cut.full + most - 1) / most;
        chunk_ = (W.cut.full + chunks - 1) / chunks;
    }

    // scores := X_tile W^T + b, class-major.
    void operator()(TileView<T> tile, T* scores, const T* next) const {
        for (std::size_t c = 0; c < W_.bias.size(); ++c) std::fill_n(scores + c * kTile, kTile, W_.bias[c]);
        Stream stream(next, W_.groups.size());
        for (std::size_t g = 0; g < W_.groups.size(); g += 2) {
            for (std::size_t v = 0; v < W_.cut.full; v += chunk_)
                chunk(tile, g, v, std::min(chunk_, W_.cut.full - v), scores, stream);
            if (W_.cut.full < W_.cut.n_vectors) chunk(tile, g, W_.cut.full, 1, scores, stream);
        }
    }

  private:
    // Two groups from the g-th on, vectors v .. v + count - 1, all rows.
    void chunk(TileView<T> tile, std::size_t g, std::size_t v, std::size_t count, T* scores,
               Stream& stream) const {
        tile.x += W_.cut.start(v);
        const std::size_t end = std::min(g + 2, W_.groups.size());
        // A few rows at a time, so that they are still in the first-level cache for the second group.
        const std::size_t step = W_.bias.size() == 1 ? 8 : 4;
        for (std::size_t r = 0; r < kTile; r += step)
            for (std::size_t i = g; i < end; ++i) {
                const TileView<T> rows{tile.x + r * tile.stride, tile.stride};
                const T* w = W_.vectors(W_.groups[i], v);
                T* out = scores + W_.groups[i].first * kTile + r;
                // clang-format off
                switch (W_.groups[i].size) {
                    case 1: rows_of<8, 8, 1>(rows, w, count, out, i, stream); break;
                    case 2: rows_of<4, 4, 2>(rows, w, count, out, i, stream); break;
                    case 3: rows_of<4, 4, 3>(rows, w, count, out, i, stream); break;
                    case 4: rows_of<4, 2, 4>(rows, w, count, out, i, stream); break;
                    default: rows_of<4, 2, 5>(rows, w, count, out, i, stream);
                }
                // clang-format on
            }
    }
    // M rows in blocks of R.
    template <std::size_t M, std::size_t R, std::size_t C>
    static void rows_of(TileView<T> rows, const T* w, std::size_t count, T* out, std::size_t group,
                        Stream& stream) {
        constexpr std::size_t all = (R * 2 * kVectorBytes + 63) / 64, half = (all + 1) / 2;
        for (std::size_t r = 0; r < M; r += R) {
            const TileView<T> block{rows.x + r * rows.stride, rows.stride};
            if (!stream.on(group))
                forward_block<T, R, C, 0>(block, w, count, out + r, nullptr);
            else if (stream.shared())
                forward_block<T, R, C, half>(block, w, count, out + r, stream.take(count / 2 * half));
            else
                forward_block<T, R, C, all>(block, w, count, out + r, stream.take(count / 2 * all));
        }
    }

    const PackedWeights<T>& W_;
    std::size_t chunk_;
};

// -- back product --------------------------------------------------------------------------------------

// Adds G^T X_tile for C columns and N vectors of features to out[c * out_stride + feature].
// Fetch: lines to fetch from `next` on with every second row.
template <class T, std::size_t N, std::size_t C, std::size_t Fetch>
__attribute__((noinline)) void back_block(TileView<T> tile, const T* G, T* out, std::size_t out_stride,
                                          const char* next) {
    constexpr std::size_t L = kLanes<T>;
    Vec<T> acc[N][C] = {};
    for (std::size_t r = 0; r < kTile; r += 2) {
#pragma GCC unroll 8
        for (std::size_t i = 0; i < Fetch; ++i) __builtin_prefetch(next + (r / 2 * Fetch + i) * 64, 0, 2);
#pragma GCC unroll 2
        for (std::size_t s = r; s < r + 2; ++s) {
            Vec<T> x[N];
#pragma GCC unroll 8
            for (std::size_t v = 0; v < N; ++v) x[v] = load(tile.x + s * tile.stride + v * L);
#pragma GCC unroll 8
            for (std::size_t c = 0; c < C; ++c) {
                const Vec<T> g = fill(G[c * kTile + s]);
#pragma GCC unroll 8
                for (std::size_t v = 0; v < N; ++v) acc[v][c] += x[v] * g;
            }
        }
    }
#pragma GCC unroll 8
    for (std::size_t c = 0; c < C; ++c)
#pragma GCC unroll 8
        for (std::size_t v = 0; v < N; ++v) {
            T* to = out + c * out_stride + v * L;
            store(to, load(to) + acc[v][c]);
        }
}

// out += G^T X_tile for all columns and some vectors of features, (n_columns, n_vectors * L).
template <class T>
class Back {
  public:
    Back(std::size_t n_columns, const Cut<T>& cut, std::size_t first, std::size_t end)
        : groups_(column_groups(n_columns)), cut_(cut), first_(first), end_(end) {}

    std::size_t stride() const { return (end_ - first_) * Cut<T>::L; }

    // next: where the next tile begins, to fetch it; null if it is not to be fetched
    void operator()(TileView<T> tile, const T* G, T* out, const T* next) const {
        Stream stream(next, groups_.size());
        // A few vectors of features at a time, so that they are in the first-level cache for all groups but
        // the first.
        const std::size_t slab = groups_.size() == 1 ? end_ : 12;
        for (std::size_t v = first_; v < end_; v += slab)
            for (std::size_t g = 0; g < groups_.size(); ++g) {
                const Part part{tile, G + groups_[g].first * kTile, out + groups_[g].first * stride(),
                                stream.on(g) ? &stream : nullptr};
                const std::size_t end = std::min(v + slab, end_);
                // clang-format off
                switch (groups_[g].size) {
                    case 1: features<8, 1>(part, v, end); break;
                    case 2: features<4, 2>(part, v, end); break;
                    case 3: features<3, 3>(part, v, end); break;
                    case 4: features<3, 4>(part, v, end); break;
                    default: features<2, 5>(part, v, end);
                }
                // clang-format on
            }
    }

  private:
    // One column group of a tile.
    struct Part {
        TileView<T> tile;
        const T* G;
        T* out;
        Stream* fetch;
    };
    // Vectors v .. end - 1, in blocks of N, then 2, then 1.
    template <std::size_t N, std::size_t C>
    void features(const Part& part, std::size_t v, std::size_t end) const {
        const std::size_t full = std::min(end, cut_.full);
        for (; v + N <= full; v += N) block<N, C>(part, v);
        for (; v + 2 <= full; v += 2) block<2, C>(part, v);
        for (; v < end; ++v) block<1, C>(part, v);
    }
    template <std::size_t N, std::size_t C>
    void block(const Part& part, std::size_t v) const {
        constexpr std::size_t all = (2 * N * kVectorBytes + 63) / 64, half = (all + 1) / 2;
        const TileView<T> tile{part.tile.x + cut_.start(v), part.tile.stride};
        T* out = part.out + (v - first_) * Cut<T>::L;
        if (part.fetch == nullptr)
            back_block<T, N, C, 0>(tile, part.G, out, stride(), nullptr);
        else if (part.fetch->shared())
            back_block<T, N, C, half>(tile, part.G, out, stride(), part.fetch->take(kTile / 2 * half));
        else
            back_block<T, N, C, all>(tile, part.G, out, stride(), part.fetch->take(kTile / 2 * all));
    }

    std::vector<ColumnGroup> groups_;
    Cut<T> cut_;
    std::size_t first_, end_;
};

// Sums over many tiles: in T for a few of them, then in float64.
template <class T>
class BackSums {
  public:
    // flush: tiles whose sums are added in T
    BackSums(std::size_t n_columns, const Cut<T>& cut, std::size_t flush)
        : back_(n_columns, cut, 0, cut.n_vectors),
          flush_(flush),
          size_(n_columns * back_.stride()),
          recent_(size_),
          total_(sizeof(T) == sizeof(double) ? 0 : size_) {}

    void add(TileView<T> tile, const T* G, const T* next) {
        back_(tile, G, recent_.get(), next);
        if (sizeof(T) != sizeof(double) && ++pending_ == flush_) flush();
    }
    // All sums, in float64.
    const double* finish() {
        if constexpr (sizeof(T) == sizeof(double)) return recent_.get();
        flush();
        return total_.get();
    }

  private:
    void flush() {
        for (std::size_t i = 0; i < size_; ++i) {
            total_[i] += static_cast<double>(recent_[i]);
            recent_[i] = T{};
        }
        pending_ = 0;
    }

    Back<T> back_;
    std::size_t flush_, size_, pending_ = 0;
    Buffer<T> recent_;
    Buffer<double> total_;
};

}  // namespace nearline
