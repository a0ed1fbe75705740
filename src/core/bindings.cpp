#include "bindings.hpp"

#define NL_DEFINE_MODULE(name, m) NB_MODULE(name, m)

NL_DEFINE_MODULE(NL_MODULE, m) {
    m.doc() = "nearline's compiled core: fused passes, sequential solvers.";
    nearline::bind_coordinate(m);
    nearline::bind_threads(m);
    nearline::bind_pass(m);
    nearline::bind_csr(m);
    nearline::bind_sgd(m);
    nearline::bind_dual(m);
    nearline::bind_neighbors(m);
    nearline::bind_search(m);
    nearline::bind_pairs(m);
    nearline::bind_kernels(m);
    nearline::bind_smo(m);
}
