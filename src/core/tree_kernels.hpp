// Tree kernels k(s, t) = sum over nodes a of s and b of t of D(a, b), the weight of all common fragments that
// have their roots there. D is 0 unless a and b have the same symbol (production or label), so only such
// pairs are visited (Moschitti 2006), children before parents.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "kernel_pairs.hpp"

namespace nearline {

// Numbers for sequences of numbers, in order of first appearance.
class Interned {
  public:
    std::int32_t operator()(const std::vector<std::int32_t>& key) {
        return numbers_.emplace(key, static_cast<std::int32_t>(numbers_.size())).first->second;
    }
    std::size_t size() const { return numbers_.size(); }

  private:
    struct Hash {
        std::size_t operator()(const std::vector<std::int32_t>& key) const {
            std::uint64_t h = key.size();
            for (const std::int32_t x : key) {
                h = (h ^ static_cast<std::uint32_t>(x)) * 0x9e3779b97f4a7c15u;
                h ^= h >> 32;
            }
            return static_cast<std::size_t>(h);
        }
    };
    std::unordered_map<std::vector<std::int32_t>, std::int32_t, Hash> numbers_;
};

// The nodes of all trees in one row, children before parents.
struct Trees {
    std::size_t n_trees;
    const std::int64_t* starts;       // of each tree's nodes
    const std::int32_t* labels;       // of each node
    std::vector<std::int64_t> first;  // of each node's children
    std::vector<std::int32_t> children;

    // False: these numbers of children make no trees.
    bool build(const std::int32_t* arities) {
        const auto n = static_cast<std::size_t>(starts[n_trees]);
        std::vector<std::int32_t> open;  // nodes that have no parent yet
        first.assign(1, 0);
        children.reserve(n);
        for (std::size_t tree = 0; tree < n_trees; ++tree) {
            open.clear();
            for (std::int64_t node = starts[tree]; node < starts[tree + 1]; ++node) {
                const std::int32_t arity = arities[node];
                if (arity < 0 || static_cast<std::size_t>(arity) > open.size()) return false;
                children.insert(children.end(), open.end() - arity, open.end());
                open.resize(open.size() - static_cast<std::size_t>(arity));
                open.push_back(static_cast<std::int32_t>(node));
                first.push_back(static_cast<std::int64_t>(children.size()));
            }
            if (open.size() != 1) return false;
        }
        return true;
    }

    std::size_t n_nodes() const { return first.size() - 1; }
    bool leaf(std::size_t node) const { return first[node] == first[node + 1]; }
    std::size_t arity(std::size_t node) const {
        return static_cast<std::size_t>(first[node + 1] - first[node]);
    }
    const std::int32_t* begin(std::size_t node) const { return children.data() + first[node]; }
    const std::int32_t* end(std::size_t node) const { return children.data() + first[node + 1]; }

    // A number for what `of` says about a node, its label, and what it says about each child.
    template <class Of>
    std::vector<std::int32_t> numbered(std::size_t& count, const Of& of) const {
        Interned interned;
        std::vector<std::int32_t> key, numbers(n_nodes());
        for (std::size_t node = 0; node < numbers.size(); ++node) {
            key.assign(1, labels[node]);
            for (const std::int32_t* child = begin(node); child < end(node); ++child)
                key.push_back(of(numbers, *child));
            numbers[node] = interned(key);
        }
        count = interned.size();
        return numbers;
    }

    std::vector<std::int32_t> label_numbers(std::size_t& count) const {
        std::vector<std::int32_t> known(labels, labels + n_nodes()), numbers(n_nodes());
        std::sort(known.begin(), known.end());
        known.erase(std::unique(known.begin(), known.end()), known.end());
        for (std::size_t node = 0; node < numbers.size(); ++node)
            numbers[node] = static_cast<std::int32_t>(
                std::lower_bound(known.begin(), known.end(), labels[node]) - known.begin());
        count = known.size();
        return numbers;
    }

    std::vector<std::int32_t> productions(std::size_t& count) const {
        return numbered(count, [this](const auto&, std::int32_t child) { return labels[child]; });
    }

