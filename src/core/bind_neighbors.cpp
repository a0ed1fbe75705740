// Nearest neighbors: the metrics and norms by name, and what is made of rows before they are searched.
#include "bind_neighbors.hpp"

#include <algorithm>

#include "neighbor_distance.hpp"

namespace nearline {

namespace {

using namespace neighbors;

template <class T>
void bind_type(nb::module_& m) {
    m.def(
        "row_sizes",
        [](Metric metric, Matrix<const T> X, Vector<double> out) {
            check(out.size() == X.shape(0), "out must have one number a row");
            const Measure measure(metric, X.shape(1));
            nb::gil_scoped_release release;
            constexpr std::size_t block = 512;
            parallel_for((X.shape(0) + block - 1) / block, static_cast<double>(X.size()), [&](std::size_t t) {
                for (std::size_t i = t * block; i < std::min(X.shape(0), (t + 1) * block); ++i)
                    out.data()[i] = measure.size(X.data() + i * X.shape(1));
            });
        },
        nb::arg("metric"), nb::arg("X").noconvert(), nb::arg("out").noconvert(),
        "out := what the metric needs to know of each row alone.");
}

}  // namespace

void bind_neighbors(nb::module_& m) {
    nb::enum_<Metric> metrics(m, "Metric", "How far apart two rows are: what the core measures.");
    for (std::size_t i = 0; i < n_metrics(); ++i) {
        const auto metric = static_cast<Metric>(i);
        metrics.value(functions_of(metric).name, metric);
    }
    nb::enum_<Norm>(m, "Norm", "How differences of coordinates make a lower bound.")
        .value("squares", Norm::squares)
        .value("magnitudes", Norm::magnitudes)
        .value("largest", Norm::largest)
        .value("rounded", Norm::rounded);
    m.def(
        "needs_sizes", [](Metric metric) { return functions_of(metric).sized; }, nb::arg("metric"),
        "Whether searches must be given the sizes of rows.");
    bind_type<float>(m);
    bind_type<double>(m);
    bind_type<std::uint8_t>(m);
    m.def("panel_rows", []() { return kPanel; }, "Rows in a panel of packed coordinates.");
    m.def("panel_words", &panel_words, nb::arg("norm"), nb::arg("r"),
          "Words of 32 bits that r coordinates take in a panel.");
    m.def("rounds", []() { return kRounds; }, "Whether there are products of rounded coordinates.");
    m.def("lanes", []() { return kLanes<float>; }, "Numbers of float32 in a vector of the machine.");
    m.def(
        "pack_rows_of_filter",
        [](Norm norm, Matrix<const float> v, Vector<const float> squares, Vector<const double> errors,
           Vector<const std::int64_t> order, std::size_t r, std::size_t chunk, Vector<float> panels,
           Vector<float> starts, Matrix<float> low, Matrix<float> high, Vector<float> chunk_squares,
           Vector<float> chunk_errors) {
            const std::size_t n = v.shape(0);
            check(squares.size() == n && errors.size() == n && order.size() == n && r <= v.shape(1),
                  "squares, errors and order must have one number a row");
            check_packed(norm, n, r, chunk, v.shape(1), panels, starts, low, high, chunk_squares,
                         chunk_errors);
            check_below(order, n, "order has a row that there is not");
            nb::gil_scoped_release release;
            pack(norm, v.data(), v.shape(1), squares.data(), errors.data(), order.data(), v.shape(0), r,
                 chunk, panels.data(), starts.data(), low.data(), high.data(), chunk_squares.data(),
                 chunk_errors.data());
        },
        nb::arg("norm"), nb::arg("v").noconvert(), nb::arg("squares").noconvert(),
        nb::arg("errors").noconvert(), nb::arg("order").noconvert(), nb::arg("r"), nb::arg("chunk"),
        nb::arg("panels").noconvert(), nb::arg("starts").noconvert(), nb::arg("low").noconvert(),
        nb::arg("high").noconvert(), nb::arg("chunk_squares").noconvert(),
        nb::arg("chunk_errors").noconvert(),
        "Pack v in the given order: panels, boxes and largest values of each chunk.");
    m.def(
        "tree_order",
        [](Matrix<const float> v, std::size_t r, std::size_t leaf, Vector<std::int64_t> order) {
            check(order.size() == v.shape(0) && r <= v.shape(1) && leaf > 0,
                  "order must have one number a row, and a leaf at least one row");
            nb::gil_scoped_release release;
            tree_order(v.data(), v.shape(0), r, v.shape(1), leaf, order.data());
        },
        nb::arg("v").noconvert(), nb::arg("r"), nb::arg("leaf"), nb::arg("order").noconvert(),
        "Order in which every `leaf` consecutive rows of v are near each other in the first r coordinates.");
}

}  // namespace nearline
