// Kernels of strings and trees. `out` is the matrix to fill: "among" (n, n), "between" (n_A, n_B) for items
// of A that are followed by those of B, "diagonal" (n, 1). `ranks` order the items by content.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <limits>
#include <string>

#include "bindings.hpp"
#include "count_products.hpp"
#include "string_kernels.hpp"
#include "tree_kernels.hpp"

namespace nearline {

namespace {

using Ints = Vector<const std::int32_t>;
using Longs = Vector<const std::int64_t>;
using Reals1 = Vector<const double>;

constexpr std::size_t kSmallAlphabet = std::size_t{1} << 16;  // larger ones cost memory that must be needed

Kind kind_of(const std::string& name) {
    check(name == "among" || name == "between" || name == "diagonal", "unknown kind of matrix");
    return name == "among" ? Kind::among : name == "between" ? Kind::between : Kind::diagonal;
}

std::size_t n_items(const Longs& starts, std::size_t n_entries) {
    check(starts.size() > 0 && starts_rise(starts.data(), starts.size() - 1, n_entries),
          "starts must begin with 0 and never fall");
    check(static_cast<std::size_t>(starts.data()[starts.size() - 1]) == n_entries,
          "starts must end with the number of entries");
    check(n_entries <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
          "there are more entries than 32 bits can count");
    return starts.size() - 1;
}

// The kind by its name, for a matrix of the right shape.
Kind kind_for(const std::string& name, std::size_t n, const Matrix<double>& out) {
    const Kind kind = kind_of(name);
    const std::size_t rows = out.shape(0), columns = out.shape(1);
    check(kind == Kind::between ? rows + columns == n : rows == n && columns == (kind == Kind::among ? n : 1),
          "out has the wrong shape");
    return kind;
}

Pairs pairs_of(const std::string& name, std::size_t n, const Longs& ranks, const Matrix<double>& out) {
    check(ranks.size() == n, "ranks must have one number an item");
    return Pairs(kind_for(name, n, out), ranks.data(), out.shape(0), out.shape(1), out.data());
}

Trees trees_of(const Ints& labels, const Ints& arities, const Longs& starts) {
    Trees trees;
    trees.n_trees = n_items(starts, labels.size());
    trees.starts = starts.data();
    trees.labels = labels.data();
    check(arities.size() == labels.size() && trees.build(arities.data()),
          "these numbers of children make no trees");
    return trees;
}

void bind_strings(nb::module_& m) {
    m.def(
        "subsequence_kernel",
        [](Ints symbols, Longs starts, Longs ranks, std::size_t alphabet, std::size_t length, double decay,
           const std::string& kind, Matrix<double> out) {
            const std::size_t n = n_items(starts, symbols.size());
            check_below(symbols, alphabet, "a symbol is beyond the alphabet");
            check(alphabet <= std::max(kSmallAlphabet, symbols.size()),
                  "the alphabet is larger than all strings");
            check(length > 0 && decay > 0.0 && decay <= 1.0, "length and decay must be positive, decay <= 1");
            const double mean = n ? static_cast<double>(symbols.size()) / static_cast<double>(n) : 0.0;
            nb::gil_scoped_release released;
            const Pairs pairs = pairs_of(kind, n, ranks, out);
            subsequence_kernel(Strings{symbols.data(), starts.data(), alphabet}, pairs, n, length, decay,
                               static_cast<double>(out.size() * length) * (mean * mean + 10.0));
        },
        nb::arg("symbols"), nb::arg("starts"), nb::arg("ranks"), nb::arg("alphabet"), nb::arg("length"),
        nb::arg("decay"), nb::arg("kind"), nb::arg("out").noconvert(),
        "Gap-weighted subsequence kernel of strings of symbols 0 .. alphabet - 1.");
}

void bind_counts(nb::module_& m) {
    m.def(
        "count_products",
        [](Longs starts, Ints features, Reals1 counts, Ints groups, Reals1 weights, const std::string& kind,
           Matrix<double> out) {
            const std::size_t n = n_items(starts, features.size());
            check(counts.size() == features.size() && weights.size() > 0, "counts or weights are missing");
            check_below(features, groups.size(), "a feature has no group");
            check_below(groups, weights.size(), "a group has no weight");
            const double mean = n ? static_cast<double>(features.size()) / static_cast<double>(n) : 0.0;
            const Counts rows{starts.data(), features.data(), counts.data(),
                              groups.data(), weights.data(),  groups.size()};
            nb::gil_scoped_release released;
            count_products(rows, kind_for(kind, n, out), out.shape(0), out.shape(1), out.data(),
                           static_cast<double>(out.size()) * mean);
        },
        nb::arg("starts"), nb::arg("features"), nb::arg("counts"), nb::arg("groups"), nb::arg("weights"),
        nb::arg("kind"), nb::arg("out").noconvert(),
        "Inner products of rows of counts, each group of features times its weight.");
}

void bind_trees(nb::module_& m) {
    m.def(
        "subset_tree_kernel",
        [](Ints labels, Ints arities, Longs starts, Longs ranks, double decay, bool leaves,
           const std::string& kind, Matrix<double> out) {
            nb::gil_scoped_release released;
            const Trees trees = trees_of(labels, arities, starts);
            tree_kernel(trees, production_symbols(trees, leaves), SubsetFragments{decay},
                        pairs_of(kind, trees.n_trees, ranks, out));
        },
        nb::arg("labels"), nb::arg("arities"), nb::arg("starts"), nb::arg("ranks"), nb::arg("decay"),
        nb::arg("leaves"), nb::arg("kind"), nb::arg("out").noconvert(),
        "Subset-tree kernel of trees given as labels and numbers of children, children before parents.");
    m.def(
        "partial_tree_kernel",
        [](Ints labels, Ints arities, Longs starts, Longs ranks, double decay, double mu, double terminal,
           const std::string& kind, Matrix<double> out) {
            nb::gil_scoped_release released;
            const Trees trees = trees_of(labels, arities, starts);
            tree_kernel(trees, label_symbols(trees), PartialFragments{decay, mu, terminal, {}},
                        pairs_of(kind, trees.n_trees, ranks, out));
        },
        nb::arg("labels"), nb::arg("arities"), nb::arg("starts"), nb::arg("ranks"), nb::arg("decay"),
        nb::arg("mu"), nb::arg("terminal"), nb::arg("kind"), nb::arg("out").noconvert(),
        "Partial-tree kernel of trees given as labels and numbers of children, children before parents.");
}

void bind_subtrees(nb::module_& m) {
    m.def(
        "complete_subtrees",
        [](Ints labels, Ints arities, Longs starts, Vector<std::int32_t> numbers,
           Vector<std::int32_t> sizes) {
            nb::gil_scoped_release released;
            const Trees trees = trees_of(labels, arities, starts);
            check(numbers.size() == labels.size() && sizes.size() == labels.size(),
                  "numbers and sizes must have one entry a node");
            std::size_t count = 0;
            const std::vector<std::int32_t> found = trees.complete_subtrees(count);
            std::copy(found.begin(), found.end(), numbers.data());
            for (std::size_t node = 0; node < found.size(); ++node) {
                std::int32_t size = trees.leaf(node) ? 0 : 1;
                for (const std::int32_t* child = trees.begin(node); child < trees.end(node); ++child)
                    size += sizes.data()[*child];
                sizes.data()[node] = size;
            }
            return count;
        },
        nb::arg("labels"), nb::arg("arities"), nb::arg("starts"), nb::arg("numbers").noconvert(),
        nb::arg("sizes").noconvert(),
        "Numbers each node by all that hangs below it; sizes counts the nodes there that are no leaves.");
}

}  // namespace

void bind_kernels(nb::module_& m) {
    bind_strings(m);
    bind_counts(m);
    bind_trees(m);
    bind_subtrees(m);
}

}  // namespace nearline
