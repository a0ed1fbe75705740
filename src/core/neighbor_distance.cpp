// Compiled with -ffp-contract=off: see neighbor_distance.hpp.
#include "neighbor_distance.hpp"

#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "neighbor_metrics.hpp"

namespace nearline::neighbors {

namespace {

// Sums of powers between these have lost nothing to overflow, nor what counts to underflow.
constexpr double kLeastPowers = 1e-280, kMostPowers = 1e280;

// The distance of a sum. Of metrics of powers, where it is out of range, the differences are divided by the
// largest of them before the power. again(Join, term): the sum of other terms.
template <class M, class Again>
double measured(const M& m, double sum, const Ends& ends, const Again& again) {
    if constexpr (M::powers) {
        if (sum >= kLeastPowers && sum <= kMostPowers) return m.project(sum, ends);
        const double unit = again(Max{}, [](auto a, auto b) { return size_of(a - b); });
        if (!(unit > 0) || std::isinf(unit)) return unit;
        return unit * m.project(again(Plus{}, [&](auto a, auto b) { return m.power((a - b) / unit); }), ends);
    } else {
        return m.project(sum, ends);
    }
}

// The sum of map(z_l, 0), z = A (x - q).
template <class M, class T>
double mapped_sum(const M& m, const T* x, const Query& query, const Measure& measure, double enough) {
    thread_local std::vector<double> e;
    e.resize(measure.d);
    for (std::size_t j = 0; j < measure.d; ++j) e[j] = static_cast<double>(x[j]) - query.q[j];
    const double never = std::numeric_limits<double>::infinity();
    Sums sums;
    for (std::size_t l = 0; l < measure.rank; ++l) {
        const double z = sum<Plus>(
            e.data(), measure.map + l * measure.d, measure.d, [](Four a, Four b) { return a * b; }, never);
        sums.s[l % kSums / 4][l % 4] += m.map(z, 0.0);
        if (l % kSums == kSums - 1) {
            const double partial = sums.total<Plus>();
            if (partial > enough) return partial;
        }
    }
    return sums.total<Plus>();
}

// Terms of bytes that are 0 or 1: exact, so the order does not matter.
template <class M>
double counted_bytes(const M& m, const std::uint8_t* x, const std::uint8_t* q, std::size_t d) {
    std::uint64_t total = 0;
    for (std::size_t j = 0; j < d;) {
        const std::size_t stop = std::min(d, j + 4096);
        std::uint32_t part = 0;
        for (; j < stop; ++j) part += m.map(x[j], q[j]);
        total += part;
    }
    return static_cast<double>(total);
}

template <class M, class T>
double dense(const Measure& measure, const Row<T>& row, const Query& query, double limit) {
    const M m(measure);
    const std::size_t d = measure.d;
    const double enough = m.above(limit);
    auto all = [&](auto join, const auto& term, double until) {
        return sum<decltype(join)>(row.x, query.q, d, term, until);
    };
    auto again = [&](auto join, const auto& term) {
        return all(join, term, std::numeric_limits<double>::infinity());
    };
    auto map = [&](Four a, Four b) { return m.map(a, b); };
    const Ends ends{row.size, query.size, d};
    if constexpr (M::mapped) return m.project(mapped_sum(m, row.x, query, measure, enough), ends);
    if constexpr (M::whole && sizeof(T) == 1)
        if (query.bytes) return measured(m, M::bytes(row.x, query.bytes, d, enough), ends, again);
    if constexpr (M::counts && sizeof(T) == 1)
        if (query.bytes) return m.project(counted_bytes(m, row.x, query.bytes, d), ends);
    return measured(m, all(typename M::Join{}, map, enough), ends, again);
}

template <class M, class T>
double sparse(const Measure& measure, const SparseRow<T>& x, const SparseRow<double>& query) {
    if constexpr (M::mapped) {
        throw std::invalid_argument("a metric that maps differences is of dense rows");
    } else {
        const M m(measure);
        auto again = [&](auto join, const auto& term) { return sparse_sum<decltype(join)>(x, query, term); };
        auto map = [&](double a, double b) { return m.map(a, b); };
        return measured(m, again(typename M::Join{}, map), {x.size, query.size, measure.d}, again);
    }
}

template <class M, class T>
double from_values(const Measure& measure, const SparseRow<T>& x, const double* values, double query_size) {
    const M m(measure);
    double s[kSums] = {};
    for (std::size_t a = 0; a < x.n; ++a) {
        const auto j = static_cast<std::size_t>(x.features[a]);
        s[j % kSums] = M::Join::join(s[j % kSums], m.map(static_cast<double>(x.values[a]), values[j]));
    }
    return m.project(joined<typename M::Join>(s), {x.size, query_size, measure.d});
}

template <class M, class T>
double dense_size(const Measure& measure, const T* v) {
    const M m(measure);
    return m.size(sum<Plus>(
        v, v, measure.d, [&](Four a, Four) { return m.own(a); }, std::numeric_limits<double>::infinity()));
}

template <class M, class T>
double sparse_size(const Measure& measure, const SparseRow<T>& row) {
    const M m(measure);
    const SparseRow<double> none{nullptr, nullptr, 0, 0.0};
    return m.size(sparse_sum<Plus>(row, none, [&](double a, double) { return m.own(a); }));
}

template <class M, class T>
void gather(const Measure& measure, const std::int32_t* rows, const T* values, std::size_t n, double q,
            double* shared) {
    const M m(measure);
    for (std::size_t p = 0; p < n; ++p) shared[rows[p]] += m.shared(static_cast<double>(values[p]), q);
}

template <class M>
void least(const Measure& measure, const double* sizes, std::size_t n, double query_size, double* shared) {
    const M m(measure);
    for (std::size_t i = 0; i < n; ++i) {
        const double bound = m.least(shared[i], {sizes[i], query_size, measure.d});
        shared[i] =
            bound == bound ? bound : -std::numeric_limits<double>::infinity();  // NaN excludes nothing
    }
}

template <class M>
constexpr MetricFunctions functions() {
    MetricFunctions f{M::name, M::sized, M::mapped, {}, {}, {}, {}, {}, {}, nullptr, M::multiplies};
    f.dense = {dense<M, float>, dense<M, double>, dense<M, std::uint8_t>};
    f.sparse = {sparse<M, float>, sparse<M, double>};
    f.dense_size = {dense_size<M, float>, dense_size<M, double>, dense_size<M, std::uint8_t>};
    f.sparse_size = {sparse_size<M, float>, sparse_size<M, double>};
    if constexpr (M::products) f.from_values = {from_values<M, float>, from_values<M, double>};
    if constexpr (M::bounded) {
        f.gather = {gather<M, float>, gather<M, double>};
        f.least = least<M>;
    }
    return f;
}

template <std::size_t... I>
std::array<MetricFunctions, sizeof...(I)> all_functions(std::index_sequence<I...>) {
    return {functions<std::tuple_element_t<I, Metrics>>()...};
}

constexpr std::size_t kMetrics = std::tuple_size_v<Metrics>;

}  // namespace

const MetricFunctions& functions_of(Metric metric) {
    static const auto table = all_functions(std::make_index_sequence<kMetrics>{});
    return table.at(static_cast<std::size_t>(metric));
}

std::size_t n_metrics() { return kMetrics; }

Metric metric_named(const std::string& name) {
    for (std::size_t i = 0; i < kMetrics; ++i)
        if (name == functions_of(static_cast<Metric>(i)).name) return static_cast<Metric>(i);
    throw std::invalid_argument("the core has no metric named '" + name + "'");
}

double cosine_grid(std::size_t d) {
    double grid = 0x1p-40;
    for (std::size_t width = std::size_t{1} << 13; width != 0 && width < d; width *= 2) grid *= 2;
    return grid;
}

}  // namespace nearline::neighbors
