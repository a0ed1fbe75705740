#include <nanobind/stl/string.h>

#include <variant>

#include "bindings.hpp"
#include "perceptron.hpp"
#include "sgd.hpp"

namespace nearline {

namespace {

using namespace nb::literals;

// X from Python: a C-contiguous array, or (data, indices, indptr, number of features) of a CSR matrix.
using AnyRows =
    std::variant<VisitedDense<float>, VisitedDense<double>, VisitedSparse<float>, VisitedSparse<double>>;

template <class T>
const T* or_null(const Vector<const T>& a) {
    return a.size() ? a.data() : nullptr;
}

void check_labels(const Vector<const std::int32_t>& labels, std::size_t n_outputs) {
    if (n_outputs > 1)
        check_below(labels, n_outputs, "class numbers must be 0 .. K-1");  // one column: class 1 or not
}

template <class T>
bool read_rows(nb::handle X, AnyRows& rows) {
    nb::tuple parts;
    if (nb::try_cast(X, parts)) {
        Vector<const T> data;
        if (parts.size() != 4 || !nb::try_cast(parts[0], data, false)) return false;
        const auto indices = nb::cast<Vector<const std::int32_t>>(parts[1], false);
        const auto indptr = nb::cast<Vector<const std::int64_t>>(parts[2], false);
        const auto n_features = nb::cast<std::size_t>(parts[3]);
        check_compressed(indptr, indices, data.size(), n_features);
        rows = VisitedSparse<T>{data.data(), indices.data(), indptr.data(), indptr.size() - 1, n_features};
        return true;
    }
    Matrix<const T> matrix;
    if (!nb::try_cast(X, matrix, false)) return false;
    rows = VisitedDense<T>{matrix.data(), matrix.shape(0), matrix.shape(1)};
    return true;
}

AnyRows rows_from(nb::handle X) {
    AnyRows rows;
    check(read_rows<double>(X, rows) || read_rows<float>(X, rows),
          "X must be C-contiguous or CSR, float32 or float64");
    return rows;
}

void run_sgd(nb::handle X, const std::string& loss, Vector<const std::int32_t> labels,
             Matrix<const double> distributions, Vector<const double> weights,
             Vector<const std::int64_t> order, std::size_t batch_size, Vector<const double> etas,
             Vector<const double> shares, double l1, double l2, bool bias, Matrix<double> W, Vector<double> b,
             Matrix<double> total_W, Vector<double> total_b, Matrix<double> C, Matrix<double> duals,
             Vector<double> dual_total) {
    const std::size_t K = b.size();
    const AnyRows any = rows_from(X);
    const auto [n, d] = std::visit([](const auto& rows) { return std::pair(rows.n, rows.d); }, any);
    auto shaped = [d = d, K](const auto& M, const auto& v) {
        return M.shape(0) == K && M.shape(1) == d && v.size() == K;
    };
    check(shaped(W, b), "W must be (K, D) and b (K,)");
    const CoreLoss& known = core_loss(loss);
    const bool distributed = labels.size() == 0 && K > 1 && known.distributions;
    check(K > 0 && (labels.size() == n ||
                    (distributed && distributions.shape(0) == n && distributions.shape(1) == K)),
          "one label for each row, or (n, K) distributions where the loss takes them");
    check_labels(labels, K);
    check(weights.size() == n, "one weight for each row");
    batch_size = std::min(batch_size, std::max<std::size_t>(order.size(), 1));
    check(batch_size > 0 && etas.size() >= (order.size() + batch_size - 1) / batch_size,
          "one eta for each step");
    check(C.size() == 0 || (C.shape(0) == n && C.shape(1) == K), "C must be (n, K)");
    check(shares.size() == 0 || (shares.size() == etas.size() && shaped(total_W, total_b)),
          "one share for each eta, and totals shaped as W and b");
    check(duals.size() == 0 || (duals.shape(0) == n && duals.shape(1) == K && dual_total.size() == n),
          "duals must be (n, K)");
    check_below(order, n, "order has a row that there is not");
    SgdProblem problem{};
    problem.loss = &known;
    problem.targets = {or_null(labels), distributions.data(), K};
    problem.weights = weights.data();
    problem.order = order.data();
    problem.n_visits = order.size();
    problem.batch_size = batch_size;
    problem.etas = etas.data();
    problem.shares = or_null(shares);
    problem.l1 = l1;
    problem.l2 = l2;
    problem.bias = bias;
    problem.W = W.data();
    problem.b = b.data();
    problem.total_W = total_W.data();
    problem.total_b = total_b.data();
    problem.C = C.size() ? C.data() : nullptr;
    problem.duals = duals.size() ? duals.data() : nullptr;
    problem.dual_total = dual_total.data();
    nb::gil_scoped_release release;
    std::visit([&](const auto& rows) { sgd(rows, problem); }, any);
}

void run_perceptron(nb::handle X, const std::string& rule, Vector<const std::int32_t> labels,
                    Vector<const double> weights, std::size_t max_cycles, std::size_t least_cycles, bool bias,
                    bool averaged, bool shuffle, std::uint64_t seed, Matrix<double> W, Vector<double> b,
                    Matrix<double> total_W, Vector<double> total_b, Vector<double> visits,
                    Vector<std::int64_t> mistakes, Vector<std::int64_t> cycles, Vector<bool> clean,
                    Vector<double> margins) {
    const std::size_t K = b.size();
    const AnyRows any = rows_from(X);
    const auto [n, d] = std::visit([](const auto& rows) { return std::pair(rows.n, rows.d); }, any);
    auto shaped = [d = d, K](const auto& M, const auto& v) {
        return M.shape(0) == K && M.shape(1) == d && v.size() == K;
    };
    check(shaped(W, b), "W must be (K, D) and b (K,)");
    check(labels.size() == n && weights.size() == n, "one label and one weight for each row");
    check_labels(labels, K);
    check(!averaged || shaped(total_W, total_b), "totals must be shaped as W and b");
    check(visits.size() == K && mistakes.size() == K && cycles.size() == K && clean.size() == K &&
              margins.size() == K,
          "counts must be (K,)");
    check(least_cycles != 1, "whether cycles help is seen after two of them: least_cycles must be 0 or >= 2");
    check(K > 1 || (K == 1 && rule == "one-vs-rest"), "joint rules need two or more columns");
    PerceptronProblem problem{};
    problem.correction = rule::named(rule);
    problem.labels = labels.data();
    problem.weights = weights.data();
    problem.n_outputs = K;
    problem.max_cycles = max_cycles;
    problem.least_cycles = least_cycles;
    problem.bias = bias;
    problem.averaged = averaged;
    problem.shuffle = shuffle;
    problem.seed = seed;
    problem.W = W.data();
    problem.b = b.data();
    problem.total_W = total_W.data();
    problem.total_b = total_b.data();
    problem.visits = visits.data();
    problem.mistakes = mistakes.data();
    problem.cycles = cycles.data();
    problem.clean = clean.data();
    problem.margins = margins.data();
    nb::gil_scoped_release release;
    std::visit([&](const auto& rows) { perceptron(rows, problem); }, any);
}

}  // namespace

void bind_sgd(nb::module_& m) {
    m.def(
        "largest_square_norm",
        [](nb::handle X) {
            const AnyRows any = rows_from(X);
            nb::gil_scoped_release release;
            return std::visit([](const auto& rows) { return largest_square_norm(rows); }, any);
        },
        "X"_a, "max over the rows of |x|^2.");
    m.def(
        "sgd", &run_sgd, "X"_a, "loss"_a, "labels"_a.noconvert(), "distributions"_a.noconvert(),
        "weights"_a.noconvert(), "order"_a.noconvert(), "batch_size"_a, "etas"_a.noconvert(),
        "shares"_a.noconvert(), "l1"_a, "l2"_a, "bias"_a, "W"_a.noconvert(), "b"_a.noconvert(),
        "total_W"_a.noconvert(), "total_b"_a.noconvert(), "C"_a.noconvert(), "duals"_a.noconvert(),
        "dual_total"_a.noconvert(),
        "Steps of stochastic gradient descent over the rows in `order`; W, b, totals and duals are updated.");
    m.def("perceptron", &run_perceptron, "X"_a, "rule"_a, "labels"_a.noconvert(), "weights"_a.noconvert(),
          "max_cycles"_a, "least_cycles"_a, "bias"_a, "averaged"_a, "shuffle"_a, "seed"_a, "W"_a.noconvert(),
          "b"_a.noconvert(), "total_W"_a.noconvert(), "total_b"_a.noconvert(), "visits"_a.noconvert(),
          "mistakes"_a.noconvert(), "cycles"_a.noconvert(), "clean"_a.noconvert(), "margins"_a.noconvert(),
          "Cycles of the perceptron rule until one has no mistake; W, b, totals and counts are updated.");
}

}  // namespace nearline
