// Compressed matrices (CSR, CSC) as they come from outside: where each row begins, and the column of each
// entry. All other code follows these numbers without a look, so they are looked at here: every one of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "parallel.hpp"

namespace nearline {

enum class Fault { none, first_start, falling_start, last_start, index, order };

struct FaultAt {
    Fault fault;
    std::int64_t place, value;
};

constexpr std::size_t kChecked = std::size_t{1} << 15;  // numbers that are looked at before the next question

// Whether holds(begin, end) for all stretches of 0 .. n-1, each of which a thread looks at.
template <class Holds>
bool all_stretches(std::size_t n, const Holds& holds) {
    std::atomic<bool> all{true};
    parallel_for((n + kChecked - 1) / kChecked, static_cast<double>(n), [&](std::size_t t) {
        if (all.load(std::memory_order_relaxed) && !holds(t * kChecked, std::min(n, (t + 1) * kChecked)))
            all.store(false, std::memory_order_relaxed);
    });
    return all.load();
}

// Whether all numbers are 0 .. bound-1. Below 0 is above every bound, once the sign is a digit.
template <class Number>
bool all_below(const Number* numbers, std::size_t n, std::size_t bound) {
    using Digits = std::make_unsigned_t<Number>;
    constexpr auto largest = static_cast<std::size_t>(std::numeric_limits<Number>::max());
    if (bound == 0) return n == 0;
    const auto last = static_cast<Digits>(std::min(bound - 1, largest));
    return all_stretches(n, [&](std::size_t begin, std::size_t end) {
        Digits most = 0;
        for (std::size_t k = begin; k < end; ++k) most = std::max(most, static_cast<Digits>(numbers[k]));
        return most <= last;
    });
}

// Whether starts (n + 1,) begin with 0, never fall, and end at `size` or before.
template <class Start>
bool starts_rise(const Start* starts, std::size_t n, std::size_t size) {
    if (starts[0] != 0 || starts[n] < 0 || static_cast<std::size_t>(starts[n]) > size) return false;
    return all_stretches(n, [&](std::size_t begin, std::size_t end) {
        bool falls = false;
        for (std::size_t i = begin; i < end; ++i) falls |= starts[i + 1] < starts[i];
        return !falls;
    });
}

// Whether the columns of every row rise: sorted, none twice. The matrix must be without fault. Falls anywhere
// are as many as falls from one row to the next, unless there is one within a row.
template <class Start, class Index>
bool rows_rise(const Start* starts, std::size_t n, const Index* indices) {
    const auto used = static_cast<std::size_t>(starts[n]);
    std::atomic<std::int64_t> falls{0};
    parallel_for((used + kChecked - 1) / kChecked, static_cast<double>(used), [&](std::size_t t) {
        std::int64_t count = 0;
        const std::size_t end = std::min(used, (t + 1) * kChecked);
        for (std::size_t k = std::max<std::size_t>(t * kChecked, 1); k < end; ++k)
            count += indices[k] <= indices[k - 1];
        falls.fetch_add(count);
    });
    std::int64_t between = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto k = static_cast<std::size_t>(starts[i]);
        if (k > 0 && starts[i] < starts[i + 1]) between += indices[k] <= indices[k - 1];
    }
    return falls.load() == between;
}

// The first thing that is wrong with a compressed matrix of n rows; size: numbers in `indices`. Columns of a
// row that do not rise are no fault that could harm, and are asked for last.
template <class Start, class Index>
FaultAt fault_of(const Start* starts, std::size_t n, const Index* indices, std::size_t size,
                 std::size_t n_columns) {
    const auto found = [](Fault fault, std::size_t place, auto value) {
        return FaultAt{fault, static_cast<std::int64_t>(place), static_cast<std::int64_t>(value)};
    };
    if (starts[0] != 0) return found(Fault::first_start, 0, starts[0]);
    if (!starts_rise(starts, n, size)) {
        for (std::size_t i = 0; i < n; ++i)
            if (starts[i + 1] < starts[i]) return found(Fault::falling_start, i + 1, starts[i + 1]);
        return found(Fault::last_start, n, starts[n]);
    }
    const auto used = static_cast<std::size_t>(starts[n]);
    if (!all_below(indices, used, n_columns))
        for (std::size_t k = 0; k < used; ++k)
            if (indices[k] < 0 || static_cast<std::size_t>(indices[k]) >= n_columns)
                return found(Fault::index, k, indices[k]);
    if (!rows_rise(starts, n, indices))
        for (std::size_t i = 0; i < n; ++i)
            for (auto k = static_cast<std::size_t>(starts[i]) + 1;
                 k < static_cast<std::size_t>(starts[i + 1]); ++k)
                if (indices[k] <= indices[k - 1]) return found(Fault::order, k, indices[k]);
    return {Fault::none, 0, 0};
}

}  // namespace nearline
