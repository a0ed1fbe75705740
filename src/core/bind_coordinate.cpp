#include <limits>

#include "bind_pass.hpp"
#include "bindings.hpp"
#include "coordinate_gram.hpp"

namespace nearline {

namespace {

using Ids = Vector<const Id>;
using Sizes = Vector<const Size>;
using Numbers = Vector<const double>;
using Table = Matrix<const double>;

WorkingSet working_set(const Sizes& starts, const Ids& columns, const Numbers& gradient,
                       const Numbers& bias_gradient, const Vector<double>& weights,
                       const Vector<double>& bias_step, const Matrix<double>& score_step,
                       const Table& curvature, std::size_t n_features) {
    const std::size_t K = score_step.shape(0), size = columns.shape(0);
    check(starts.shape(0) == K + 1 && bias_gradient.shape(0) == K && bias_step.shape(0) == K,
          "the working set and the scores differ in their number of columns");
    check(gradient.shape(0) == size && weights.shape(0) == size, "the working set's arrays differ in length");
    check(curvature.shape(0) == K && curvature.shape(1) == score_step.shape(1),
          "curvature must have the shape of the scores");
    check(size <= static_cast<std::size_t>(std::numeric_limits<Id>::max()), "the working set is too large");
    check_compressed(starts, columns, size, n_features);
    return {static_cast<Size>(score_step.shape(1)),
            static_cast<Size>(K),
            starts.data(),
            columns.data(),
            gradient.data(),
            bias_gradient.data(),
            weights.data(),
            bias_step.data(),
            score_step.data()};
}

template <class View>
void run_descent(const View& X, const WorkingSet& set, const Descent& how, const Table& curvature, bool joint,
                 double damping, const Workspace& workspace) {
    if (joint)
        descend_joint(X, set, how, curvature.data(), damping, workspace);
    else
        descend_separate(X, set, how, curvature.data(), workspace);
}

template <class T>
void bind_for(nb::module_& m) {
    m.def(
        "descend_sparse",
        [](Vector<const T> values, Ids rows, Sizes starts, Vector<const T> data, Ids indices, Sizes indptr,
           Numbers shift, Vector<Id> places, Vector<float> entries, Sizes set_starts, Ids columns,
           Numbers gradient, Numbers bias_gradient, Vector<double> weights, Vector<double> bias_step,
           Matrix<double> score_step, Table curvature, bool joint, double damping, double l1, double l2,
           bool bias, double tol, Size max_rounds) {
            const WorkingSet set = working_set(set_starts, columns, gradient, bias_gradient, weights,
                                               bias_step, score_step, curvature, shift.size());
            check(indptr.shape(0) == score_step.shape(1) + 1,
                  "X and the scores differ in their number of rows");
            check(starts.shape(0) == shift.shape(0) + 1,
                  "X and the shift differ in their number of features");
            check_compressed(indptr, indices, data.size(), shift.size());
            check(values.size() == rows.size() && starts_rise(starts.data(), shift.size(), values.size()),
                  "starts must begin with 0, never fall, and end within the values");
            for (std::size_t k = 0; k < columns.size(); ++k) {  // columns that are left alone may be many
                const Size j = columns.data()[k], begin = starts.data()[j];
                check(all_below(rows.data() + begin, starts.data()[j + 1] - begin, score_step.shape(1)),
                      "an entry is in a row that there is not");
            }
            const SparseView<T> X{set.n_rows,     static_cast<Size>(shift.shape(0)),
                                  values.data(),  rows.data(),
                                  starts.data(),  data.data(),
                                  indices.data(), indptr.data(),
                                  shift.data()};
            check(places.shape(0) == entries.shape(0), "the workspace's arrays differ in length");
            const Workspace workspace{places.data(), entries.data(), static_cast<Size>(places.shape(0))};
            nb::gil_scoped_release released;
            run_descent(X, set, {{l1, l2}, bias, tol, max_rounds}, curvature, joint, damping, workspace);
        },
        nb::arg("values").noconvert(), nb::arg("rows").noconvert(), nb::arg("starts").noconvert(),
        nb::arg("data").noconvert(), nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(),
        nb::arg("shift").noconvert(), nb::arg("places").noconvert(), nb::arg("entries").noconvert(),
        nb::arg("set_starts").noconvert(), nb::arg("columns").noconvert(), nb::arg("gradient").noconvert(),
        nb::arg("bias_gradient").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("bias_step").noconvert(), nb::arg("score_step").noconvert(), nb::arg("curvature").noconvert(),
        nb::arg("joint"), nb::arg("damping"), nb::arg("l1"), nb::arg("l2"), nb::arg("bias"), nb::arg("tol"),
        nb::arg("max_rounds"),
        "Coordinate descent on a quadratic model, for X by columns (CSC) and by rows (CSR).");
    m.def(
        "descend_dense",
        [](Matrix<const T> X, Sizes set_starts, Ids columns, Numbers gradient, Numbers bias_gradient,
           Vector<double> weights, Vector<double> bias_step, Matrix<double> score_step, Table curvature,
           bool joint, double damping, double l1, double l2, bool bias, double tol, Size max_rounds) {
            const WorkingSet set = working_set(set_starts, columns, gradient, bias_gradient, weights,
                                               bias_step, score_step, curvature, X.shape(0));
            check(X.shape(1) == score_step.shape(1), "X and the scores differ in their number of rows");
            nb::gil_scoped_release released;
            run_descent(DenseView<T>{X.data(), set.n_rows}, set, {{l1, l2}, bias, tol, max_rounds}, curvature,
                        joint, damping, {nullptr, nullptr, 0});
        },
        nb::arg("X").noconvert(), nb::arg("set_starts").noconvert(), nb::arg("columns").noconvert(),
        nb::arg("gradient").noconvert(), nb::arg("bias_gradient").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("bias_step").noconvert(), nb::arg("score_step").noconvert(), nb::arg("curvature").noconvert(),
        nb::arg("joint"), nb::arg("damping"), nb::arg("l1"), nb::arg("l2"), nb::arg("bias"), nb::arg("tol"),
        nb::arg("max_rounds"), "The same for dense columns, X (p, n), shifted already.");
}

}  // namespace

void bind_coordinate(nb::module_& m) {
    bind_for<float>(m);
    bind_for<double>(m);
    m.def(
        "descend_gram",
        [](Table G, Numbers gradient, Vector<double> weights, double l1, double l2, double tol,
           Size max_rounds) {
            check(
                G.shape(0) == G.shape(1) && G.shape(0) == gradient.shape(0) && G.shape(0) == weights.shape(0),
                "G, gradient and weights do not fit");
            nb::gil_scoped_release released;
            descend_gram(G.data(), gradient.shape(0), gradient.data(), weights.data(),
                         {{l1, l2}, false, tol, max_rounds});
        },
        nb::arg("G").noconvert(), nb::arg("gradient").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("l1"), nb::arg("l2"), nb::arg("tol"), nb::arg("max_rounds"),
        "Coordinate descent on the weights, given the model's matrix G.");
}

}  // namespace nearline
