#include <limits>

#include "bind_pass.hpp"
#include "bindings.hpp"
#include "moments.hpp"
#include "pass_sparse.hpp"
#include "tile_work.hpp"

namespace nearline {

namespace {

constexpr std::size_t kMostRows = std::numeric_limits<std::int32_t>::max();

// A CSR matrix as scipy holds it: data, indices, indptr, and the number of features.
template <class T, class I>
CsrRows<T, I> csr(const Vector<const T>& values, const Vector<const I>& columns,
                  const Vector<const I>& starts, std::size_t n_features) {
    check_compressed(starts, columns, values.size(), n_features);
    check(starts.size() - 1 <= kMostRows, "there are more rows than 32 bits can count");
    return {values.data(), columns.data(), starts.data(), starts.size() - 1, n_features};
}

template <class T>
CscColumns<T> csc(const Vector<const T>& values, const Vector<const std::int32_t>& rows,
                  const Vector<const std::int64_t>& starts, std::size_t n_rows) {
    check_compressed(starts, rows, values.size(), n_rows);
    return {values.data(), rows.data(), starts.data(), n_rows, starts.size() - 1};
}

template <class T, class I>
void bind_rows(nb::module_& m) {
    m.def(
        "csc_of_csr",
        [](Vector<const T> data, Vector<const I> indices, Vector<const I> indptr, Vector<T> values,
           Vector<std::int32_t> rows, Vector<std::int64_t> starts) {
            check(starts.shape(0) > 0, "starts must have one number more than there are features");
            const auto X = csr(data, indices, indptr, starts.shape(0) - 1);
            check(values.shape(0) == X.size() && rows.shape(0) == X.size(),
                  "values and rows must be as long as X");
            nb::gil_scoped_release released;
            csc_of_csr(X, values.data(), rows.data(), starts.data());
        },
        nb::arg("data").noconvert(), nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(),
        nb::arg("values").noconvert(), nb::arg("rows").noconvert(), nb::arg("starts").noconvert(),
        "The same matrix by columns, entries of a column in row order.");
    m.def(
        "sparse_scores",
        [](Vector<const T> data, Vector<const I> indices, Vector<const I> indptr, Matrix<const double> W,
           Numbers b, Matrix<T> scores) {
            const auto X = csr(data, indices, indptr, W.shape(1));
            const std::size_t K = W.shape(0);
            check(b.shape(0) == K && K > 0, "W and b differ in their number of columns");
            check(scores.shape(0) == X.n_rows && scores.shape(1) == K, "scores must be (n, K)");
            nb::gil_scoped_release released;
            SlicedTable<T> table(X.n_features, K);
            fill_from_weights(table, W.data(), X.n_features);
            sparse_row_pass<T, I>(X, K, &table, b.data(), nullptr, scores.data(), nullptr);
        },
        nb::arg("data").noconvert(), nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(),
        nb::arg("W"), nb::arg("b"), nb::arg("scores").noconvert(), "scores := X W^T + b.");
    m.def(
        "sparse_scatter",
        [](Vector<const T> data, Vector<const I> indices, Vector<const I> indptr, Matrix<const double> G,
           Matrix<double> G_W) {
            const auto X = csr(data, indices, indptr, G_W.shape(1));
            check(G.shape(0) == X.n_rows && G.shape(1) == G_W.shape(0) && G.shape(1) > 0,
                  "X, G and G_W do not fit");
            nb::gil_scoped_release released;
            sparse_scatter<T, I>(X, G.data(), G.shape(1), G_W.data());
        },
        nb::arg("data").noconvert(), nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(),
        nb::arg("G").noconvert(), nb::arg("G_W").noconvert(), "G_W := G^T X, without a copy by columns.");
    m.def(
        "sparse_gradient",
        [](Vector<const T> data, Vector<const I> indices, Vector<const I> indptr, Vector<const T> values,
           Vector<const std::int32_t> rows, Vector<const std::int64_t> starts, Matrix<const double> W,
           Numbers b, Targets targets, Numbers weights, const std::string& loss, Matrix<T> scores,
           Matrix<double> G_W, Vector<double> G_b) {
            const std::size_t K = W.shape(0), D = W.shape(1);
            const auto X = csr(data, indices, indptr, D);
            const auto columns = csc(values, rows, starts, X.n_rows);
            check(b.shape(0) == K && K > 0 && targets.shape(0) == X.n_rows, "X, W, b and targets do not fit");
            check(scores.shape(0) == X.n_rows && scores.shape(1) == K, "scores must be (n, K)");
            check(G_W.shape(0) == K && G_W.shape(1) == D && columns.n_features == D && G_b.shape(0) == K,
                  "the gradients must have the shapes of W and b");
            GradientWork work(rows_of(targets, weights, K, loss));
            nb::gil_scoped_release released;
            SlicedTable<T> table(D, K), G(X.n_rows, K);
            fill_from_weights(table, W.data(), D);
            sparse_row_pass<T, I>(X, K, &table, b.data(), &work, scores.data(), &G);
            sparse_back_product(columns, G, G_W.data());
            work.sums.columns(G_b.data());
            return work.sums.value();
        },
        nb::arg("data").noconvert(), nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(),
        nb::arg("values").noconvert(), nb::arg("rows").noconvert(), nb::arg("starts").noconvert(),
        nb::arg("W"), nb::arg("b"), nb::arg("targets"), nb::arg("weights"), nb::arg("loss"),
        nb::arg("scores").noconvert(), nb::arg("G_W").noconvert(), nb::arg("G_b").noconvert(),
        "Scores, the sum of losses (returned) and its gradients in W and b.");
    m.def(
        "sparse_hessian_product",
        [](Vector<const T> data, Vector<const I> indices, Vector<const I> indptr, Vector<const T> values,
           Vector<const std::int32_t> rows, Vector<const std::int64_t> starts, Matrix<const double> W,
           Numbers b, AnyTable scores, Targets targets, Numbers weights, const std::string& loss,
           Matrix<double> H_W, Vector<double> H_b) {
            const std::size_t K = W.shape(0), D = W.shape(1);
            const auto X = csr(data, indices, indptr, D);
            const auto columns = csc(values, rows, starts, X.n_rows);
            const Rows given = rows_of(scores, targets, weights, loss, true);
            check(b.shape(0) == K && given.n_columns == K && given.n_rows == X.n_rows,
                  "X, W and scores do not fit");
            check(H_W.shape(0) == K && H_W.shape(1) == D && columns.n_features == D && H_b.shape(0) == K,
                  "the results must have the shapes of W and b");
            CurvatureWork work(given, source_of(scores));
            nb::gil_scoped_release released;
            SlicedTable<T> table(D, K), G(X.n_rows, K);
            fill_from_weights(table, W.data(), D);
            sparse_row_pass<T, I>(X, K, &table, b.data(), &work, nullptr, &G);
            sparse_back_product(columns, G, H_W.data());
            work.sums.columns(H_b.data());
        },
        nb::arg("data").noconvert(), nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(),
        nb::arg("values").noconvert(), nb::arg("rows").noconvert(), nb::arg("starts").noconvert(),
        nb::arg("W"), nb::arg("b"), nb::arg("scores"), nb::arg("targets"), nb::arg("weights"),
        nb::arg("loss"), nb::arg("H_W").noconvert(), nb::arg("H_b").noconvert(),
        "Curvature of the summed loss at the scores times the direction (W, b).");
}

// What needs the columns alone.
template <class T>
void bind_columns(nb::module_& m) {
    m.def(
        "sparse_gradient_at",
        [](Vector<const T> values, Vector<const std::int32_t> rows, Vector<const std::int64_t> starts,
           AnyTable scores, Targets targets, Numbers weights, const std::string& loss, Matrix<double> G_W,
           Vector<double> G_b) {
            const Rows given = rows_of(scores, targets, weights, loss);
            const auto X = csc(values, rows, starts, given.n_rows);
            check(G_W.shape(0) == given.n_columns && G_W.shape(1) == X.n_features, "G_W must be (K, D)");
            check(G_b.shape(0) == given.n_columns, "G_b must have one number a column");
            const TileSource source = source_of(scores);
            GradientWork work(given, &source);
            nb::gil_scoped_release released;
            SlicedTable<T> G(given.n_rows, given.n_columns);
            const std::vector<std::int64_t> none(given.n_rows + 1, 0);
            const CsrRows<T, std::int64_t> empty{nullptr, nullptr, none.data(), given.n_rows, X.n_features};
            sparse_row_pass<T, std::int64_t>(empty, given.n_columns, nullptr, nullptr, &work, nullptr, &G);
            sparse_back_product(X, G, G_W.data());
            work.sums.columns(G_b.data());
            return work.sums.value();
        },
        nb::arg("values").noconvert(), nb::arg("rows").noconvert(), nb::arg("starts").noconvert(),
        nb::arg("scores"), nb::arg("targets"), nb::arg("weights"), nb::arg("loss"),
        nb::arg("G_W").noconvert(), nb::arg("G_b").noconvert(),
        "The sum of losses (returned) and its gradients where the scores are known.");
    m.def(
        "sparse_moments",
        [](Vector<const T> values, Vector<const std::int32_t> rows, Vector<const std::int64_t> starts,
           Numbers weights, Vector<double> mean, Vector<double> square) {
            const auto X = csc(values, rows, starts, weights.shape(0));
            check(mean.shape(0) == X.n_features && square.shape(0) == X.n_features,
                  "mean and square must have one number a feature");
            nb::gil_scoped_release released;
            const Moments moments = sparse_moments(X, weights.data());
            std::copy(moments.mean.begin(), moments.mean.end(), mean.data());
            std::copy(moments.square.begin(), moments.square.end(), square.data());
        },
        nb::arg("values").noconvert(), nb::arg("rows").noconvert(), nb::arg("starts").noconvert(),
        nb::arg("weights"), nb::arg("mean").noconvert(), nb::arg("square").noconvert(),
        "Weighted mean of each feature and sum_i s_i (x_i - mean)^2.");
}

}  // namespace

void bind_sparse_pass(nb::module_& m) {
    bind_rows<float, std::int32_t>(m);
    bind_rows<float, std::int64_t>(m);
    bind_rows<double, std::int32_t>(m);
    bind_rows<double, std::int64_t>(m);
    bind_columns<float>(m);
    bind_columns<double>(m);
}

}  // namespace nearline
