// The built-in losses: one struct each, with all that passes, SGD and the dual ask of it; and one list.
#pragma once

#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "loss_columns.hpp"
#include "loss_multiclass_hinge.hpp"
#include "loss_probabilities.hpp"

namespace nearline {

// Whatever the core knows of a loss, it knows from its place in this list.
using Losses = std::tuple<Squared, Logistic, Hinge, SquaredHinge, BinarySparsemax, Softmax, Sparsemax,
                          CrammerSinger, WestonWatkins>;

// A loss as loops see it that do not depend on which one it is.
struct CoreLoss {
    const char* name;
    bool joint, distributions;
    // On a tile f of n_columns x kTile, in place: scores become gradients, the loss of each row goes to
    // values.
    void (*gradient)(double* f, std::size_t n_columns, const std::int64_t* targets, double* values);
    // Scores become second derivatives (separate columns) or q (joint); null where there are none.
    void (*curvature)(double* f, std::size_t n_columns, const std::int64_t* targets);
    // g[c - first] = d loss / d f_c for columns first .. last-1 of row i, f likewise. Joint losses get all
    // columns.
    void (*row_gradient)(const double* f, const RowTargets& targets, std::size_t i, std::size_t first,
                         std::size_t last, double* g);
};

template <class Loss>
void tile_gradient(double* f, std::size_t n_columns, const std::int64_t* targets, double* values) {
    for (std::size_t r = 0; r < kTile; r += kReals)
        store(values + r, Loss::strip_gradient(Strip{f + r, n_columns, load(targets + r)}));
}

template <class Loss>
void tile_curvature(double* f, std::size_t n_columns, const std::int64_t* targets) {
    for (std::size_t r = 0; r < kTile; r += kReals)
        Loss::strip_curvature(Strip{f + r, n_columns, load(targets + r)});
}

template <class Loss>
constexpr CoreLoss core_loss_of(Loss) {
    CoreLoss loss{Loss::name,          Loss::joint, Loss::distributions,
                  tile_gradient<Loss>, nullptr,     Loss::row_gradient};
    if constexpr (Loss::curved) loss.curvature = tile_curvature<Loss>;
    return loss;
}

// visit(Loss{}) for the loss of this name.
template <class Visit>
void with_loss(const std::string& name, const Visit& visit) {
    auto named = [&](auto loss) {
        if (name != loss.name) return false;
        visit(loss);
        return true;
    };
    if (!std::apply([&](auto... loss) { return (named(loss) || ...); }, Losses{}))
        throw std::invalid_argument("the core has no loss named '" + name + "'");
}

inline const CoreLoss& core_loss(const std::string& name) {
    const CoreLoss* found = nullptr;
    with_loss(name, [&](auto loss) {
        static constexpr CoreLoss known = core_loss_of(loss);
        found = &known;
    });
    return *found;
}

}  // namespace nearline
