// The metrics, one struct each: terms of the features (map), how they are joined, and the distance of the sum
// (project). What a struct does not say of itself, MetricTraits says: nothing is taken from another metric.
#pragma once

#include <limits>
#include <tuple>

#include "neighbor_sums.hpp"

namespace nearline::neighbors {

// What a sum is projected with: the sizes of both rows, and the number of features.
struct Ends {
    double row, query;
    std::size_t d;
};

struct MetricTraits {
    using Join = Plus;
    static constexpr bool sized = false;       // whether `project` reads the sizes of rows
    static constexpr bool mapped = false;      // whether a matrix maps the differences first; dense rows only
    static constexpr bool products = false;    // whether map(a, 0) = 0: what the query lacks changes nothing
    static constexpr bool bounded = false;     // whether `least` bounds the distance from sums of `shared`
    static constexpr bool multiplies = false;  // whether those sums are inner products
    static constexpr bool powers = false;      // whether sums out of range are taken again: see measured()
    static constexpr bool whole = false;       // whether `bytes` measures whole numbers
    static constexpr bool counts = false;      // whether terms are 0 or 1, of bytes too

    explicit MetricTraits(const Measure&) {}
    // The size of a row alone: size(sum of own(x_j)).
    template <class V>
    NL_INLINE V own(V a) const {
        return a * a;
    }
    double size(double sum) const { return std::sqrt(sum); }
    // Sums above it are of distances above the limit.
    double above(double) const { return std::numeric_limits<double>::infinity(); }
};

// A number that no square root below or at `limit` comes from, even with its rounding.
inline double square_above(double limit) {
    const double s = limit * limit;
    return s + 1e-15 * s;
}

// What rounding may have done to products of rows with d features, relative to their lengths.
inline double product_rounding(std::size_t d) { return static_cast<double>(d + 64) * 0x1p-52; }

constexpr double kLost = 1e-300;  // more than the products of any row lose where they vanish

// -- of differences ------------------------------------------------------------------------------------

struct Squares : MetricTraits {
    using MetricTraits::MetricTraits;
    static constexpr bool whole = true, multiplies = true;

    template <class V>
    NL_INLINE V map(V a, V b) const {
        return power(a - b);
    }
    static double shared(double a, double b) { return a * b; }
    template <class V>
    NL_INLINE V power(V e) const {
        return e * e;
    }
    // Whole numbers: exact, so the order does not matter, and the compiler has instructions for it.
    static double bytes(const std::uint8_t* x, const std::uint8_t* q, std::size_t d, double) {
        std::uint64_t total = 0;
        for (std::size_t j = 0; j < d;) {
            const std::size_t stop = std::min(d, j + 4096);
            std::int32_t part = 0;
            for (; j < stop; ++j) {
                const auto e = static_cast<std::int16_t>(static_cast<std::int16_t>(x[j]) -
                                                         static_cast<std::int16_t>(q[j]));
                part += static_cast<std::int32_t>(e) * e;
            }
            total += static_cast<std::uint32_t>(part);
        }
        return static_cast<double>(total);
    }
    // From the inner product p, known within rounding: |x|^2 + |q|^2 - 2 p.
    static double least_square(double p, const Ends& ends) {
        const double squares = ends.query * ends.query + ends.row * ends.row;
        return std::max(squares - 2.0 * p - 4.0 * product_rounding(ends.d) * squares - kLost, 0.0);
    }
};

struct L2 : Squares {
    using Squares::Squares;
    static constexpr const char* name = "l2";
    static constexpr bool powers = true, bounded = true;

    double project(double sum, const Ends&) const { return std::sqrt(sum); }
    double above(double limit) const { return square_above(limit); }
    double least(double p, const Ends& ends) const { return std::sqrt(least_square(p, ends)); }
};

struct SquaredL2 : Squares {
    using Squares::Squares;
    static constexpr const char* name = "squared_l2";
    static constexpr bool bounded = true;

    double project(double sum, const Ends&) const { return sum; }
    double above(double limit) const { return limit; }
    double least(double p, const Ends& ends) const { return least_square(p, ends); }
};

struct Mahalanobis : Squares {
    using Squares::Squares;
    static constexpr const char* name = "mahalanobis";
    static constexpr bool mapped = true, whole = false;

    double project(double sum, const Ends&) const { return std::sqrt(sum); }
    double above(double limit) const { return square_above(limit); }
};

struct Magnitudes : MetricTraits {
    using MetricTraits::MetricTraits;
    static constexpr bool whole = true;

    template <class V>
    NL_INLINE V map(V a, V b) const {
        return size_of(a - b);
    }
    double project(double sum, const Ends&) const { return sum; }
    double above(double limit) const { return limit; }
};

struct L1 : Magnitudes {
    using Magnitudes::Magnitudes;
    static constexpr const char* name = "l1";
    static constexpr bool bounded = true;

    // |x - q| = |x| + |q| less what they share, feature by feature.
    template <class V>
    NL_INLINE V own(V a) const {
        return size_of(a);
    }
    double size(double sum) const { return sum; }
    double shared(double a, double b) const { return own(a) + own(b) - map(a, b); }
    double least(double p, const Ends& ends) const {
        const double sizes = ends.row + ends.query;
        return sizes - p - 4.0 * product_rounding(ends.d) * sizes;
    }
    static double bytes(const std::uint8_t* x, const std::uint8_t* q, std::size_t d, double limit) {
        std::uint64_t total = 0;
        for (std::size_t j = 0; j < d;) {
            const std::size_t stop = std::min(d, j + 256);
            std::uint32_t part = 0;
            for (; j < stop; ++j) {
                const int e = static_cast<int>(x[j]) - static_cast<int>(q[j]);
                part += static_cast<std::uint32_t>(e < 0 ? -e : e);
            }
            total += part;
            if (static_cast<double>(total) > limit) break;
        }
        return static_cast<double>(total);
    }
};

struct LInfinity : Magnitudes {
    using Magnitudes::Magnitudes;
    using Join = Max;
    static constexpr const char* name = "l_infinity";

