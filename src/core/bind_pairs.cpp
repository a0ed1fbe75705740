// Distances of chosen pairs of rows, in the one order of summation that every search answers in.
#include <algorithm>
#include <limits>

#include "bindings.hpp"
#include "neighbor_distance.hpp"
#include "parallel.hpp"

namespace nearline {

namespace {

using namespace neighbors;
using Numbers = Vector<const std::int64_t>;

constexpr std::size_t kBlock = 1024;  // pairs that a task measures

constexpr const char* kNoRow = "a pair has a row that there is not";

template <class Distance>
void fill(std::size_t n_pairs, double work, double* out, const Distance& distance) {
    parallel_for((n_pairs + kBlock - 1) / kBlock, work, [&](std::size_t block) {
        for (std::size_t p = block * kBlock; p < std::min(n_pairs, (block + 1) * kBlock); ++p)
            out[p] = distance(p);
    });
}

template <class T>
void pair_distances(Metric metric, double exponent, Matrix<const double> map, Matrix<const T> X,
                    Matrix<const double> Q, Numbers rows, Numbers queries, Vector<double> out) {
    const std::size_t d = X.shape(1), n_pairs = rows.size();
    const Measure measure(metric, d, exponent, map.data(), map.shape(0));
    check(Q.shape(1) == d, "rows and queries must have the same features");
    check(!measure.functions->mapped || map.shape(1) == d, "the map must have a column for each feature");
    check(queries.size() == n_pairs && out.size() == n_pairs, "rows, queries and out differ in length");
    check_below(rows, X.shape(0), kNoRow);
    check_below(queries, Q.shape(0), kNoRow);
    nb::gil_scoped_release release;
    const bool sized = measure.functions->sized;
    fill(n_pairs, 2.0 * static_cast<double>(n_pairs * (d + 1) * std::max<std::size_t>(1, measure.rank)),
         out.data(), [&](std::size_t p) {
             const T* x = X.data() + rows.data()[p] * d;
             const double* q = Q.data() + queries.data()[p] * d;
             return measure(Row<T>{x, sized ? measure.size(x) : 0.0},
                            Query{q, nullptr, sized ? measure.size(q) : 0.0},
                            std::numeric_limits<double>::infinity());
         });
}

template <class T>
struct Csr {
    Vector<const std::int64_t> starts;
    Vector<const std::int32_t> features;
    Vector<const T> values;

    std::size_t n() const { return starts.size() - 1; }
    SparseRow<T> operator[](std::int64_t i) const {
        const std::int64_t begin = starts.data()[i];
        return {features.data() + begin, values.data() + begin,
                static_cast<std::size_t>(starts.data()[i + 1] - begin), 0.0};
    }
};

template <class T>
void sparse_pair_squares(Vector<const std::int64_t> starts, Vector<const std::int32_t> features,
                         Vector<const T> values, Vector<const std::int64_t> q_starts,
                         Vector<const std::int32_t> q_features, Vector<const double> q_values,
                         std::size_t n_features, Numbers rows, Numbers queries, Vector<double> out) {
    const Measure measure(metric_named("squared_l2"), n_features);
    const Csr<T> X{starts, features, values};
    const Csr<double> Q{q_starts, q_features, q_values};
    check(queries.size() == rows.size() && out.size() == rows.size(),
          "rows, queries and out differ in length");
    check_compressed(starts, features, values.size(), n_features);
    check_compressed(q_starts, q_features, q_values.size(), n_features);
    check_below(rows, X.n(), kNoRow);
    check_below(queries, Q.n(), kNoRow);
    nb::gil_scoped_release release;
    fill(rows.size(), 1e3 * static_cast<double>(rows.size()), out.data(),
         [&](std::size_t p) { return measure(X[rows.data()[p]], Q[queries.data()[p]]); });
}

template <class T>
void bind_type(nb::module_& m) {
    m.def("pair_distances", &pair_distances<T>, nb::arg("metric"), nb::arg("exponent"),
          nb::arg("map").noconvert(), nb::arg("X").noconvert(), nb::arg("Q").noconvert(),
          nb::arg("rows").noconvert(), nb::arg("queries").noconvert(), nb::arg("out").noconvert(),
          "out[p] := the distance of X[rows[p]] and Q[queries[p]].");
}

template <class T>
void bind_sparse(nb::module_& m) {
    m.def("sparse_pair_squares", &sparse_pair_squares<T>, nb::arg("starts").noconvert(),
          nb::arg("features").noconvert(), nb::arg("values").noconvert(), nb::arg("q_starts").noconvert(),
          nb::arg("q_features").noconvert(), nb::arg("q_values").noconvert(), nb::arg("n_features"),
          nb::arg("rows").noconvert(), nb::arg("queries").noconvert(), nb::arg("out").noconvert(),
          "out[p] := |x - q|^2 of CSR rows with sorted features.");
}

}  // namespace

void bind_pairs(nb::module_& m) {
    bind_type<float>(m);
    bind_type<double>(m);
    bind_type<std::uint8_t>(m);
    bind_sparse<float>(m);
    bind_sparse<double>(m);
    m.def("cosine_grid", &cosine_grid, nb::arg("n_features"), "Cosine distances are multiples of it.");
}

}  // namespace nearline
