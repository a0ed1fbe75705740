// Distances between two rows, in the one order of summation that every search answers in.
//
// The terms of feature j are added, in float64 and in rising order of j, to sum number j mod 16; the sixteen
// sums are then added in pairs: l and l + 8, l and l + 4, l and l + 2, l and l + 1. Products are rounded
// before they are added (this file's functions are compiled without contraction into fused operations), so
// the result is the same on every instruction set. Features that contribute 0 change nothing: sparse rows
// give the same bits as dense ones. Sums of whole numbers below 2^53 are exact in any order, which lets bytes
// take a faster way. Of L2 and Lq, where the sum of powers is below 1e-280 or above 1e280, the differences
// are divided by the largest of them before the power, and the root is multiplied by it.
//
// Mahalanobis: the differences e = x - q are taken first and mapped then, z_l = sum_j A_lj e_j and sum_l
// z_l^2, both in the order above, so that an offset of all rows costs no digits.
//
// Cosine distances are rounded to the nearest multiple of a grid (cosine_grid), which is wider than what
// rounding can have done to them: proportional rows are at 0, and equal angles are at one distance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nearline::neighbors {

enum class Metric { l2, squared_l2, l1, linf, lq, cosine, inner_product, hamming, jaccard, mahalanobis };

Metric metric_of(const std::string& name);

// Cosine distances of rows with d features are multiples of it: 2^-40, and above 2^13 features 2^-53 times
// the next power of two. Rounding does at most (d / 8 + 15) 2^-53 to them, about an eighth of it.
double cosine_grid(std::size_t d);

// One row of the index as it is stored; `size` is what cosine needs to know of it: its length |x|.
template <class T>
struct Row {
    const T* x;
    double size;
};

// A query: its values in float64, as bytes if all are whole numbers from 0 to 255 (else null), and its
// length.
struct Query {
    const double* q;
    const std::uint8_t* bytes;
    double size;
};

// Stored entries of a sparse row, by rising feature.
template <class T>
struct SparseRow {
    const std::int32_t* features;
    const T* values;
    std::size_t n;
    double size;
};

struct Measure {
    Metric metric;
    std::size_t d;
    double q;                     // exponent of Lq
    const double* map = nullptr;  // Mahalanobis: A (rank, d)
    std::size_t rank = 0;

    // The distance, or any number above `limit` if the distance is above it.
    template <class T>
    double operator()(const Row<T>& row, const Query& query, double limit) const;
    template <class T>
    double operator()(const SparseRow<T>& row, const SparseRow<double>& query) const;
    // The same for metrics of the inner product, from all values of the query: features of x alone are met.
    template <class T>
    double from_values(const SparseRow<T>& row, const double* q, double query_size) const;
    // |v| in the order of summation above.
    template <class T>
    double length(const T* v) const;
    template <class T>
    double length(const SparseRow<T>& row) const;
};

extern template double Measure::operator()(const Row<float>&, const Query&, double) const;
extern template double Measure::operator()(const Row<double>&, const Query&, double) const;
extern template double Measure::operator()(const Row<std::uint8_t>&, const Query&, double) const;
extern template double Measure::operator()(const SparseRow<float>&, const SparseRow<double>&) const;
extern template double Measure::operator()(const SparseRow<double>&, const SparseRow<double>&) const;
extern template double Measure::from_values(const SparseRow<float>&, const double*, double) const;
extern template double Measure::from_values(const SparseRow<double>&, const double*, double) const;
extern template double Measure::length(const SparseRow<float>&) const;
extern template double Measure::length(const SparseRow<double>&) const;
extern template double Measure::length(const float*) const;
extern template double Measure::length(const double*) const;
extern template double Measure::length(const std::uint8_t*) const;

}  // namespace nearline::neighbors