    // Two nodes have the same number if and only if all that hangs below them is the same too.
    std::vector<std::int32_t> complete_subtrees(std::size_t& count) const {
        return numbered(count, [](const auto& numbers, std::int32_t child) { return numbers[child]; });
    }
};

// Nodes of each tree that have the same symbol, side by side. A symbol below 0 takes no part.
struct Symbols {
    std::vector<std::int32_t> of;     // node -> symbol
    std::vector<std::int32_t> nodes;  // of each tree, ordered by symbol
    std::vector<std::int32_t> place;  // of a node among those of its tree with its symbol
    std::size_t count;

    Symbols(const Trees& trees, std::vector<std::int32_t> symbols, std::size_t n_symbols)
        : of(std::move(symbols)), nodes(of.size()), place(of.size()), count(n_symbols) {
        for (std::size_t i = 0; i < of.size(); ++i) nodes[i] = static_cast<std::int32_t>(i);
        for (std::size_t tree = 0; tree < trees.n_trees; ++tree) {
            const std::int64_t from = trees.starts[tree], to = trees.starts[tree + 1];
            std::stable_sort(nodes.begin() + from, nodes.begin() + to,
                             [this](std::int32_t a, std::int32_t b) { return of[a] < of[b]; });
            for (std::int64_t i = from; i < to; ++i) {
                const bool same = i > from && of[nodes[i]] == of[nodes[i - 1]];
                place[nodes[i]] = same ? place[nodes[i - 1]] + 1 : 0;
            }
        }
    }
};

// D(a, b) of the pairs of nodes met so far in two trees.
class Found {
  public:
    Found(const Symbols& symbols) : symbols_(symbols) {}

    void begin_tree(std::int64_t start, std::int64_t end) {
        start_ = start;
        used_ = 0;
        offsets_.resize(std::max(offsets_.size(), static_cast<std::size_t>(end - start)));
    }
    double* begin_node(std::size_t b, std::size_t count) {
        offsets_[b - static_cast<std::size_t>(start_)] = used_;
        used_ += count;
        if (values_.size() < used_) values_.resize(2 * used_);
        return values_.data() + used_ - count;
    }
    double operator()(std::int32_t a, std::int32_t b) const {
        const std::int32_t symbol = symbols_.of[a];
        if (symbol != symbols_.of[b] || symbol < 0) return 0.0;
        return values_[offsets_[static_cast<std::size_t>(b - start_)] +
                       static_cast<std::size_t>(symbols_.place[a])];
    }

  private:
    const Symbols& symbols_;
    std::int64_t start_ = 0;
    std::size_t used_ = 0;
    std::vector<std::size_t> offsets_;
    std::vector<double> values_;
};

// Collins and Duffy (2002): D = decay prod_children (1 + D(child, child)), where a leaf is a factor of 1.
struct SubsetFragments {
    double decay;

    double operator()(const Trees& trees, const Found& found, std::size_t a, std::size_t b) {
        double product = decay;
        const std::int32_t* other = trees.begin(b);
        for (const std::int32_t* child = trees.begin(a); child < trees.end(a); ++child, ++other)
            if (!trees.leaf(static_cast<std::size_t>(*child))) product *= 1.0 + found(*child, *other);
        return product;
    }
};

// Moschitti (2006): D = mu (decay^2 + sum of decay^gaps prod D over common subsequences of children); two
// leaves have terminal mu decay^2. With T(i, j) the sum over those that end with children i and j, of all
// lengths at once, T(i, j) = D(i, j) (1 + sum_{i' < i, j' < j} decay^(i - i' + j - j' - 2) T(i', j')).
struct PartialFragments {
    double decay, mu, terminal;
    std::vector<double> above;  // sum_{i' <= i, j' <= j} decay^(i - i' + j - j') T(i', j') of the row before

