#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <numeric>

#include "bind_pass.hpp"
#include "bindings.hpp"
#include "newton.hpp"

namespace nearline {

namespace {

using Result = std::tuple<bool, double, double>;

template <class T>
void bind_step(nb::module_& m) {
    m.def(
        "newton_step",
        [](Matrix<const T> X, std::optional<Numbers> mean, Targets targets, Numbers weights,
           const std::string& loss, double l2, double noise, Numbers params, Matrix<const T> scores,
           Numbers gradient, double value, Vector<double> direction, Vector<double> next,
           Matrix<T> next_scores, Vector<double> next_gradient) -> Result {
            const std::size_t n = X.shape(0), D = X.shape(1), K = scores.shape(1);
            const Rows rows = rows_of(targets, weights, K, loss, true);
            const std::size_t size = product(K, D + 1);
            check(targets.shape(0) == n && has_shape(scores, n, K) && has_shape(next_scores, n, K),
                  "X, targets and scores differ in length");
            check(!mean || mean->shape(0) == D, "the mean must have one number a feature");
            check(params.shape(0) == size && gradient.shape(0) == size && direction.shape(0) == size &&
                      next.shape(0) == size && next_gradient.shape(0) == size,
                  "parameters, gradients and directions must be flat, K (D + 1) numbers");
            TileSource source;
            if constexpr (sizeof(T) == sizeof(float))
                source.single = scores.data();
            else
                source.real = scores.data();
            nb::gil_scoped_release released;
            const double total = std::accumulate(weights.data(), weights.data() + n, 0.0);
            const SmoothRisk<T> risk{{X.data(), n, D}, rows, mean ? mean->data() : nullptr, l2, total};
            const NewtonStep<T> step(risk, params.data(), source, gradient.data(), value, noise,
                                     direction.data(), next.data(), next_scores.data(), next_gradient.data());
            return {step.good, step.data_loss, step.penalty};
        },
        nb::arg("X").noconvert(), nb::arg("mean").none(), nb::arg("targets"), nb::arg("weights"),
        nb::arg("loss"), nb::arg("l2"), nb::arg("noise"), nb::arg("params"), nb::arg("scores").noconvert(),
        nb::arg("gradient"), nb::arg("value"), nb::arg("direction").noconvert(), nb::arg("next").noconvert(),
        nb::arg("next_scores").noconvert(), nb::arg("next_gradient").noconvert(),
        "A Newton step on mean loss + (l2/2) |W|^2 at full length: is it good, its mean loss, its penalty.");
}

}  // namespace

void bind_newton(nb::module_& m) {
    bind_step<float>(m);
    bind_step<double>(m);
}

}  // namespace nearline
