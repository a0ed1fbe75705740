// Compiled with -ffp-contract=off: see neighbor_distance.hpp.
#include "neighbor_distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace nearline::neighbors {

namespace {

constexpr std::size_t kSums = 16, kChunk = 128;

typedef double Four __attribute__((vector_size(32)));
typedef double LooseFour __attribute__((vector_size(32), aligned(8), may_alias));
typedef float FourFloats __attribute__((vector_size(16), aligned(4), may_alias));
typedef std::uint8_t FourBytes __attribute__((vector_size(4), aligned(1), may_alias));
typedef std::int64_t Mask __attribute__((vector_size(32)));

inline Four read(const double* p) { return *reinterpret_cast<const LooseFour*>(p); }
inline Four read(const float* p) {
    return __builtin_convertvector(*reinterpret_cast<const FourFloats*>(p), Four);
}
inline Four read(const std::uint8_t* p) {
    return Four{static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2]),
                static_cast<double>(p[3])};
}

inline Four magnitude(Four v) {
    return reinterpret_cast<Four>(reinterpret_cast<Mask>(v) & std::numeric_limits<std::int64_t>::max());
}
inline Four larger(Four a, Four b) { return b > a ? b : a; }

struct Plus {
    static Four join(Four a, Four b) { return a + b; }
    static double join(double a, double b) { return a + b; }
};
struct Max {
    static Four join(Four a, Four b) { return larger(a, b); }
    static double join(double a, double b) { return b > a ? b : a; }
};

// The sixteen sums, four vectors of four.
struct Sums {
    Four s[4] = {};

    template <class Join>
    double total() const {
        const Four half0 = Join::join(s[0], s[2]), half1 = Join::join(s[1], s[3]);  // l and l + 8
        const Four quarter = Join::join(half0, half1);                              // l and l + 4
        return Join::join(Join::join(quarter[0], quarter[2]), Join::join(quarter[1], quarter[3]));
    }
};

// The sum of term(x_j, q_j) over all features. `enough(partial)` may end it early: partial sums only grow.
template <class Join, class T, class U, class Term, class Enough>
double sum(const T* x, const U* q, std::size_t d, const Term& term, const Enough& enough) {
    Sums sums;
    std::size_t j = 0;
    const std::size_t whole = d - d % kSums;
    while (j < whole) {
        const std::size_t stop = std::min(whole, j + kChunk);
        for (; j < stop; j += kSums)
            for (std::size_t v = 0; v < 4; ++v)
                sums.s[v] = Join::join(sums.s[v], term(read(x + j + 4 * v), read(q + j + 4 * v)));
        if (j < d) {
            const double partial = sums.template total<Join>();
            if (enough(partial)) return partial;
        }
    }
    for (std::size_t l = 0; j < d; ++j, ++l) {
        const Four a = {static_cast<double>(x[j])}, b = {static_cast<double>(q[j])};
        Four& at = sums.s[l / 4];
        at[l % 4] = Join::join(at[l % 4], term(a, b)[0]);
    }
    return sums.template total<Join>();
}

constexpr auto never = [](double) { return false; };

template <class T>
double squares(const T* x, const Query& query, std::size_t d, double limit) {
    return sum<Plus>(
        x, query.q, d,
        [](Four a, Four b) {
            const Four e = a - b;
            return e * e;
        },
        [limit](double partial) { return partial > limit; });
}

// Whole numbers: exact, so the order does not matter, and the compiler has instructions for it.
double squares(const std::uint8_t* x, const Query& query, std::size_t d, double limit) {
    if (!query.bytes) return squares<std::uint8_t>(x, query, d, limit);
    std::uint64_t total = 0;
    for (std::size_t j = 0; j < d;) {
        const std::size_t stop = std::min(d, j + 4096);
        std::int32_t part = 0;
        for (; j < stop; ++j) {
            const std::int16_t e =
                static_cast<std::int16_t>(x[j]) - static_cast<std::int16_t>(query.bytes[j]);
            part += static_cast<std::int32_t>(e) * e;
        }
        total += static_cast<std::uint32_t>(part);
    }
    return static_cast<double>(total);
}