    double operator()(const Trees& trees, const Found& found, std::size_t a, std::size_t b) {
        const double alone = mu * decay * decay;
        if (trees.leaf(a) || trees.leaf(b)) return trees.leaf(a) && trees.leaf(b) ? terminal * alone : alone;
        above.assign(trees.arity(b), 0.0);
        double sum = 0.0;
        for (const std::int32_t* i = trees.begin(a); i < trees.end(a); ++i) {
            double along = 0.0, corner = 0.0;
            double* S = above.data();
            for (const std::int32_t* j = trees.begin(b); j < trees.end(b); ++j, ++S) {
                const double T = found(*i, *j) * (1.0 + corner);
                sum += T;
                along = decay * along + T;
                corner = *S;
                *S = decay * corner + along;
            }
        }
        return alone + mu * sum;
    }
};

template <class Fragments>
class TreeKernel {
  public:
    TreeKernel(const Trees& trees, const Symbols& symbols, const Fragments& fragments, Watch& watch)
        : trees_(trees),
          symbols_(symbols),
          fragments_(fragments),
          watch_(watch),
          found_(symbols),
          same_(symbols.count) {}

    void begin(std::size_t tree) {
        each_group(tree, [this](std::int32_t symbol, Group group) { same_[symbol] = group; });
    }
    void end(std::size_t tree) {
        each_group(tree, [this](std::int32_t symbol, Group) { same_[symbol] = Group{}; });
    }
    bool go_on() { return going_on_ && watch_.go_on(work_); }

    double with(std::size_t tree) {
        const std::int64_t from = trees_.starts[tree], to = trees_.starts[tree + 1];
        double total = 0.0;
        found_.begin_tree(from, to);
        work_ += static_cast<double>(to - from);
        for (auto b = static_cast<std::size_t>(from); b < static_cast<std::size_t>(to); ++b) {
            const std::int32_t symbol = symbols_.of[b];
            const Group group = symbol < 0 ? Group{} : same_[symbol];
            if (!group.count) continue;
            double* values = found_.begin_node(b, group.count);
            for (std::size_t k = 0; k < group.count; ++k) {
                const auto a = static_cast<std::size_t>(symbols_.nodes[group.from + k]);
                values[k] = fragments_(trees_, found_, a, b);
                total += values[k];
                work_ += static_cast<double>(1 + trees_.arity(a) * trees_.arity(b));
            }
            if (!go_on()) return 0.0;
        }
        return total;
    }

  private:
    struct Group {
        std::size_t from = 0, count = 0;  // among symbols_.nodes
    };

    template <class F>
    void each_group(std::size_t tree, const F& f) {
        const auto to = static_cast<std::size_t>(trees_.starts[tree + 1]);
        for (auto from = static_cast<std::size_t>(trees_.starts[tree]); from < to;) {
            const std::int32_t symbol = symbols_.of[symbols_.nodes[from]];
            std::size_t next = from + 1;
            while (next < to && symbols_.of[symbols_.nodes[next]] == symbol) ++next;
            if (symbol >= 0) f(symbol, Group{from, next - from});
            from = next;
        }
    }

    const Trees& trees_;
    const Symbols& symbols_;
    Fragments fragments_;
    Watch& watch_;
    Found found_;
    std::vector<Group> same_;  // symbol -> nodes of the first tree
    double work_ = 0.0;
    bool going_on_ = true;
};

template <class Fragments>
void tree_kernel(const Trees& trees, const Symbols& symbols, const Fragments& fragments, const Pairs& pairs) {
    Watch watch;
    fill_by_first<TreeKernel<Fragments>>(pairs, 1e3 * static_cast<double>(pairs.size()), [&] {
        return TreeKernel<Fragments>(trees, symbols, fragments, watch);
    });
}

// Productions, where a leaf has none unless leaves are to count as fragments.
inline Symbols production_symbols(const Trees& trees, bool leaves) {
    std::size_t count = 0;
    std::vector<std::int32_t> symbols = trees.productions(count);
    for (std::size_t node = 0; !leaves && node < symbols.size(); ++node)
        if (trees.leaf(node)) symbols[node] = -1;
    return Symbols(trees, std::move(symbols), count);
}

inline Symbols label_symbols(const Trees& trees) {
    std::size_t count = 0;
    std::vector<std::int32_t> symbols = trees.label_numbers(count);
    return Symbols(trees, std::move(symbols), count);
}

}  // namespace nearline
