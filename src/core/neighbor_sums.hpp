// The one order of summation that every distance is measured in: see neighbor_distance.hpp.
#pragma once

#ifndef NL_EXACT
#error "sums of distances are compiled without contraction, in neighbor_distance.cpp alone (CMakeLists.txt)"
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "neighbor_distance.hpp"
#include "simd.hpp"

namespace nearline::neighbors {

constexpr std::size_t kSums = 16, kChunk = 128;

NL_INLINE Four size_of(Four v) { return size_of_four(v); }
NL_INLINE double size_of(double v) { return std::fabs(v); }

struct Plus {
    static NL_INLINE Four join(Four a, Four b) { return a + b; }
    static NL_INLINE double join(double a, double b) { return a + b; }
};
struct Max {
    static NL_INLINE Four join(Four a, Four b) { return b > a ? b : a; }
    static NL_INLINE double join(double a, double b) { return b > a ? b : a; }
};

// The sixteen sums, four vectors of four.
struct Sums {
    Four s[4] = {};

    template <class Join>
    double total() const {
        const Four half0 = Join::join(s[0], s[2]), half1 = Join::join(s[1], s[3]);  // l and l + 8
        const Four quarter = Join::join(half0, half1);                              // l and l + 4
        return Join::join(Join::join(quarter[0], quarter[2]), Join::join(quarter[1], quarter[3]));
    }
};

// One to three numbers, and zeros.
template <class T>
NL_INLINE Four first(const T* x, std::size_t n) {
    const auto at = [&](std::size_t i) { return i < n ? static_cast<double>(x[i]) : 0.0; };
    return Four{at(0), at(1), at(2), 0.0};
}

// The sum of term(x_j, q_j) over all features. A partial sum above `enough` ends it early: sums only grow.
template <class Join, class T, class U, class Term>
double sum(const T* x, const U* q, std::size_t d, const Term& term, double enough) {
    Sums sums;
    std::size_t j = 0;
    const std::size_t whole = d - d % kSums;
    while (j < whole) {
        const std::size_t stop = std::min(whole, j + kChunk);
        for (; j < stop; j += kSums)
            for (std::size_t v = 0; v < 4; ++v)
                sums.s[v] = Join::join(sums.s[v], term(four(x + j + 4 * v), four(q + j + 4 * v)));
        if (j < d) {
            const double partial = sums.template total<Join>();
            if (partial > enough) return partial;
        }
    }
    for (std::size_t v = 0; j < d; ++v, j += 4) {  // terms of absent features are 0 and change nothing
        const std::size_t left = d - j;
        const Four a = left < 4 ? first(x + j, left) : four(x + j);
        const Four b = left < 4 ? first(q + j, left) : four(q + j);
        sums.s[v] = Join::join(sums.s[v], term(a, b));
    }
    return sums.template total<Join>();
}

// The sixteen sums of single numbers, joined in pairs.
template <class Join>
double joined(double* s) {
    for (std::size_t half = kSums / 2; half; half /= 2)
        for (std::size_t l = 0; l < half; ++l) s[l] = Join::join(s[l], s[l + half]);
    return s[0];
}

// The same sum over the features that either of two sparse rows stores.
template <class Join, class T, class Term>
double sparse_sum(const SparseRow<T>& x, const SparseRow<double>& q, const Term& term) {
    double s[kSums] = {};
    std::size_t a = 0, b = 0;
    while (a < x.n || b < q.n) {
        const std::int32_t j =
            b == q.n || (a < x.n && x.features[a] <= q.features[b]) ? x.features[a] : q.features[b];
        const double left = a < x.n && x.features[a] == j ? static_cast<double>(x.values[a++]) : 0.0;
        const double right = b < q.n && q.features[b] == j ? q.values[b++] : 0.0;
        double& at = s[static_cast<std::size_t>(j) % kSums];
        at = Join::join(at, term(left, right));
    }
    return joined<Join>(s);
}

}  // namespace nearline::neighbors
