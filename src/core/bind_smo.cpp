#include <limits>

#include "bindings.hpp"
#include "hinge_certificate.hpp"
#include "kernel_entries.hpp"
#include "smo.hpp"

namespace nearline {

namespace {

using Integers32 = Vector<const std::int32_t>;
using Starts = Vector<const std::int64_t>;
using Reals64 = Vector<const double>;

template <class T>
void solve_all(Matrix<const T> K, Integers32 at, Starts starts, Reals64 y, Reals64 C, Vector<double> beta,
               Vector<double> F, double tol, std::int64_t max_iter, bool shrinking, Matrix<double> results) {
    const std::size_t n = at.shape(0), n_problems = results.shape(0);
    check(K.shape(0) == K.shape(1), "K must be square");
    check(starts.shape(0) == n_problems + 1 && results.shape(1) == 2, "starts and results differ in length");
    check(y.shape(0) == n && C.shape(0) == n && beta.shape(0) == n && F.shape(0) == n,
          "at, y, C, beta and F must have the same length");
    check_below(at, K.shape(0), "at has a row that K has not");
    check(starts_rise(starts.data(), n_problems, n), "starts must grow from 0, up to the number of rows");
    check(n <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()), "there are too many rows");
    nb::gil_scoped_release released;
    Watch watch;
    parallel_for(n_problems, 1e9, [&](std::size_t q) {
        const std::size_t from = starts.data()[q];
        const SmoProblem<T> problem{K.data(),           K.shape(1),      starts.data()[q + 1] - from,
                                    at.data() + from,   y.data() + from, C.data() + from,
                                    beta.data() + from, F.data() + from};
        const SmoResult found = Smo<T>(problem, tol, max_iter, shrinking).run(watch);
        results.data()[2 * q] = found.violation;
        results.data()[2 * q + 1] = static_cast<double>(found.n_iter);
    });
}

template <class T>
void bind_for(nb::module_& m) {
    m.def("smo", &solve_all<T>, nb::arg("K").noconvert(), nb::arg("at").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("y").noconvert(), nb::arg("C").noconvert(),
          nb::arg("beta").noconvert(), nb::arg("F").noconvert(), nb::arg("tol"), nb::arg("max_iter"),
          nb::arg("shrinking"), nb::arg("results").noconvert(),
          "Solve two-class problems over rows of one Gram matrix; fills beta, F and (violation, steps).");
    m.def(
        "gaussian_between",
        [](Matrix<T> K, Reals64 a, Reals64 b, double gamma) {
            check(a.shape(0) == K.shape(0) && b.shape(0) == K.shape(1), "K must be (len(a), len(b))");
            nb::gil_scoped_release released;
            gaussian_between(K.data(), a.data(), b.data(), K.shape(0), K.shape(1), gamma);
        },
        nb::arg("K").noconvert(), nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("gamma"),
        "Inner products -> exp(-gamma |a_i - b_j|^2) in place, given squared norms.");
    m.def(
        "gaussian_among",
        [](Matrix<T> K, Reals64 norms, double gamma) {
            check(K.shape(0) == K.shape(1) && norms.shape(0) == K.shape(0),
                  "K must be (len(norms), len(norms))");
            nb::gil_scoped_release released;
            gaussian_among(K.data(), norms.data(), K.shape(0), gamma);
        },
        nb::arg("K").noconvert(), nb::arg("norms").noconvert(), nb::arg("gamma"),
        "The same for a Gram matrix whose products are on and below the diagonal; both halves are written.");
}

}  // namespace

void bind_smo(nb::module_& m) {
    m.def(
        "hinge_certificates",
        [](Starts starts, Reals64 y, Reals64 C, Reals64 beta, Reals64 F, Matrix<double> results) {
            const std::size_t n_problems = results.shape(0), n = y.shape(0);
            check(starts.shape(0) == n_problems + 1 && results.shape(1) == 4,
                  "starts and results differ in length");
            check(C.shape(0) == n && beta.shape(0) == n && F.shape(0) == n,
                  "y, C, beta and F must have the same length");
            check(starts_rise(starts.data(), n_problems, n),
                  "starts must grow from 0, up to the number of rows");
            nb::gil_scoped_release released;
            parallel_for(n_problems, 50.0 * n, [&](std::size_t q) {
                const std::size_t from = starts.data()[q];
                const HingeCertificate found =
                    hinge_certificate(starts.data()[q + 1] - from, y.data() + from, C.data() + from,
                                      beta.data() + from, F.data() + from);
                double* out = results.data() + 4 * q;
                out[0] = found.b, out[1] = found.primal, out[2] = found.dual, out[3] = found.null;
            });
        },
        nb::arg("starts").noconvert(), nb::arg("y").noconvert(), nb::arg("C").noconvert(),
        nb::arg("beta").noconvert(), nb::arg("F").noconvert(), nb::arg("results").noconvert(),
        "Fills (b, primal, dual, primal of the best constant) of each two-class problem.");
    bind_for<float>(m);
    bind_for<double>(m);
}

}  // namespace nearline