template <class T>
double magnitudes(const T* x, const Query& query, std::size_t d, double limit) {
    return sum<Plus>(
        x, query.q, d, [](Four a, Four b) { return magnitude(a - b); },
        [limit](double partial) { return partial > limit; });
}

double magnitudes(const std::uint8_t* x, const Query& query, std::size_t d, double limit) {
    if (!query.bytes) return magnitudes<std::uint8_t>(x, query, d, limit);
    std::uint64_t total = 0;
    for (std::size_t j = 0; j < d;) {
        const std::size_t stop = std::min(d, j + 256);
        std::uint32_t part = 0;
        for (; j < stop; ++j) {
            const int e = static_cast<int>(x[j]) - static_cast<int>(query.bytes[j]);
            part += e < 0 ? -e : e;
        }
        total += part;
        if (static_cast<double>(total) > limit) break;
    }
    return static_cast<double>(total);
}

template <class T>
double largest(const T* x, const Query& query, std::size_t d, double limit) {
    return sum<Max>(
        x, query.q, d, [](Four a, Four b) { return magnitude(a - b); },
        [limit](double partial) { return partial > limit; });
}

double largest(const std::uint8_t* x, const Query& query, std::size_t d, double limit) {
    if (!query.bytes) return largest<std::uint8_t>(x, query, d, limit);
    std::uint8_t most = 0;
    for (std::size_t j = 0; j < d;) {
        const std::size_t stop = std::min(d, j + 128);
        for (; j < stop; ++j) {
            const std::uint8_t a = x[j], b = query.bytes[j], e = a > b ? a - b : b - a;
            most = e > most ? e : most;
        }
        if (static_cast<double>(most) > limit) break;
    }
    return static_cast<double>(most);
}

// Sums of powers between these have lost nothing to overflow, nor what counts to underflow.
constexpr double kLeastPowers = 1e-280, kMostPowers = 1e280;

bool in_range(double sum) { return sum >= kLeastPowers && sum <= kMostPowers; }

// The q-th root of the sum of powers of e / unit, times the unit: of powers(1), or where that is out of range
// of powers(the largest difference).
template <class Powers, class Largest>
double root_of_powers(double q, const Powers& powers, const Largest& largest) {
    const double plain = powers(1.0);
    if (in_range(plain)) return std::pow(plain, 1.0 / q);
    const double unit = largest();
    if (!(unit > 0) || std::isinf(unit)) return unit;
    return unit * std::pow(powers(unit), 1.0 / q);
}

// |x - q| of rows whose squares overflow or vanish, in units of the largest difference.
template <class T>
double scaled_root(const T* x, const Query& query, std::size_t d) {
    const double unit = largest<T>(x, query, d, std::numeric_limits<double>::infinity());
    if (!(unit > 0) || std::isinf(unit)) return unit;
    return unit * std::sqrt(sum<Plus>(
                      x, query.q, d,
                      [unit](Four a, Four b) {
                          const Four e = (a - b) / unit;
                          return e * e;
                      },
                      never));
}

template <class T>
double powers(const T* x, const Query& query, std::size_t d, double q) {
    const double infinity = std::numeric_limits<double>::infinity();
    return root_of_powers(
        q,
        [&](double unit) {
            return sum<Plus>(
                x, query.q, d,
                [q, unit](Four a, Four b) {
                    Four e = magnitude(a - b);
                    for (int l = 0; l < 4; ++l) e[l] = std::pow(e[l] / unit, q);
                    return e;
                },
                never);
        },
        [&] { return largest<T>(x, query, d, infinity); });
}

template <class T, class U>
double dot(const T* x, const U* q, std::size_t d) {
    return sum<Plus>(x, q, d, [](Four a, Four b) { return a * b; }, never);
}

// sum_l (A_l . e)^2 of the differences e = x - q.
template <class T>
double mapped_squares(const T* x, const Query& query, const Measure& measure, double limit) {
    thread_local std::vector<double> e;
    e.resize(measure.d);
    for (std::size_t j = 0; j < measure.d; ++j) e[j] = static_cast<double>(x[j]) - query.q[j];
    Sums sums;
    for (std::size_t l = 0; l < measure.rank; ++l) {
        const double z = dot(e.data(), measure.map + l * measure.d, measure.d);
        sums.s[l % kSums / 4][l % 4] += z * z;
        if (l % kSums == kSums - 1) {
            const double partial = sums.total<Plus>();
            if (partial > limit) return partial;
        }
    }
    return sums.total<Plus>();
}