    static double bytes(const std::uint8_t* x, const std::uint8_t* q, std::size_t d, double limit) {
        std::uint8_t most = 0;
        for (std::size_t j = 0; j < d;) {
            const std::size_t stop = std::min(d, j + 128);
            for (; j < stop; ++j) {
                const std::uint8_t a = x[j], b = q[j];
                const auto e = static_cast<std::uint8_t>(a > b ? a - b : b - a);
                most = e > most ? e : most;
            }
            if (static_cast<double>(most) > limit) break;
        }
        return static_cast<double>(most);
    }
};

struct Lq : MetricTraits {
    explicit Lq(const Measure& measure) : MetricTraits(measure), q(measure.q) {}
    static constexpr const char* name = "lq";
    static constexpr bool powers = true;
    double q;

    template <class V>
    NL_INLINE V map(V a, V b) const {
        return power(a - b);
    }
    NL_INLINE double power(double e) const { return std::pow(std::fabs(e), q); }
    NL_INLINE Four power(Four e) const {
        e = size_of(e);
        for (int l = 0; l < 4; ++l) e[l] = std::pow(e[l], q);
        return e;
    }
    double project(double sum, const Ends&) const { return std::pow(sum, 1.0 / q); }
};

// -- of products ---------------------------------------------------------------------------------------

struct Products : MetricTraits {
    using MetricTraits::MetricTraits;
    static constexpr bool products = true, bounded = true, multiplies = true;

    template <class V>
    NL_INLINE V map(V a, V b) const {
        return a * b;
    }
    static double shared(double a, double b) { return a * b; }
};

struct InnerProduct : Products {
    using Products::Products;
    static constexpr const char* name = "inner_product";

    double project(double sum, const Ends&) const { return 0.0 - sum; }
    double least(double p, const Ends& ends) const {
        const double sizes = (ends.query + kVanishing) * (ends.row + kVanishing);
        return -p - 2.0 * product_rounding(ends.d) * sizes - kLost;
    }
};

struct Cosine : Products {
    using Products::Products;
    static constexpr const char* name = "cosine";
    static constexpr bool sized = true;

    double project(double sum, const Ends& ends) const {
        const double sizes = ends.row * ends.query;
        if (!(sizes > 0)) return 1.0;  // of a zero row the cosine counts as 0
        const double grid = cosine_grid(ends.d), distance = std::nearbyint((1.0 - sum / sizes) / grid) * grid;
        return std::min(std::max(distance, 0.0), 2.0);
    }
    double least(double p, const Ends& ends) const {
        const double sizes = ends.query * ends.row;
        if (!(sizes > 0)) return 1.0;  // so is the distance
        if (std::min(ends.query, ends.row) < kVanishing) return -std::numeric_limits<double>::infinity();
        return 1.0 - p / sizes - 4.0 * product_rounding(ends.d) - cosine_grid(ends.d);
    }
};

// -- of features that are equal, or present ------------------------------------------------------------

// 1 where a condition of vectors or numbers holds.
template <class Condition>
NL_INLINE Four counted(Condition holds, Four) {
    return holds ? Four{1.0, 1.0, 1.0, 1.0} : Four{};
}
NL_INLINE double counted(bool holds, double) { return holds ? 1.0 : 0.0; }
NL_INLINE std::uint8_t counted(bool holds, std::uint8_t) { return holds; }

struct Hamming : MetricTraits {
    using MetricTraits::MetricTraits;
    static constexpr const char* name = "hamming";
    static constexpr bool counts = true, bounded = true;

    template <class V>
    NL_INLINE V map(V a, V b) const {
        return counted(a != b, a);
    }
    template <class V>
    NL_INLINE V own(V a) const {
        return counted(a != V{}, a);
    }
    double size(double sum) const { return sum; }  // how many features are not 0
    double shared(double a, double b) const { return own(a) + own(b) - map(a, b); }
    double least(double p, const Ends& ends) const { return project(ends.row + ends.query - p, ends); }
    double project(double sum, const Ends& ends) const {
        return ends.d ? sum / static_cast<double>(ends.d) : 0.0;
    }
};

struct Jaccard : MetricTraits {
    using MetricTraits::MetricTraits;
    static constexpr const char* name = "jaccard";
    static constexpr bool sized = true, products = true, counts = true, bounded = true;

    template <class V>
    NL_INLINE V map(V a, V b) const {
        return own(a) * own(b);
    }
    template <class V>
    NL_INLINE V own(V a) const {
        return counted(a != V{}, a);
    }
    double size(double sum) const { return sum; }  // how many features are present
    double shared(double a, double b) const { return map(a, b); }
    double least(double both, const Ends& ends) const { return project(both, ends); }
    double project(double both, const Ends& ends) const {
        const double either = ends.row + ends.query - both;
        return either == 0 ? 0.0 : (either - both) / either;
    }
};

// Whatever the core knows of a metric, it knows from its place in this list.
using Metrics =
    std::tuple<L1, L2, SquaredL2, LInfinity, Lq, Cosine, InnerProduct, Hamming, Jaccard, Mahalanobis>;

}  // namespace nearline::neighbors
