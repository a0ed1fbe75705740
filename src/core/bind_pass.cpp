#include "bind_pass.hpp"

#include "bindings.hpp"
#include "gram.hpp"
#include "linear_scores.hpp"
#include "moments.hpp"
#include "pass_dense.hpp"
#include "tile_work.hpp"

namespace nearline {

namespace {

template <class T>
DenseRows<T> dense(const Matrix<const T>& X) {
    return {X.data(), X.shape(0), X.shape(1)};
}

template <class T>
void check_product(const Matrix<const T>& X, const Matrix<const double>& W, const Numbers& b) {
    check(W.shape(1) == X.shape(1), "X and W differ in their number of features");
    check(W.shape(0) == b.shape(0) && W.shape(0) > 0, "W and b differ in their number of columns");
}

template <class T>
void check_gradient(const Matrix<const T>& X, std::size_t n_rows, std::size_t K, const Matrix<double>& G_W) {
    check(X.shape(0) == n_rows, "X and its rows' data differ in length");
    check(G_W.shape(0) == K && G_W.shape(1) == X.shape(1), "the gradient must have the shape of W");
}

// The result as a NumPy array that owns its memory.
template <class T, class... Shape>
auto fresh_array(T* data, std::initializer_list<std::size_t> shape) {
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T>(data, shape, owner);
}

template <class T>
void bind_products(nb::module_& m) {
    m.def(
        "dense_scores",
        [](Matrix<const T> X, Matrix<const double> W, Numbers b, Matrix<T> scores) {
            check_product(X, W, b);
            check(scores.shape(0) == X.shape(0) && scores.shape(1) == W.shape(0), "scores must be (n, K)");
            nb::gil_scoped_release released;
            const PackedWeights<T> packed(W.data(), b.data(), W.shape(0), X.shape(1));
            dense_pass<T>({dense(X), W.shape(0), &packed, nullptr, scores.data(), nullptr});
        },
        nb::arg("X").noconvert(), nb::arg("W"), nb::arg("b"), nb::arg("scores").noconvert(),
        "scores := X W^T + b.");
    m.def(
        "dense_back_product",
        [](Matrix<const T> X, AnyTable G, Matrix<double> G_W) {
            check_gradient(X, G.shape(0), G.shape(1), G_W);
            check(G.shape(1) > 0, "G must have a column");
            GivenWork work(source_of(G), G.shape(1));
            nb::gil_scoped_release released;
            dense_pass<T>({dense(X), G.shape(1), nullptr, &work, nullptr, G_W.data()});
        },
        nb::arg("X").noconvert(), nb::arg("G"), nb::arg("G_W").noconvert(), "G_W := G^T X.");
    m.def(
        "dense_moments",
        [](Matrix<const T> X, Numbers weights, Vector<double> mean, Vector<double> square) {
            const std::size_t D = X.shape(1);
            check(weights.shape(0) == X.shape(0), "X and weights differ in length");
            check(mean.shape(0) == D && square.shape(0) == D,
                  "mean and square must have one number a feature");
            nb::gil_scoped_release released;
            const Moments moments = dense_moments(dense(X), weights.data());
            std::copy(moments.mean.begin(), moments.mean.end(), mean.data());
            std::copy(moments.square.begin(), moments.square.end(), square.data());
        },
        nb::arg("X").noconvert(), nb::arg("weights"), nb::arg("mean").noconvert(),
        nb::arg("square").noconvert(), "Weighted mean of each feature and sum_i s_i (x_i - mean)^2.");
    m.def(
        "add_weighted_grams",
        [](Matrix<const T> X, Matrix<const double> h, Cube<T> out) {
            const std::size_t M = h.shape(1), P = X.shape(1) + 1;
            check(h.shape(0) == X.shape(0) && M > 0, "X and h differ in length, or h has no column");
            check(out.shape(0) == M && out.shape(1) == P && out.shape(2) == P,
                  "out must be (M, D + 1, D + 1)");
            nb::gil_scoped_release released;
            add_weighted_grams(dense(X), h.data(), M, out.data());
        },
        nb::arg("X").noconvert(), nb::arg("h"), nb::arg("out").noconvert(),
        "out[m] += [X, 1]^T diag(h[:, m]) [X, 1].");
    m.def(
        "linear_scores",
        [](Matrix<const T> X, Matrix<const T> W, Vector<const T> b) {
            const std::size_t n = X.shape(0), K = W.shape(0), D = X.shape(1);
            check(W.shape(1) == D && b.shape(0) == K && K > 0, "X, W and b do not fit");
            T* scores = new T[product(n, K)];
            auto result = fresh_array(scores, {n, K});
            nb::gil_scoped_release released;
            if (n < kTile) {
                for (std::size_t i = 0; i < n; ++i)
                    row_scores(X.data() + i * D, W.data(), b.data(), K, D, scores + i * K);
            } else {
                const PackedWeights<T> packed(W.data(), b.data(), K, D);
                dense_pass<T>({dense(X), K, &packed, nullptr, scores, nullptr});
            }
            return result;
        },
        nb::arg("X").noconvert(), nb::arg("W").noconvert(), nb::arg("b").noconvert(),
        "X W^T + b for X (n, D), W (K, D), b (K,), all of one float type; costs microseconds for a few "
        "rows.");
    m.def(
        "linear_scores",
        [](Vector<const T> X, Matrix<const T> W, Vector<const T> b) {
            const std::size_t K = W.shape(0), D = X.shape(0);
            check(W.shape(1) == D && b.shape(0) == K, "X, W and b do not fit");
            T* scores = new T[K];
            auto result = fresh_array(scores, {K});
            nb::gil_scoped_release released;
            row_scores(X.data(), W.data(), b.data(), K, D, scores);
            return result;
        },
        nb::arg("X").noconvert(), nb::arg("W").noconvert(), nb::arg("b").noconvert(),
        "X W^T + b for X (n, D) or one row (D,), W (K, D), b (K,), all of one float type; a few rows cost "
        "microseconds.");
}

template <class T>
void bind_gradients(nb::module_& m) {
    m.def(
        "dense_gradient",
        [](Matrix<const T> X, Matrix<const double> W, Numbers b, Targets targets, Numbers weights,
           const std::string& loss, Matrix<T> scores, Matrix<double> G_W, Vector<double> G_b) {
            const std::size_t K = W.shape(0);
            check_product(X, W, b);
            check_gradient(X, targets.shape(0), K, G_W);
            check(scores.shape(0) == X.shape(0) && scores.shape(1) == K, "scores must be (n, K)");
            check(G_b.shape(0) == K, "G_b must have one number a column");
            GradientWork work(rows_of(targets, weights, K, loss));
            nb::gil_scoped_release released;
            const PackedWeights<T> packed(W.data(), b.data(), K, X.shape(1));
            dense_pass<T>({dense(X), K, &packed, &work, scores.data(), G_W.data()});
            work.sums.columns(G_b.data());
            return work.sums.value();
        },
        nb::arg("X").noconvert(), nb::arg("W"), nb::arg("b"), nb::arg("targets"), nb::arg("weights"),
        nb::arg("loss"), nb::arg("scores").noconvert(), nb::arg("G_W").noconvert(),
        nb::arg("G_b").noconvert(),
        "One pass: scores, the sum of losses (returned) and its gradients in W and b.");
    m.def(
        "dense_gradient_at",
        [](Matrix<const T> X, AnyTable scores, Targets targets, Numbers weights, const std::string& loss,
           Matrix<double> G_W, Vector<double> G_b) {
            const Rows rows = rows_of(scores, targets, weights, loss);
            check_gradient(X, rows.n_rows, rows.n_columns, G_W);
            check(G_b.shape(0) == rows.n_columns, "G_b must have one number a column");
            const TileSource source = source_of(scores);
            GradientWork work(rows, &source);
            nb::gil_scoped_release released;
            dense_pass<T>({dense(X), rows.n_columns, nullptr, &work, nullptr, G_W.data()});
            work.sums.columns(G_b.data());
            return work.sums.value();
        },
        nb::arg("X").noconvert(), nb::arg("scores"), nb::arg("targets"), nb::arg("weights"), nb::arg("loss"),
        nb::arg("G_W").noconvert(), nb::arg("G_b").noconvert(),
        "The sum of losses (returned) and its gradients where the scores are known.");
    m.def(
        "dense_hessian_product",
        [](Matrix<const T> X, Matrix<const double> W, Numbers b, AnyTable scores, Targets targets,
           Numbers weights, const std::string& loss, Matrix<double> H_W, Vector<double> H_b) {
            const Rows rows = rows_of(scores, targets, weights, loss, true);
            check_product(X, W, b);
            check_gradient(X, rows.n_rows, rows.n_columns, H_W);
            check(W.shape(0) == rows.n_columns && H_b.shape(0) == rows.n_columns,
                  "W and scores differ in columns");
            CurvatureWork work(rows, source_of(scores));
            nb::gil_scoped_release released;
            const PackedWeights<T> packed(W.data(), b.data(), rows.n_columns, X.shape(1));
            dense_pass<T>({dense(X), rows.n_columns, &packed, &work, nullptr, H_W.data()});
            work.sums.columns(H_b.data());
        },
        nb::arg("X").noconvert(), nb::arg("W"), nb::arg("b"), nb::arg("scores"), nb::arg("targets"),
        nb::arg("weights"), nb::arg("loss"), nb::arg("H_W").noconvert(), nb::arg("H_b").noconvert(),
        "Curvature of the summed loss at the scores times the direction (W, b): one pass.");
}

}  // namespace

void bind_pass(nb::module_& m) {
    bind_products<float>(m);
    bind_products<double>(m);
    bind_gradients<float>(m);
    bind_gradients<double>(m);
    bind_row_sums(m);
    bind_sparse_pass(m);
    bind_newton(m);
}

}  // namespace nearline
