// What the bindings of the passes share: argument types and their checks.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "bindings.hpp"
#include "tile_work.hpp"

namespace nearline {

using Targets = Vector<const std::int32_t>;
using Numbers = Vector<const double>;
// (n, K) scores or gradients of either float type
using AnyTable = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline TileSource source_of(const AnyTable& table) {
    TileSource source;
    check(table.size() == 0 || is_aligned<double>(table.data()) ||
              (table.dtype() == nb::dtype<float>() && is_aligned<float>(table.data())),
          "scores must be aligned");
    if (table.dtype() == nb::dtype<float>())
        source.single = static_cast<const float*>(table.data());
    else if (table.dtype() == nb::dtype<double>())
        source.real = static_cast<const double*>(table.data());
    else
        throw std::invalid_argument("scores must be float32 or float64");
    return source;
}

// What the rows of a risk are, beside X: classes, weights, the loss.
inline Rows rows_of(const Targets& targets, const Numbers& weights, std::size_t n_columns,
                    const std::string& loss, bool curved = false) {
    check(targets.shape(0) == weights.shape(0), "targets and weights differ in length");
    check(n_columns > 0, "there must be at least one column of scores");
    const CoreLoss& kernel = core_loss(loss);
    check(!curved || kernel.curvature != nullptr, "this loss has no second derivative");
    return {targets.data(), weights.data(), targets.shape(0), n_columns, &kernel};
}

inline Rows rows_of(const AnyTable& scores, const Targets& targets, const Numbers& weights,
                    const std::string& loss, bool curved = false) {
    check(scores.shape(0) == targets.shape(0), "scores and targets differ in length");
    return rows_of(targets, weights, scores.shape(1), loss, curved);
}

// Steps of Newton's method, which are made of passes.
void bind_newton(nb::module_& m);

}  // namespace nearline
