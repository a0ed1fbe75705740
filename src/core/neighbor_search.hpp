// Exact nearest neighbors: rows are excluded by lower bounds of their distance, what is left is measured.
//
// Rows stand in chunks of neighbors (leaves of a tree). For a block of similar queries: the box around a
// chunk excludes whole chunks, a few coordinates exclude rows of the others, more coordinates exclude most of
// the rest, and the distance itself, in the documented order of summation, decides. No step excludes a row
// whose distance is not above the k-th best so far: limits are widened by all that rounding can have done.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "neighbor_distance.hpp"
#include "neighbor_filter.hpp"
#include "neighbor_lists.hpp"
#include "ordering.hpp"

namespace nearline::neighbors {

template <class T>
struct Rows {
    const T* x;
    std::size_t d;
    const double* sizes;         // null: the metric needs none
    const std::int64_t* groups;  // null: none

    Row<T> operator[](std::size_t i) const { return {x + i * d, sizes ? sizes[i] : 0.0}; }
};

struct Queries {
    std::size_t n;
    const double* q;  // (n, d)
    const std::uint8_t* bytes;
    const std::uint8_t* whole;  // whether a query is bytes
    const double* sizes;
    const std::int64_t* groups;

    Query at(std::size_t i, std::size_t d) const {
        return {q + i * d, bytes && whole[i] ? bytes + i * d : nullptr, sizes ? sizes[i] : 0.0};
    }
};

constexpr std::size_t kAhead = 4;  // rows whose memory is asked for before it is needed

template <Norm norm, class T>
class BlockSearch {
  public:
    BlockSearch(const Filter& filter, const Probes& probes, const Rows<T>& rows, const Queries& queries,
                const Measure& measure, NeighborList* lists)
        : f_(filter), p_(probes), rows_(rows), queries_(queries), measure_(measure), lists_(lists) {}

