// (Sub)gradients of the losses with respect to one row's scores, as in nearline/losses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "ordering.hpp"

namespace nearline {

struct Targets {
    const std::int32_t* labels;   // class numbers, or null:
    const double* distributions;  // (n, K)
    std::size_t n_outputs;

    double share(std::size_t i, std::size_t c) const {  // 1-of-K coding
        return labels ? static_cast<double>(static_cast<std::size_t>(labels[i]) == c)
                      : distributions[i * n_outputs + c];
    }
    double sign(std::size_t i, std::size_t c) const {
        if (n_outputs == 1) return labels[i] == 1 ? 1.0 : -1.0;
        return 2.0 * share(i, c) - 1.0;
    }
    double code(std::size_t i, std::size_t c) const { return n_outputs == 1 ? sign(i, 0) : share(i, c); }
};

// g[c - first] = d loss / d f_c for columns first .. last-1 of row i, f likewise. Joint losses get all
// columns.
using Gradient = void (*)(const double* f, const Targets& targets, std::size_t i, std::size_t first,
                          std::size_t last, double* g);

struct NamedLoss {
    Gradient gradient;
    bool joint;
};

namespace loss {

struct Logistic {
    static double slope(double z) {
        const double e = std::exp(-std::fabs(z));
        return -(z >= 0 ? e : 1.0) / (1.0 + e);
    }
};
struct Hinge {
    static double slope(double z) { return z < 1.0 ? -1.0 : 0.0; }
};
struct SquaredHinge {
    static double slope(double z) { return z < 1.0 ? -2.0 * (1.0 - z) : 0.0; }
};
struct BinarySparsemax {
    static double slope(double z) { return -std::min(std::max(0.5 * (1.0 - z), 0.0), 1.0); }
};

template <class Phi>
void margin(const double* f, const Targets& targets, std::size_t i, std::size_t first, std::size_t last,
            double* g) {
    for (std::size_t c = first; c < last; ++c) {
        const double y = targets.sign(i, c);
        g[c - first] = y * Phi::slope(y * f[c - first]);
    }
}

inline void squared(const double* f, const Targets& targets, std::size_t i, std::size_t first,
                    std::size_t last, double* g) {
    for (std::size_t c = first; c < last; ++c) g[c - first] = f[c - first] - targets.code(i, c);
}

inline void softmax(const double* f, const Targets& targets, std::size_t i, std::size_t, std::size_t K,
                    double* g) {
    const double top = *std::max_element(f, f + K);
    double total = 0.0;
    for (std::size_t c = 0; c < K; ++c) total += g[c] = std::exp(f[c] - top);
    for (std::size_t c = 0; c < K; ++c) g[c] = g[c] / total - targets.share(i, c);
}

inline void sparsemax(const double* f, const Targets& targets, std::size_t i, std::size_t, std::size_t K,
                      double* g) {
    const double top = *std::max_element(f, f + K);
    for (std::size_t c = 0; c < K; ++c) g[c] = f[c] - top;
    std::sort(g, g + K, [](double a, double b) { return nan_last(-a, -b); });
    double sum = 0.0, threshold = 0.0;
    for (std::size_t k = 0; k < K; ++k) {
        sum += g[k];
        if (g[k] * static_cast<double>(k + 1) <= sum - 1.0) break;
        threshold = (sum - 1.0) / static_cast<double>(k + 1);
    }
    for (std::size_t c = 0; c < K; ++c) g[c] = std::max(f[c] - top - threshold, 0.0) - targets.share(i, c);
}

inline void crammer_singer(const double* f, const Targets& targets, std::size_t i, std::size_t, std::size_t K,
                           double* g) {
    const auto y = static_cast<std::size_t>(targets.labels[i]);
    std::size_t worst = y;
    double largest = f[y];  // on a tie with the own class, the sub-gradient 0
    for (std::size_t c = 0; c < K; ++c) {
        if (c != y && f[c] + 1.0 > largest) largest = f[c] + 1.0, worst = c;
        g[c] = 0.0;
    }
    g[worst] += 1.0;
    g[y] -= 1.0;
}

inline void weston_watkins(const double* f, const Targets& targets, std::size_t i, std::size_t, std::size_t K,
                           double* g) {
    const auto y = static_cast<std::size_t>(targets.labels[i]);
    double violated = 0.0;
    for (std::size_t c = 0; c < K; ++c) violated += g[c] = c != y && 1.0 + f[c] - f[y] > 0.0 ? 1.0 : 0.0;
    g[y] = -violated;
}

}  // namespace loss

inline NamedLoss named_loss(const std::string& name) {
    if (name == "squared") return {loss::squared, false};
    if (name == "logistic") return {loss::margin<loss::Logistic>, false};
    if (name == "hinge") return {loss::margin<loss::Hinge>, false};
    if (name == "squared-hinge") return {loss::margin<loss::SquaredHinge>, false};
    if (name == "binary-sparsemax") return {loss::margin<loss::BinarySparsemax>, false};
    if (name == "softmax") return {loss::softmax, true};
    if (name == "sparsemax") return {loss::sparsemax, true};
    if (name == "crammer-singer") return {loss::crammer_singer, true};
    if (name == "weston-watkins") return {loss::weston_watkins, true};
    throw std::invalid_argument("the core has no loss '" + name + "'");
}

}  // namespace nearline
