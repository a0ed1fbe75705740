#include <nanobind/stl/pair.h>

#include "bind_pass.hpp"
#include "bindings.hpp"
#include "row_sums.hpp"

namespace nearline {

void bind_row_sums(nb::module_& m) {
    m.def(
        "value_and_slope",
        [](AnyTable scores, std::optional<AnyTable> direction, double step, Targets targets, Numbers weights,
           const std::string& loss) {
            const Rows rows = rows_of(scores, targets, weights, loss);
            const TileSource source = source_of(scores);
            TileSource along;
            if (direction) {
                check(direction->shape(0) == scores.shape(0) && direction->shape(1) == scores.shape(1),
                      "scores and direction differ in shape");
                along = source_of(*direction);
            }
            std::pair<double, double> result;
            nb::gil_scoped_release released;
            value_and_slope(rows, source, direction ? &along : nullptr, step, result.first, result.second);
            return result;
        },
        nb::arg("scores"), nb::arg("direction").none(), nb::arg("step"), nb::arg("targets"),
        nb::arg("weights"), nb::arg("loss"),
        "sum_i s_i loss(f_i + step v_i, y_i) and its derivative in step (0 without a direction v).");
    m.def(
        "smallest_margin",
        [](AnyTable scores, Targets targets, Numbers weights, const std::string& loss) {
            const Rows rows = rows_of(scores, targets, weights, loss);
            if (rows.loss->joint) check_below(targets, rows.n_columns, "targets must be numbers of columns");
            const TileSource source = source_of(scores);
            nb::gil_scoped_release released;
            return smallest_margin(rows, source);
        },
        nb::arg("scores"), nb::arg("targets"), nb::arg("weights"), nb::arg("loss"),
        "min over rows of positive weight of y f, or of f_y less the largest other score.");
    m.def(
        "bias_sums",
        [](AnyTable scores, Numbers b, Targets targets, Numbers weights, const std::string& loss,
           Vector<double> gradient, std::optional<Matrix<double>> curvature) {
            const Rows rows = rows_of(scores, targets, weights, loss, curvature.has_value());
            const std::size_t K = rows.n_columns;
            check(b.shape(0) == K && gradient.shape(0) == K, "b and gradient must have one number a column");
            check(!curvature || (curvature->shape(0) == K && curvature->shape(1) == K),
                  "curvature must be (K, K)");
            const TileSource source = source_of(scores);
            nb::gil_scoped_release released;
            return bias_sums(rows, source, b.data(), gradient.data(),
                             curvature ? curvature->data() : nullptr);
        },
        nb::arg("scores"), nb::arg("b"), nb::arg("targets"), nb::arg("weights"), nb::arg("loss"),
        nb::arg("gradient").noconvert(), nb::arg("curvature").noconvert().none(),
        "Sum of losses at scores + b; fills its gradient (K,) and curvature (K, K) in b.");
    m.def(
        "row_curvature",
        [](AnyTable scores, Targets targets, Numbers weights, const std::string& loss, Matrix<double> out) {
            const Rows rows = rows_of(scores, targets, weights, loss, true);
            check(out.shape(0) == scores.shape(0) && out.shape(1) == scores.shape(1),
                  "out must have scores' shape");
            const TileSource source = source_of(scores);
            nb::gil_scoped_release released;
            row_curvature(rows, source, out.data());
        },
        nb::arg("scores"), nb::arg("targets"), nb::arg("weights"), nb::arg("loss"),
        nb::arg("out").noconvert(),
        "Second derivatives of separate columns; q with H = diag(q sum(q)) - q q^T for joint losses.");
}

}  // namespace nearline
