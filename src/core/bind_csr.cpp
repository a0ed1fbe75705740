#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <string>
#include <tuple>

#include "bindings.hpp"
#include "compressed.hpp"

namespace nearline {

namespace {

std::string name_of(Fault fault) {
    switch (fault) {
        case Fault::none:
            return "";
        case Fault::first_start:
            return "first start";
        case Fault::falling_start:
            return "falling start";
        case Fault::last_start:
            return "last start";
        case Fault::index:
            return "index";
        case Fault::order:
            return "order";
    }
    return "";
}

template <class Index>
void bind_index(nb::module_& m) {
    m.def(
        "compressed_fault",
        [](Vector<const Index> indptr, Vector<const Index> indices, std::size_t n_columns) {
            check(indptr.size() > 0, "there must be one start more than rows");
            FaultAt found;
            {
                nb::gil_scoped_release released;
                found = fault_of(indptr.data(), indptr.size() - 1, indices.data(), indices.size(), n_columns);
            }
            return std::tuple(name_of(found.fault), found.place, found.value);
        },
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("n_columns"),
        "The first fault of a CSR matrix: what ('' none, 'order' columns do not rise), where, and the "
        "number.");
}

}  // namespace

void bind_csr(nb::module_& m) {
    bind_index<std::int32_t>(m);
    bind_index<std::int64_t>(m);
}

}  // namespace nearline