// The distance of a cosine, on the grid.
double angular(double product, double sizes, std::size_t d) {
    if (!(sizes > 0)) return 1.0;  // of a zero row the cosine counts as 0
    const double grid = cosine_grid(d), distance = std::nearbyint((1.0 - product / sizes) / grid) * grid;
    return std::min(std::max(distance, 0.0), 2.0);
}

// How many features differ.
template <class T>
double differing(const T* x, const double* q, std::size_t d) {
    std::size_t count = 0;
    for (std::size_t j = 0; j < d; ++j) count += static_cast<double>(x[j]) != q[j];
    return static_cast<double>(count);
}

template <class T>
double jaccard(const T* x, const double* q, std::size_t d) {
    std::size_t either = 0, both = 0;
    for (std::size_t j = 0; j < d; ++j) {
        const bool a = x[j] != 0, b = q[j] != 0;
        either += a | b;
        both += a & b;
    }
    return either == 0 ? 0.0 : static_cast<double>(either - both) / static_cast<double>(either);
}

// The sixteen sums over the features that either of two sparse rows stores.
template <class Join, class T, class Term>
double sparse_sum(const SparseRow<T>& x, const SparseRow<double>& q, const Term& term) {
    double s[kSums] = {};
    std::size_t a = 0, b = 0;
    while (a < x.n || b < q.n) {
        const std::int32_t j =
            b == q.n || (a < x.n && x.features[a] <= q.features[b]) ? x.features[a] : q.features[b];
        const double left = a < x.n && x.features[a] == j ? static_cast<double>(x.values[a++]) : 0.0;
        const double right = b < q.n && q.features[b] == j ? q.values[b++] : 0.0;
        double& at = s[static_cast<std::size_t>(j) % kSums];
        at = Join::join(at, term(left, right));
    }
    for (std::size_t half = kSums / 2; half; half /= 2)
        for (std::size_t l = 0; l < half; ++l) s[l] = Join::join(s[l], s[l + half]);
    return s[0];
}

// A number that no square root below or at `limit` comes from, even with its rounding.
double square_above(double limit) {
    const double s = limit * limit;
    return s + 1e-15 * s;
}

}  // namespace

Metric metric_of(const std::string& name) {
    static const std::pair<const char*, Metric> names[] = {
        {"l2", Metric::l2},           {"squared-l2", Metric::squared_l2},
        {"l1", Metric::l1},           {"l-infinity", Metric::linf},
        {"lq", Metric::lq},           {"cosine", Metric::cosine},
        {"hamming", Metric::hamming}, {"inner-product", Metric::inner_product},
        {"jaccard", Metric::jaccard}, {"mahalanobis", Metric::mahalanobis}};
    for (const auto& [key, metric] : names)
        if (name == key) return metric;
    throw std::invalid_argument("unknown metric " + name);
}

double cosine_grid(std::size_t d) {
    double grid = 0x1p-40;
    for (std::size_t width = std::size_t{1} << 13; width != 0 && width < d; width *= 2) grid *= 2;
    return grid;
}

template <class T>
double Measure::operator()(const Row<T>& row, const Query& query, double limit) const {
    const T* x = row.x;
    switch (metric) {
        case Metric::l2: {
            const double square = squares(x, query, d, square_above(limit));
            return in_range(square) ? std::sqrt(square) : scaled_root(x, query, d);
        }
        case Metric::squared_l2:
            return squares(x, query, d, limit);
        case Metric::l1:
            return magnitudes(x, query, d, limit);
        case Metric::linf:
            return largest(x, query, d, limit);
        case Metric::lq:
            return powers(x, query, d, q);
        case Metric::cosine:
            return angular(dot(x, query.q, d), row.size * query.size, d);
        case Metric::inner_product:
            return 0.0 - dot(x, query.q, d);
        case Metric::hamming:
            return d ? differing(x, query.q, d) / static_cast<double>(d) : 0.0;
        case Metric::jaccard:
            return jaccard(x, query.q, d);
        case Metric::mahalanobis:
            return std::sqrt(mapped_squares(x, query, *this, square_above(limit)));
    }
    return 0.0;
}

