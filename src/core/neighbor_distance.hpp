// Distances between two rows, in the one order of summation that every search answers in.
//
// The terms of feature j are added, in float64 and in rising order of j, to sum number j mod 16; the sixteen
// sums are then added in pairs: l and l + 8, l and l + 4, l and l + 2, l and l + 1. Products are rounded
// before they are added (neighbor_distance.cpp is compiled without contraction into fused operations), so
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
#include <tuple>

namespace nearline::neighbors {

// A place in the list of metrics at the end of neighbor_metrics.hpp.
enum class Metric : int {};

Metric metric_named(const std::string& name);
std::size_t n_metrics();

// Cosine distances of rows with d features are multiples of it: 2^-40, and above 2^13 features 2^-53 times
// the next power of two. Rounding does at most (d / 8 + 15) 2^-53 to them, about an eighth of it.
double cosine_grid(std::size_t d);

// Squares of what is below it are so near the smallest numbers that lengths lose their digits, or are 0.
constexpr double kVanishing = 1e-140;

// One row of the index as it is stored; `size` is what some metrics need to know of it alone (Measure::size).
template <class T>
struct Row {
    const T* x;
    double size;
};

// A query: its values in float64, as bytes if all are whole numbers from 0 to 255 (else null), and its size.
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

struct Measure;

// A function for each type of numbers.
template <template <class> class Function, class... T>
using Each = std::tuple<Function<T>...>;
template <class T>
using DenseDistance = double (*)(const Measure&, const Row<T>&, const Query&, double);
template <class T>
using SparseDistance = double (*)(const Measure&, const SparseRow<T>&, const SparseRow<double>&);
template <class T>
using ValuesDistance = double (*)(const Measure&, const SparseRow<T>&, const double*, double);
template <class T>
using Gather = void (*)(const Measure&, const std::int32_t* rows, const T* values, std::size_t n, double q,
                        double* shared);
template <class T>
using DenseSize = double (*)(const Measure&, const T*);
template <class T>
using SparseSize = double (*)(const Measure&, const SparseRow<T>&);

// A metric as loops see it that do not depend on which one it is.
struct MetricFunctions {
    const char* name;
    bool sized, mapped;  // whether it needs the sizes of rows; whether a matrix maps differences
    Each<DenseDistance, float, double, std::uint8_t> dense;
    Each<SparseDistance, float, double> sparse;
    Each<ValuesDistance, float, double> from_values;  // null where what the query lacks counts
    Each<DenseSize, float, double, std::uint8_t> dense_size;
    Each<SparseSize, float, double> sparse_size;
    // What a feature that the query has with the value q shares with the rows that have it is added to
    // theirs.
    Each<Gather, float, double> gather;
    // Sums of what is shared become lower bounds of the distances; null where they bound nothing.
    void (*least)(const Measure&, const double* sizes, std::size_t n, double query_size, double* shared);
    bool multiplies;  // whether what is shared is the inner product, which lengths bound
};

const MetricFunctions& functions_of(Metric metric);

// A metric with its parameters, for rows of d features.
struct Measure {
    Measure(Metric metric, std::size_t d, double q = 2.0, const double* map = nullptr, std::size_t rank = 0)
        : functions(&functions_of(metric)), d(d), q(q), map(map), rank(rank) {}

    const MetricFunctions* functions;
    std::size_t d;
    double q;           // exponent of Lq
    const double* map;  // (rank, d) of metrics that map differences
    std::size_t rank;

    // The distance, or any number above `limit` if the distance is above it.
    template <class T>
    double operator()(const Row<T>& row, const Query& query, double limit) const {
        return std::get<DenseDistance<T>>(functions->dense)(*this, row, query, limit);
    }
    template <class T>
    double operator()(const SparseRow<T>& row, const SparseRow<double>& query) const {
        return std::get<SparseDistance<T>>(functions->sparse)(*this, row, query);
    }
    template <class T>
    bool from_all_values() const {
        return std::get<ValuesDistance<T>>(functions->from_values) != nullptr;
    }
    // The same from all values of the query: features of x alone are met.
    template <class T>
    double operator()(const SparseRow<T>& row, const double* values, double query_size) const {
        return std::get<ValuesDistance<T>>(functions->from_values)(*this, row, values, query_size);
    }
    template <class T>
    void gather(const std::int32_t* rows, const T* values, std::size_t n, double q, double* shared) const {
        std::get<Gather<T>>(functions->gather)(*this, rows, values, n, q, shared);
    }
    // What a metric needs to know of a row alone: |v|, unless it says otherwise.
    template <class T>
    double size(const T* v) const {
        return std::get<DenseSize<T>>(functions->dense_size)(*this, v);
    }
    template <class T>
    double size(const SparseRow<T>& row) const {
        return std::get<SparseSize<T>>(functions->sparse_size)(*this, row);
    }
};

}  // namespace nearline::neighbors
