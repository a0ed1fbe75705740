// Search, bound.
#include "bind_search.hpp"

#include <nanobind/stl/optional.h>

namespace nearline {

namespace {

using namespace neighbors;
using namespace nb::literals;

template <class T>
void bind_sparse(nb::class_<Search>& search) {
    search.def("scan_sparse", &Search::scan_sparse<T>, "starts"_a.noconvert(), "features"_a.noconvert(),
               "values"_a.noconvert(), "column_starts"_a.noconvert(), "column_rows"_a.noconvert(),
               "column_values"_a.noconvert(), "frequent"_a.noconvert(), "common"_a.noconvert(),
               "groups"_a.noconvert(), "q_starts"_a.noconvert(), "q_features"_a.noconvert(),
               "q_values"_a.noconvert(), "n_features"_a);
}

template <class T>
void bind_type(nb::class_<Search>& search) {
    search.def("scan", &Search::scan<T>, "X"_a.noconvert(), "sizes"_a.noconvert(), "groups"_a.noconvert(),
               "blocks"_a.noconvert(), nb::kw_only(), "norm"_a, "r"_a, "r2"_a, "chunk"_a,
               "panels"_a.noconvert(), "starts"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(),
               "squares"_a.noconvert(), "errors"_a.noconvert(), "more"_a.noconvert(),
               "more_errors"_a.noconvert(), "order"_a.noconvert(), "v"_a.noconvert(),
               "q_squares"_a.noconvert(), "q_errors"_a.noconvert(), "q_more"_a.noconvert(),
               "q_more_errors"_a.noconvert(), "bases"_a.noconvert(), "scale"_a, "relative"_a);
    search.def("scan_all", &Search::scan_all<T>, "X"_a.noconvert(), "sizes"_a.noconvert(),
               "groups"_a.noconvert());
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::class_<Search> search(m, "Search");
    search.def(nb::init<std::optional<Metric>, double, Matrix<const double>, Matrix<const double>,
                        Matrix<const std::uint8_t>, Vector<const std::uint8_t>, Vector<const std::int64_t>,
                        std::size_t, double, std::size_t>(),
               "metric"_a.none(), "exponent"_a, "map"_a.noconvert(), "q"_a.noconvert(), "bytes"_a.noconvert(),
               "whole"_a.noconvert(), "groups"_a.noconvert(), "k"_a, "radius"_a, "most_ties"_a);
    bind_type<float>(search);
    bind_type<double>(search);
    bind_type<std::uint8_t>(search);
    bind_sparse<float>(search);
    bind_sparse<double>(search);
    search.def("scan_distances", &Search::scan_distances, "D"_a.noconvert(), "groups"_a.noconvert(),
               "first"_a);
    search.def("finish", &Search::finish, "n_found"_a.noconvert(), "n_ties"_a.noconvert());
    search.def("write", &Search::write, "starts"_a.noconvert(), "distances"_a.noconvert(),
               "indices"_a.noconvert(), "tie_starts"_a.noconvert(), "ties"_a.noconvert());
}

}  // namespace nearline
