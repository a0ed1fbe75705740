// What the bindings of neighbors share.
#pragma once

#include <limits>

#include "bindings.hpp"
#include "neighbor_filter.hpp"

namespace nearline::neighbors {

// Rows in panels and chunks, as `pack` writes and a search reads them; R: width of the boxes.
template <class Flat, class Boxes>
void check_packed(Norm norm, std::size_t n, std::size_t r, std::size_t chunk, std::size_t R,
                  const Flat& panels, const Flat& starts, const Boxes& low, const Boxes& high,
                  const Flat& squares, const Flat& errors) {
    check(kRounds || norm != Norm::rounded, "this build has no products of rounded coordinates");
    check(chunk > 0 && chunk % kPanel == 0, "a chunk must be whole panels");
    check(n < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) - kPanel,
          "there are too many rows");
    const std::size_t n_chunks = n / chunk + (n % chunk != 0), size = (n + kPanel - 1) / kPanel * kPanel;
    check(panels.size() == product(size, panel_words(norm, r)) && starts.size() == size,
          "panels do not fit the rows");
    check(has_shape(low, n_chunks, R) && has_shape(high, n_chunks, R) && squares.size() == n_chunks &&
              errors.size() == product(2, n_chunks),
          "boxes do not fit the rows");
}

}  // namespace nearline::neighbors
