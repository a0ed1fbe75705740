// How dense rows and weights are laid out for the products: column groups, vectors of features, tiles of
// rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd.hpp"
#include "tile_work.hpp"

namespace nearline {

constexpr std::size_t kMostClasses = 5;  // columns of W in one register block

// Columns c .. c + size - 1, which share register blocks. Sizes are as even as can be.
struct ColumnGroup {
    std::size_t first, size;
};

inline std::vector<ColumnGroup> column_groups(std::size_t n_columns) {
    const std::size_t count = (n_columns + kMostClasses - 1) / kMostClasses;
    std::vector<ColumnGroup> groups;
    for (std::size_t g = 0; g < count; ++g) {
        const std::size_t first = n_columns * g / count;
        groups.push_back({first, n_columns * (g + 1) / count - first});
    }
    return groups;
}

// How rows of D numbers are cut into vectors. The last vector of a row ends with the row, so that it may
// overlap the one before; the lanes it shares with that one count once. Rows shorter than a vector are
// padded.
template <class T>
struct Cut {
    static constexpr std::size_t L = kLanes<T>;
    std::size_t n_features, width, full, n_vectors;

    explicit Cut(std::size_t D)
        : n_features(D), width(std::max(D, L)), full(width / L), n_vectors((width + L - 1) / L) {}
    bool padded() const { return n_features < L; }
    std::size_t start(std::size_t v) const { return v < full ? v * L : width - L; }
    // First lane of vector v that no earlier vector holds.
    std::size_t fresh(std::size_t v) const { return v < full ? 0 : full * L - (width - L); }
};

// W (K, D) for the forward product: for each column group and vector of features, the group's vectors side by
// side.
template <class T>
class PackedWeights {
  public:
    template <class U>
    PackedWeights(const U* W, const U* b, std::size_t K, std::size_t D)
        : cut(D), groups(column_groups(K)), bias(b, b + K), data_(K * cut.n_vectors * Cut<T>::L) {
        constexpr std::size_t L = Cut<T>::L;
        for (const ColumnGroup& group : groups)
            for (std::size_t c = 0; c < group.size; ++c)
                for (std::size_t v = 0; v < cut.n_vectors; ++v) {
                    const U* row = W + (group.first + c) * D;
                    T* to = data_.get() + (group.first * cut.n_vectors + v * group.size + c) * L;
                    for (std::size_t i = cut.fresh(v); i < L && cut.start(v) + i < D; ++i)
                        to[i] = static_cast<T>(row[cut.start(v) + i]);
                }
    }
    const T* vectors(const ColumnGroup& group, std::size_t v) const {
        return data_.get() + (group.first * cut.n_vectors + v * group.size) * Cut<T>::L;
    }

    Cut<T> cut;
    std::vector<ColumnGroup> groups;
    std::vector<T> bias;

  private:
    Buffer<T> data_;
};

// kTile rows: in X itself, or copied where X has fewer than kTile rows left or rows shorter than a vector.
template <class T>
struct TileView {
    const T* x;
    std::size_t stride;
};

// The products below read tiles that should be in the second-level cache. They bring the next one there
// meanwhile, line by line: evenly spread, as a burst would fill the few places that the processor has for
// pending lines, and then its own loads would wait. Two column groups share the fetching of as much as they
// read.
class Stream {
  public:
    // from: where to begin, null for nothing
    Stream(const void* from, std::size_t n_groups)
        : at_(static_cast<const char*>(from)), sharing_(n_groups > 1 ? 2 : 1) {}
    // Lines that a block of a group fetches for each 64 bytes it reads of each of so many rows: 0, half or
    // all.
    bool on(std::size_t group) const { return at_ != nullptr && group < 2; }
    bool shared() const { return sharing_ == 2; }
    const char* take(std::size_t lines) {
        const char* from = at_;
        at_ += lines * 64;
        return from;
    }

  private:
    const char* at_;
    std::size_t sharing_;
};

}  // namespace nearline
