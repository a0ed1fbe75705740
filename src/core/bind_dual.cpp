// Coordinate descent on the dual of L2-regularized risks: rows packed for streaming, then sweeps over them.
#include <nanobind/stl/string.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bindings.hpp"
#include "dual_rows.hpp"
#include "dual_sweeps.hpp"
#include "losses.hpp"
#include "parallel.hpp"

namespace nearline {

namespace {

using namespace dual;

// Ctrl-C is looked for by the thread that came from Python only.
struct Poll {
    std::thread::id caller;
    mutable unsigned count = 0;
    void operator()() const {
        if ((++count & 1023u) == 0 && std::this_thread::get_id() == caller) check_interrupt();
    }
};

// What one call works on; masses are (K, n) for margin losses, duals (n, K) for joint ones.
struct Job {
    Vector<const std::int32_t> targets;
    Vector<const double> weights, squares;
    Matrix<double> duals;
    Vector<double> b;
    Matrix<std::uint8_t> rests;
    Vector<std::int64_t> ages;
    Vector<const std::int32_t> epochs;
    Vector<const double> stop_at;
    Matrix<double> excess;
    double step, bias_step;
    std::uint64_t seed;
    std::size_t block;

    Shared shared() const { return {targets.data(), weights.data(), squares.data(), step, bias_step}; }
    Rest* rests_of(std::size_t column, std::size_t n) const {
        return reinterpret_cast<Rest*>(rests.data()) + column * n;
    }
};

constexpr std::size_t kMostRows = std::numeric_limits<std::int32_t>::max();

static_assert(sizeof(Rest) == 2, "a Rest is two bytes of the array that Python holds");

// Ends the rest of all rows, if any rests.
bool wake(Rest* rests, std::size_t n) {
    bool any = false;
    for (std::size_t i = 0; i < n; ++i) {
        any |= rests[i].left > 0;
        rests[i].left = 0;
    }
    return any;
}

// Sweep column c until its excess is small enough or its epochs are used up. Excess is met along the sweep,
// so at the sweep's end it will have shrunk by about the root of what it shrinks in a sweep.
template <class Sweep>
void repeat(const Job& job, std::size_t c, std::size_t n, const Sweep& sweep) {
    Order order(n, job.block);
    bool all_awake = false;
    for (std::int32_t e = 0; e < job.epochs.data()[c]; ++e) {
        const auto age = static_cast<std::uint64_t>(job.ages.data()[c]);
        order.shuffle(job.seed, c, age);
        job.ages.data()[c] = static_cast<std::int64_t>(age + 1);
        double* excess = job.excess.data() + 2 * c;  // as met, as expected at the end
        const double before = excess[0], met = sweep(order);
        if (met == 0 && !all_awake && wake(job.rests_of(c, n), n)) {  // rows that rest tell nothing
            all_awake = true;
            continue;
        }
        all_awake = false;
        excess[0] = met;
        const double share = std::isfinite(before) && before > 0 ? std::min(1.0, excess[0] / before) : 1.0;
        excess[1] = excess[0] * std::sqrt(share);
        if (excess[1] <= job.stop_at.data()[c]) break;
    }
}

template <class Loss, class Rows>
void run_columns(const Rows& rows, const Job& job, typename Rows::Weight* W, double work) {
    const std::size_t K = job.b.shape(0), n = rows.n_rows;
    const auto caller = std::this_thread::get_id();
    const Shared shared = job.shared();
    parallel_for(K, work * double(K), [&](std::size_t c) {
        const Poll poll{caller};
        const std::int32_t positive = K == 1 ? 1 : static_cast<std::int32_t>(c);
        repeat(job, c, n, [&](const Order& order) {
            return sweep_column<Loss>(rows, shared, positive, order, job.duals.data() + c * n,
                                      W + c * rows.n_features, job.b.data()[c], job.rests_of(c, n), poll);
        });
    });
}

template <class Loss, class Rows>
void run_joint(const Rows& rows, const Job& job, typename Rows::Weight* W) {
    const Poll poll{std::this_thread::get_id()};
    repeat(job, 0, rows.n_rows, [&](const Order& order) {
        return sweep_joint<Loss>(rows, job.shared(), job.b.shape(0), order, job.duals.data(), W, job.b.data(),
                                 job.rests_of(0, rows.n_rows), poll);
    });
}

// Sizes that do not fit would be read or written out of bounds.
template <class Rows>
void check_sizes(const Rows& rows, const Job& job, std::size_t n_weights, bool joint) {
    const std::size_t n = rows.n_rows, K = job.b.shape(0), groups = joint ? 1 : K;
    check(K > 0 && job.block > 0 && job.block <= kMostRows && n <= kMostRows,
          "there must be a class, and from 1 to 2^31 - 1 rows in each block");
    check(job.targets.shape(0) == n && job.weights.shape(0) == n && job.squares.shape(0) == n,
          "targets, weights and squares must have one number a row");
    check(job.duals.shape(0) == (joint ? n : K) && job.duals.shape(1) == (joint ? K : n),
          "duals must be (n, K) for joint losses and (K, n) for others");
    check(job.rests.shape(0) == groups && job.rests.shape(1) == 2 * n, "rests must be (groups, 2 n)");
    check(job.ages.shape(0) == groups && job.epochs.shape(0) == groups && job.stop_at.shape(0) == groups &&
              job.excess.shape(0) == groups && job.excess.shape(1) == 2,
          "ages, epochs, stop_at and excess must have one entry a group");
    check(n_weights == K * rows.n_features, "W must have one number a class and feature");
    if (joint) check_below(job.targets, K, "targets must be numbers of classes");
}

template <class Rows>
void run(const Rows& rows, double work, const std::string& loss, const Job& job, typename Rows::Weight* W,
         std::size_t n_weights) {
    with_loss(loss, [&](auto known) {
        using Loss = decltype(known);
        if constexpr (Loss::dual) {
            check_sizes(rows, job, n_weights, Loss::joint);
            nb::gil_scoped_release unlocked;
            if constexpr (Loss::joint)
                run_joint<Loss>(rows, job, W);
            else
                run_columns<Loss>(rows, job, W, work);
        } else {
            check(false, "the core has no steps of the dual for this loss");
        }
    });
}

template <class Rows>
void squares(const Rows& rows, double* out) {
    nb::gil_scoped_release unlocked;
    const std::size_t tile = 256, n_tiles = (rows.n_rows + tile - 1) / tile;
    parallel_for(n_tiles, double(rows.n_rows) * 100, [&](std::size_t t) {
        for (std::size_t i = t * tile; i < std::min(rows.n_rows, (t + 1) * tile); ++i)
            out[i] = rows.square(i);
    });
}

// Copy CSR rows in the given order, with features renumbered by how often they occur: what is read often lies
// together.
template <class T, class Index>
void pack(Vector<const Index> starts, Vector<const Index> features, Vector<const T> values,
          Vector<const std::int64_t> order, Vector<std::int64_t> new_starts,
          Vector<std::int32_t> new_features, Vector<T> new_values, Vector<std::int32_t> ranks) {
    const std::size_t n = order.shape(0), D = ranks.shape(0);
    check_compressed(starts, features, values.size(), D);
    check(starts.size() == n + 1 && new_starts.size() == n + 1, "starts and order differ in length");
    const auto nnz = static_cast<std::size_t>(starts.data()[n]);
    check(new_features.size() == nnz && new_values.size() == nnz, "the copy must be as long as the rows");
    check(D <= kMostRows, "there are more features than 32 bits can count");
    check_permutation(order, "order must have the number of each row once");
    nb::gil_scoped_release unlocked;
    std::vector<std::int64_t> counts(D, 0);
    for (std::size_t k = 0; k < nnz; ++k) ++counts[features.data()[k]];
    for (const std::int64_t count : counts)
        check(count <= static_cast<std::int64_t>(n), "a feature occurs twice in a row");
    std::vector<std::int64_t> places(n + 2, 0);
    for (std::size_t j = 0; j < D; ++j) ++places[n - counts[j] + 1];
    for (std::size_t c = 0; c <= n; ++c) places[c + 1] += places[c];
    for (std::size_t j = 0; j < D; ++j) ranks.data()[j] = static_cast<std::int32_t>(places[n - counts[j]]++);
    new_starts.data()[0] = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t row = order.data()[i];
        new_starts.data()[i + 1] = new_starts.data()[i] + starts.data()[row + 1] - starts.data()[row];
    }
    const std::size_t tile = 256, n_tiles = (n + tile - 1) / tile;
    parallel_for(n_tiles, double(nnz) * 4, [&](std::size_t t) {
        for (std::size_t i = t * tile; i < std::min(n, (t + 1) * tile); ++i) {
            std::int64_t out = new_starts.data()[i];
            const std::int64_t row = order.data()[i];
            for (Index k = starts.data()[row]; k < starts.data()[row + 1]; ++k, ++out) {
                new_features.data()[out] = ranks.data()[features.data()[k]];
                new_values.data()[out] = values.data()[k];
            }
        }
    });
}

template <class T>
DenseRows<T> dense(const Matrix<const T>& X) {
    return {X.data(), X.shape(0), X.shape(1)};
}

template <class T>
SparseRows<T> sparse(const Vector<const std::int64_t>& starts, const Vector<const std::int32_t>& features,
                     const Vector<const T>& values, std::size_t n_features) {
    check_compressed(starts, features, values.size(), n_features);
    return {starts.data(), features.data(), values.data(), starts.size() - 1, n_features};
}

// Never converted: the sweeps write into the caller's own arrays.
template <class Function, class... Rows>
void bind_sweeps(nb::module_& m, const char* name, const char* about, const Function& function,
                 const Rows&... rows) {
    using namespace nb::literals;
    m.def(name, function, rows..., nb::kw_only(), "targets"_a.noconvert(), "weights"_a.noconvert(),
          "squares"_a.noconvert(), "duals"_a.noconvert(), "b"_a.noconvert(), "rests"_a.noconvert(),
          "ages"_a.noconvert(), "epochs"_a.noconvert(), "stop_at"_a.noconvert(), "excess"_a.noconvert(),
          "step"_a, "bias_step"_a, "seed"_a, "block"_a, about);
}

template <class T>
void bind_type(nb::module_& m) {
    using Values = Vector<const T>;
    using Starts = Vector<const std::int64_t>;
    using Features = Vector<const std::int32_t>;
    m.def(
        "dense_squares",
        [](Matrix<const T> X, Vector<double> out) {
            check(out.size() == X.shape(0), "out must have one number a row");
            squares(dense<T>(X), out.data());
        },
        nb::arg("X").noconvert(), nb::arg("out").noconvert(), "out := squared length of each row.");
    m.def(
        "sparse_squares",
        [](Starts starts, Features features, Values values, Vector<double> out) {
            const auto rows = sparse<T>(starts, features, values, kMostRows);
            check(out.size() == rows.n_rows, "out must have one number a row");
            squares(rows, out.data());
        },
        nb::arg("starts").noconvert(), nb::arg("features").noconvert(), nb::arg("values").noconvert(),
        nb::arg("out").noconvert(), "out := squared length of each row.");
    bind_sweeps(
        m, "dense_dual_sweeps", "Sweeps of dual coordinate descent over dense rows; W is (K, D).",
        [](Matrix<const T> X, const std::string& loss, Matrix<T> W, Vector<const std::int32_t> targets,
           Vector<const double> weights, Vector<const double> squares, Matrix<double> duals, Vector<double> b,
           Matrix<std::uint8_t> rests, Vector<std::int64_t> ages, Vector<const std::int32_t> epochs,
           Vector<const double> stop_at, Matrix<double> excess, double step, double bias_step,
           std::uint64_t seed, std::size_t block) {
            const Job job{targets, weights, squares, duals, b,         rests, ages,
                          epochs,  stop_at, excess,  step,  bias_step, seed,  block};
            run(dense<T>(X), double(X.shape(0)) * double(X.shape(1)), loss, job, W.data(), W.size());
        },
        nb::arg("X").noconvert(), nb::arg("loss"), nb::arg("W").noconvert());
    bind_sweeps(
        m, "sparse_dual_sweeps",
        "Sweeps over CSR rows; W is (K, D) for margin losses and (D, K) for joint ones.",
        [](Starts starts, Features features, Values values, const std::string& loss, Matrix<double> W,
           Vector<const std::int32_t> targets, Vector<const double> weights, Vector<const double> squares,
           Matrix<double> duals, Vector<double> b, Matrix<std::uint8_t> rests, Vector<std::int64_t> ages,
           Vector<const std::int32_t> epochs, Vector<const double> stop_at, Matrix<double> excess,
           double step, double bias_step, std::uint64_t seed, std::size_t block) {
            const Job job{targets, weights, squares, duals, b,         rests, ages,
                          epochs,  stop_at, excess,  step,  bias_step, seed,  block};
            check(b.size() > 0, "there must be a class");
            const std::size_t n_features = W.shape(0) * W.shape(1) / b.shape(0);
            run(sparse<T>(starts, features, values, n_features), 4 * double(values.shape(0)), loss, job,
                W.data(), W.size());
        },
        nb::arg("starts").noconvert(), nb::arg("features").noconvert(), nb::arg("values").noconvert(),
        nb::arg("loss"), nb::arg("W").noconvert());
}

template <class T, class Index>
void bind_pack(nb::module_& m) {
    m.def("pack_rows", &pack<T, Index>, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("data").noconvert(), nb::arg("order").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("features").noconvert(), nb::arg("values").noconvert(), nb::arg("ranks").noconvert(),
          "Copy CSR rows in an order of their own, features renumbered by how often they occur (ranks).");
}

}  // namespace

void bind_dual(nb::module_& m) {
    bind_type<float>(m);
    bind_type<double>(m);
    bind_pack<float, std::int32_t>(m);
    bind_pack<float, std::int64_t>(m);
    bind_pack<double, std::int32_t>(m);
    bind_pack<double, std::int64_t>(m);
}

}  // namespace nearline