    // members: numbers of the queries.
    template <class Watch>
    void run(const std::int64_t* members, std::size_t count, Watch& watch) {
        members_ = members;
        const std::size_t n_chunks = f_.n_chunks(), R = padded(f_.r);
        boxes_.resize(count * n_chunks);
        survivors_.resize(count);
        probes_.resize(count);
        seeds_.resize(count);
        moved_.assign(count, 0.0);
        const std::size_t W = panel_words(norm, f_.r);
        if (norm == Norm::rounded) words_.resize(count * W);
        std::vector<float> nearness(n_chunks, 0.0f);
        for (std::size_t a = 0; a < count; ++a) {
            const auto i = static_cast<std::size_t>(members[a]);
            probes_[a] = {p_.v + i * R, p_.v + i * R, p_.squares[i]};
            if (norm == Norm::rounded) {
                const Rounded rounded = round_pairs(probes_[a].v, f_.r, words_.data() + a * W, 1);
                probes_[a].words = words_.data() + a * W;
                probes_[a].square = static_cast<float>(rounded.square);
                moved_[a] = rounded.error;
            }
            float* box = boxes_.data() + a * n_chunks;
            for (std::size_t c = 0; c < n_chunks; ++c)
                box[c] = box_bound<norm>(f_.low + c * R, f_.high + c * R, probes_[a].v, f_.r ? R : 0);
            seeds_[a] = std::min_element(box, box + n_chunks) - box;
            const float most = 1e30f;
            for (std::size_t c = 0; c < n_chunks; ++c) nearness[c] += std::min(box[c], most);
        }
        visit_seeds(count);
        std::vector<std::size_t> order(n_chunks), active(count);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            if (nan_last(nearness[a], nearness[b])) return true;
            return !nan_last(nearness[b], nearness[a]) && a < b;
        });
        double work = 0.0;
        for (const std::size_t c : order) {
            std::size_t n_active = 0;
            for (std::size_t a = 0; a < count; ++a)
                if (c != seeds_[a] && boxes_[a * n_chunks + c] <= box_limit(a, c)) active[n_active++] = a;
            const std::size_t groups = (n_active + kAtOnce - 1) / kAtOnce;
            for (std::size_t g = 0; g < groups; ++g) {  // as even as can be
                const std::size_t begin = n_active * g / groups;
                visit(c, active.data() + begin, n_active * (g + 1) / groups - begin);
            }
            work += static_cast<double>(n_active * f_.chunk * (f_.r + 1));
            if (!watch.go_on(work)) return;
        }
    }

  private:
    // Each query's own chunk first: it gives a good limit. Queries with the same one go together.
    void visit_seeds(std::size_t count) {
        std::vector<std::size_t> by_seed(count);
        std::iota(by_seed.begin(), by_seed.end(), std::size_t{0});
        std::sort(by_seed.begin(), by_seed.end(), [&](std::size_t a, std::size_t b) {
            return seeds_[a] != seeds_[b] ? seeds_[a] < seeds_[b] : a < b;
        });
        for (std::size_t begin = 0; begin < count;) {
            const std::size_t seed = seeds_[by_seed[begin]];
            std::size_t end = begin + 1;
            while (end < count && end - begin < kAtOnce && seeds_[by_seed[end]] == seed) ++end;
            visit(seed, by_seed.data() + begin, end - begin);
            begin = end;
        }
    }
    double reach(std::size_t a) const {
        const auto i = static_cast<std::size_t>(members_[a]);
        return p_.reach(norm, i, lists_[i].limit());
    }
    // Relative rounding of a sum of r terms in float32.
    static double rounding(std::size_t r) { return 1.1 * static_cast<double>(r + 8) * 0x1p-24; }

    // What r numbers and products below the smallest normal float32 can be wrong by, even if they become 0.
    static double vanished(std::size_t r) { return static_cast<double>(r + 8) * 0x1p-123; }

    static double widened(double length, std::size_t r) {
        const double l = length + vanished(r);
        return (is_square(norm) ? l * l + vanished(r) : l) * (1.0 + 2.0 * rounding(r));
    }
    float box_limit(std::size_t a, std::size_t c) const {
        const double length = reach(a) + p_.errors[members_[a]] + f_.errors[c];
        return rounded_up(widened(length, f_.r));
    }
    float limit(std::size_t a, std::size_t c) const {
        const double length = reach(a) + p_.errors[members_[a]] + moved_[a] + f_.errors[f_.n_chunks() + c];
        if (!is_square(norm)) return rounded_up(widened(length, f_.r));
        // The square is a difference of products here: they are what rounding is relative to. Products of
        // bfloat16 are exact in float32, and each sum of one is rounded once, or becomes 0 below 2^-126.
        const double products = static_cast<double>(f_.squares[c]) + probes_[a].square;
        const double l = length + vanished(f_.r);
        return rounded_up(l * l + vanished(f_.r) + 2.0 * rounding(f_.r) * products);
    }

    void visit(std::size_t c, const std::size_t* active, std::size_t count) {
        const Probe* probes[kAtOnce];
        float limits[kAtOnce], most = std::numeric_limits<float>::infinity();
        std::vector<Survivor>* out[kAtOnce];
        for (std::size_t m = 0; m < count; ++m) {
            probes[m] = &probes_[active[m]];
            limits[m] = limit(active[m], c);
            most = std::min(most, limits[m]);
            out[m] = &survivors_[active[m]];
        }
        const std::size_t first = c * f_.chunk, last = std::min(f_.n, first + f_.chunk);
        if (most == std::numeric_limits<float>::infinity()) return visit_first(c, active, count, probes);
        for (std::size_t place = first; place < last; place += kPanel)
            with_count(count, [&](auto M) {
                panel_bounds<norm, M()>(f_.panels + place * panel_words(norm, f_.r), f_.starts + place, f_.r,
                                        probes, limits, static_cast<std::int32_t>(place), out);
            });
        for (std::size_t m = 0; m < count; ++m)
            if (!out[m]->empty()) refine(active[m], c, *out[m]);
    }

    // Without a limit every row would be a survivor. Those of the smallest bounds, enough to fill a list, are
    // measured first; they give a limit for the others. This is an order only: a row is left out by the
    // limit, never by the bounds of others.
    void visit_first(std::size_t c, const std::size_t* active, std::size_t count,
                     const Probe* const* probes) {
        const std::size_t first = c * f_.chunk, last = std::min(f_.n, first + f_.chunk);
        const std::size_t size = (last - first + kPanel - 1) / kPanel * kPanel;
        values_.resize(kAtOnce * size);
        for (std::size_t i = 0; i < size; i += kPanel) {
            float* out[kAtOnce];
            for (std::size_t m = 0; m < count; ++m) out[m] = values_.data() + m * size + i;
            const std::size_t place = first + i;
            with_count(count, [&](auto M) {
                panel_values<norm, M()>(f_.panels + place * panel_words(norm, f_.r), f_.starts + place, f_.r,
                                        probes, out);
            });
        }
        for (std::size_t m = 0; m < count; ++m) {
            const std::size_t a = active[m];
            const float* values = values_.data() + m * size;
            const float near = enough_below(values, size, lists_[members_[a]].missing());
            take(values, size, first, -std::numeric_limits<float>::infinity(), near, survivors_[a]);
            refine(a, c, survivors_[a]);
            take(values, size, first, near, limit(a, c), survivors_[a]);
            if (!survivors_[a].empty()) refine(a, c, survivors_[a]);
        }
    }

    // The places whose bounds are above `above`, or are it where it is minus infinity, and not above `most`.
    static void take(const float* values, std::size_t size, std::size_t first, float above, float most,
                     std::vector<Survivor>& out) {
        const bool all = above == -std::numeric_limits<float>::infinity();
        for (std::size_t i = 0; i < size; ++i)
            if ((all || values[i] > above) && values[i] <= most)
                out.push_back({values[i], static_cast<std::int32_t>(first + i)});
    }

    // Whether more coordinates exclude the row at a place.
    bool far(std::size_t i, double length, std::size_t place) const {
        const std::size_t R2 = padded(f_.r2);
        const float bound = long_bound<norm>(f_.more + place * R2, p_.more + i * R2, R2);
        return static_cast<double>(bound) >
               widened(length + p_.more_errors[i] + f_.more_errors[place], f_.r2);
    }

    // Drops what more coordinates exclude; memory is asked for some rows ahead of its use.
    void keep_near(std::size_t i, double length, float most, std::vector<Survivor>& found) {
        const std::size_t R2 = padded(f_.r2);
        auto fetch = [&](std::size_t s) {
            const float* row = f_.more + std::min<std::size_t>(found[s].place, f_.n - 1) * R2;
            for (std::size_t j = 0; j < R2; j += 16) __builtin_prefetch(row + j);
        };
        for (std::size_t s = 0; s < std::min<std::size_t>(found.size(), kAhead); ++s) fetch(s);
        std::size_t kept = 0;
        for (std::size_t s = 0; s < found.size(); ++s) {
            if (s + kAhead < found.size()) fetch(s + kAhead);
            const auto place = static_cast<std::size_t>(found[s].place);
            if (place >= f_.n || found[s].bound > most || far(i, length, place)) continue;
            const char* row = reinterpret_cast<const char*>(rows_[f_.order[place]].x);
            for (std::size_t j = 0; j < std::min<std::size_t>(rows_.d * sizeof(T), 1024); j += 64)
                __builtin_prefetch(row + j);
            found[kept++] = found[s];
        }
        found.resize(kept);
    }

    void refine(std::size_t a, std::size_t c, std::vector<Survivor>& found) {
        const auto i = static_cast<std::size_t>(members_[a]);
        NeighborList& list = lists_[i];
        // The most promising first, until the list is full and gives a limit.
        const std::size_t first = std::min(list.missing(), found.size());
        std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(first), found.end(),
                          [](const Survivor& s, const Survivor& t) { return nan_last(s.bound, t.bound); });
        const Query query = queries_.at(i, rows_.d);
        const double at_first = list.limit();
        double known = at_first, length = reach(a);
        float most = limit(a, c);
        if (f_.r2) keep_near(i, length, most, found);
        for (std::size_t s = 0; s < found.size(); ++s) {
            const auto place = static_cast<std::size_t>(found[s].place);
            if (place >= f_.n || found[s].bound > most) continue;
            if (f_.r2 && known != at_first && far(i, length, place)) continue;
            const auto row = static_cast<std::size_t>(f_.order[place]);
            if (rows_.groups && rows_.groups[row] == queries_.groups[i]) continue;
            list.add(measure_(rows_[row], query, list.limit()), static_cast<std::int64_t>(row));
            if (list.limit() != known) {
                known = list.limit();
                length = reach(a);
                most = limit(a, c);
            }
        }
        found.clear();
    }

    const Filter& f_;
    const Probes& p_;
    const Rows<T>& rows_;
    const Queries& queries_;
    const Measure& measure_;
    NeighborList* lists_;
    const std::int64_t* members_ = nullptr;
    std::vector<float> boxes_, values_, words_;
    std::vector<double> moved_;  // how far queries were moved when they were rounded
    std::vector<Probe> probes_;
    std::vector<std::size_t> seeds_;
    std::vector<std::vector<Survivor>> survivors_;
};

}  // namespace nearline::neighbors