template <class T>
double Measure::operator()(const SparseRow<T>& x, const SparseRow<double>& query) const {
    auto square = [](double a, double b) { return (a - b) * (a - b); };
    auto size = [](double a, double b) { return std::fabs(a - b); };
    auto times = [](double a, double b) { return a * b; };
    switch (metric) {
        case Metric::l2: {
            const double plain = sparse_sum<Plus>(x, query, square);
            if (in_range(plain)) return std::sqrt(plain);
            const double unit = sparse_sum<Max>(x, query, size);
            if (!(unit > 0) || std::isinf(unit)) return unit;
            return unit * std::sqrt(sparse_sum<Plus>(x, query, [unit](double a, double b) {
                       const double e = (a - b) / unit;
                       return e * e;
                   }));
        }
        case Metric::squared_l2:
            return sparse_sum<Plus>(x, query, square);
        case Metric::l1:
            return sparse_sum<Plus>(x, query, size);
        case Metric::linf:
            return sparse_sum<Max>(x, query, size);
        case Metric::lq:
            return root_of_powers(
                q,
                [&](double unit) {
                    return sparse_sum<Plus>(x, query, [this, unit](double a, double b) {
                        return std::pow(std::fabs(a - b) / unit, q);
                    });
                },
                [&] { return sparse_sum<Max>(x, query, size); });
        case Metric::cosine:
            return angular(sparse_sum<Plus>(x, query, times), x.size * query.size, d);
        case Metric::inner_product:
            return 0.0 - sparse_sum<Plus>(x, query, times);
        case Metric::hamming:
            return d ? sparse_sum<Plus>(x, query, [](double a, double b) { return a != b ? 1.0 : 0.0; }) /
                           static_cast<double>(d)
                     : 0.0;
        case Metric::jaccard: {
            const double either =
                sparse_sum<Plus>(x, query, [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; });
            const double both =
                sparse_sum<Plus>(x, query, [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; });
            return either == 0 ? 0.0 : (either - both) / either;
        }
        case Metric::mahalanobis:
            throw std::invalid_argument("Mahalanobis distances are of dense rows");
    }
    return 0.0;
}

template <class T>
double Measure::from_values(const SparseRow<T>& x, const double* values, double query_size) const {
    double s[kSums] = {};
    for (std::size_t a = 0; a < x.n; ++a) {
        const auto j = static_cast<std::size_t>(x.features[a]);
        s[j % kSums] += static_cast<double>(x.values[a]) * values[j];
    }
    for (std::size_t half = kSums / 2; half; half /= 2)
        for (std::size_t l = 0; l < half; ++l) s[l] += s[l + half];
    if (metric == Metric::inner_product) return 0.0 - s[0];
    return angular(s[0], x.size * query_size, d);
}

template <class T>
double Measure::length(const SparseRow<T>& row) const {
    const SparseRow<double> none{nullptr, nullptr, 0, 0.0};
    return std::sqrt(sparse_sum<Plus>(row, none, [](double a, double) { return a * a; }));
}

template <class T>
double Measure::length(const T* v) const {
    return std::sqrt(dot(v, v, d));
}

template double Measure::operator()(const Row<float>&, const Query&, double) const;
template double Measure::operator()(const Row<double>&, const Query&, double) const;
template double Measure::operator()(const Row<std::uint8_t>&, const Query&, double) const;
template double Measure::operator()(const SparseRow<float>&, const SparseRow<double>&) const;
template double Measure::operator()(const SparseRow<double>&, const SparseRow<double>&) const;
template double Measure::from_values(const SparseRow<float>&, const double*, double) const;
template double Measure::from_values(const SparseRow<double>&, const double*, double) const;
template double Measure::length(const SparseRow<float>&) const;
template double Measure::length(const SparseRow<double>&) const;
template double Measure::length(const float*) const;
template double Measure::length(const double*) const;
template double Measure::length(const std::uint8_t*) const;

}  // namespace nearline::neighbors
