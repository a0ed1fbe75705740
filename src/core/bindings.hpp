// What every bind_*.cpp shares: array types (always C-contiguous, never converted behind the caller's back).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nearline {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// One function a concept; bindings.cpp calls them all.
void bind_coordinate(nb::module_& m);
void bind_threads(nb::module_& m);
void bind_pass(nb::module_& m);
void bind_row_sums(nb::module_& m);
void bind_sparse_pass(nb::module_& m);
void bind_csr(nb::module_& m);
void bind_sgd(nb::module_& m);
void bind_dual(nb::module_& m);
void bind_neighbors(nb::module_& m);
void bind_pairs(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_smo(nb::module_& m);

}  // namespace nearline
