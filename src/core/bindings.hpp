// What every bind_*.cpp shares: array types (C-contiguous and aligned, never converted behind the caller's
// back), and the checks before compiled code follows numbers that came from outside. A bound function raises
// or works: whatever the shapes, types and values of its arguments are, it reads and writes nothing else.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "compressed.hpp"

namespace nearline {

namespace nb = nanobind;

// An array whose numbers start where numbers of their type may: vector code relies on it.
template <class T, std::size_t N>
struct Aligned : nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu> {
    using Base = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
    using Base::Base;
    Aligned(const Base& base) : Base(base) {}
};

template <class T>
using Vector = Aligned<T, 1>;
template <class T>
using Matrix = Aligned<T, 2>;
template <class T>
using Cube = Aligned<T, 3>;

inline void check(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

template <class T>
bool is_aligned(const void* data) {
    return reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0;
}

// CSR rows or CSC columns; `indices` and the values are of one length, which starts may leave a rest of.
template <class Start, class Index>
void check_compressed(const Vector<Start>& starts, const Vector<Index>& indices, std::size_t n_values,
                      std::size_t n_columns) {
    check(starts.size() > 0, "there must be one start more than rows");
    check(indices.size() == n_values, "values and indices differ in length");
    check(starts_rise(starts.data(), starts.size() - 1, n_values),
          "starts must begin with 0, never fall, and end within the values");
    check(all_below(indices.data(), static_cast<std::size_t>(starts.data()[starts.size() - 1]), n_columns),
          "an index is negative or beyond the matrix");
}

template <class Number>
void check_below(const Vector<Number>& numbers, std::size_t bound, const char* what) {
    check(all_below(numbers.data(), numbers.size(), bound), what);
}

inline void check_permutation(const Vector<const std::int64_t>& order, const char* what) {
    check_below(order, order.size(), what);
    std::vector<bool> met(order.size(), false);
    for (std::size_t i = 0; i < order.size(); ++i) {
        check(!met[order.data()[i]], what);
        met[order.data()[i]] = true;
    }
}

inline std::size_t product(std::size_t a, std::size_t b) {
    std::size_t size = 0;
    check(!__builtin_mul_overflow(a, b, &size), "these are more numbers than there is memory for");
    return size;
}

template <class Array>
bool has_shape(const Array& array, std::size_t n_rows, std::size_t n_columns) {
    return array.shape(0) == n_rows && array.shape(1) == n_columns;
}

// Whether an argument that may be left out (empty) has n numbers otherwise.
template <class Array>
bool none_or(const Array& array, std::size_t n) {
    return array.size() == 0 || array.size() == n;
}

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
void bind_search(nb::module_& m);
void bind_pairs(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_smo(nb::module_& m);

}  // namespace nearline

namespace nanobind::detail {

template <class T, std::size_t N>
struct type_caster<nearline::Aligned<T, N>> {
    using Array = nearline::Aligned<T, N>;
    using Caster = type_caster<typename Array::Base>;
    NB_TYPE_CASTER(Array, Caster::Name)

    bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
        Caster caster;
        if (!caster.from_python(src, flags, cleanup)) return false;
        value = Array(caster.value);
        return value.size() == 0 || nearline::is_aligned<T>(value.data());
    }
};

}  // namespace nanobind::detail
