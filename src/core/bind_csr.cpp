#include <cstdint>
#include <vector>

#include "bindings.hpp"

namespace nearline {

// Whether some row of a CSR matrix has a column twice. Linear in the entries, sorted or not.
template <class Index>
bool has_duplicates(Vector<const Index> indptr, Vector<const Index> indices, std::size_t n_columns) {
    nb::gil_scoped_release release;
    std::vector<std::int64_t> last_row(n_columns, -1);
    const std::int64_t n_rows = static_cast<std::int64_t>(indptr.size()) - 1;
    for (std::int64_t i = 0; i < n_rows; ++i) {
        for (Index k = indptr.data()[i]; k < indptr.data()[i + 1]; ++k) {
            std::int64_t& last = last_row[static_cast<std::size_t>(indices.data()[k])];
            if (last == i) return true;
            last = i;
        }
    }
    return false;
}

void bind_csr(nb::module_& m) {
    const char* doc = "Whether some row of a CSR matrix has a column twice.";
    m.def("has_duplicates", &has_duplicates<std::int32_t>, nb::arg("indptr").noconvert(),
          nb::arg("indices").noconvert(), nb::arg("n_columns"), doc);
    m.def("has_duplicates", &has_duplicates<std::int64_t>, nb::arg("indptr").noconvert(),
          nb::arg("indices").noconvert(), nb::arg("n_columns"), doc);
}

}  // namespace nearline
