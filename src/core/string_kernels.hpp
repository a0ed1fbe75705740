// The gap-weighted subsequence kernel (Lodhi et al. 2002) of many pairs of strings, one pair a vector lane.
//
// Let M_p(i, j) be the weight of all common subsequences of p symbols that end with s_i = t_j, and
// S_p(i, j) = sum_{i' <= i, j' <= j} decay^(i - i' + j - j') M_p(i', j'). Then M_1 = decay^2 at matches,
// M_{p+1}(i, j) = decay^2 S_p(i - 1, j - 1) at matches, and k = sum_ij M_length(i, j).
//
// Symbols that the other string does not have never match: they are left out before, and their places live on
// in the powers of decay between those that stay. All sums are of positive numbers, nothing cancels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "kernel_pairs.hpp"
#include "simd.hpp"

namespace nearline {

// Powers of decay below 1e-308 are worth nothing, but cost a hundred times the time of other numbers.
class FlushTinyToZero {
  public:
#if defined(__SSE2__)
    FlushTinyToZero() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
    ~FlushTinyToZero() { _mm_setcsr(before_); }

  private:
    unsigned before_;
#endif
};

struct Strings {
    const std::int32_t* symbols;  // numbers 0 .. alphabet - 1
    const std::int64_t* starts;
    std::size_t alphabet;

    const std::int32_t* begin(std::size_t i) const { return symbols + starts[i]; }
    const std::int32_t* end(std::size_t i) const { return symbols + starts[i + 1]; }
};

// Strings without the symbols that the other one of a pair lacks, and where in their string the others stand.
struct Kept {
    std::vector<std::int32_t> symbol, place;
    std::size_t used = 0;

    // Returns how many symbols were kept.
    template <class Wanted>
    std::size_t add(const std::int32_t* begin, const std::int32_t* end, const Wanted& wanted) {
        const auto n = static_cast<std::size_t>(end - begin), before = used;
        if (symbol.size() < used + n) {
            symbol.resize(2 * (used + n));
            place.resize(2 * (used + n));
        }
        for (std::size_t i = 0; i < n; ++i) {  // without branches, which could not be foreseen
            symbol[used] = begin[i];
            place[used] = static_cast<std::int32_t>(i);
            used += wanted(begin[i]) ? 1 : 0;
        }
        return used - before;
    }
};

// One of the two strings of each lane, symbol by symbol; shorter ones are filled up with a symbol that
// matches none.
struct Lanes {
    std::vector<Integers> symbol;
    std::vector<Reals> decay;  // since the symbol before
    std::size_t length = 0;

    void reset(std::size_t n, std::int64_t filler) {
        length = n;
        if (symbol.size() < n) {
            symbol.resize(n);
            decay.resize(n);
        }
        for (std::size_t i = 0; i < n; ++i) {
            symbol[i] = filler - Integers{};
            decay[i] = fill(1.0);
        }
    }

    void set(std::size_t lane, const Kept& kept, std::size_t from, std::size_t count, const double* powers) {
        std::int32_t last = count ? kept.place[from] : 0;
        for (std::size_t i = 0; i < count; ++i) {
            symbol[i][lane] = kept.symbol[from + i];
            decay[i][lane] = powers[kept.place[from + i] - last];
            last = kept.place[from + i];
        }
    }
};

class Subsequences {
  public:
    static constexpr std::size_t kUnrolled = 6;                    // lengths with code of their own
    static constexpr std::size_t kSymbols = std::size_t{1} << 18;  // kept at most before work on them begins

    Subsequences(const Strings& strings, std::size_t length, const std::vector<double>& powers, Watch& watch)
        : strings_(strings),
          length_(length),
          powers_(powers.data()),
          watch_(watch),
          in_first_(strings.alphabet, 0),
          in_second_(strings.alphabet, 0) {}

    // False: the user does not want the result any more.
    bool add(const Pair& pair) {
        const std::uint64_t mark = ++mark_;
        const std::int32_t *s = strings_.begin(pair.first), *s_end = strings_.end(pair.first),
                           *t = strings_.begin(pair.second), *t_end = strings_.end(pair.second);
        if (first_ != pair.first || first_mark_ == 0) {
            first_ = pair.first;
            first_mark_ = mark;
            for (const std::int32_t* at = s; at < s_end; ++at) in_first_[*at] = mark;
        }
        for (const std::int32_t* at = t; at < t_end; ++at) in_second_[*at] = mark;
        Job job{pair, s_.used, 0, t_.used, 0};
        job.rows = s_.add(s, s_end, [&](std::int32_t c) { return in_second_[c] == mark; });
        job.columns = t_.add(t, t_end, [&](std::int32_t c) { return in_first_[c] == first_mark_; });
        if (std::min(job.rows, job.columns) < length_)
            *pair.value = 0.0;
        else
            jobs_.push_back(job);
        return s_.used + t_.used < kSymbols || flush();
    }

    bool flush() {
        const FlushTinyToZero flush_tiny;
        // strings of like length share a vector, so that little of it is filler
        std::sort(jobs_.begin(), jobs_.end(), [](const Job& a, const Job& b) {
            if (a.rows != b.rows) return a.rows < b.rows;
            return a.rows % 2 ? a.columns < b.columns : a.columns > b.columns;
        });
        bool going_on = true;
        for (std::size_t at = 0; going_on && at < jobs_.size(); at += kReals)
            going_on = solve(&jobs_[at], std::min(kReals, jobs_.size() - at));
        jobs_.clear();
        s_.used = t_.used = 0;
        return going_on;
    }

  private:
    struct Job {
        Pair pair;
        std::size_t s_from, rows, t_from, columns;
    };

    bool solve(const Job* jobs, std::size_t count) {
        std::size_t n_rows = 0, n_columns = 0;
        for (std::size_t lane = 0; lane < count; ++lane) {
            n_rows = std::max(n_rows, jobs[lane].rows);
            n_columns = std::max(n_columns, jobs[lane].columns);
        }
        rows_.reset(n_rows, -1);
        columns_.reset(n_columns, -2);
        for (std::size_t lane = 0; lane < count; ++lane) {
            rows_.set(lane, s_, jobs[lane].s_from, jobs[lane].rows, powers_);
            columns_.set(lane, t_, jobs[lane].t_from, jobs[lane].columns, powers_);
        }
        sums_.assign(n_columns * (length_ - 1), Reals{});
        Reals total{};
        if (!dispatch<1>(total)) return false;
        for (std::size_t lane = 0; lane < count; ++lane) *jobs[lane].pair.value = total[lane];
        return true;
    }

    template <std::size_t N>
    bool dispatch(Reals& total) {
        if (length_ == N)
            return each_row([&](const Row& row) { few(row, total, std::make_index_sequence<N - 1>{}); });
        if constexpr (N < kUnrolled) return dispatch<N + 1>(total);
        return each_row([&](const Row& row) { many(row, total); });
    }

    struct Row {
        Integers symbol;
        Reals decay;
        std::size_t n;
        const Integers* symbols;
        const Reals* decays;
        Reals* sums;  // S_p(i - 1, j) and then S_p(i, j), for each j all p
        Reals start;  // weight of a match alone
    };

    template <class Add>
    bool each_row(const Add& add) {
        const Reals start = fill(powers_[1] * powers_[1]);
        for (std::size_t i = 0; i < rows_.length; ++i) {
            add(Row{rows_.symbol[i], rows_.decay[i], columns_.length, columns_.symbol.data(),
                    columns_.decay.data(), sums_.data(), start});
            work_ += static_cast<double>(columns_.length * length_);
            if (!watch_.go_on(work_)) return false;
        }
        return true;
    }

    struct Level {
        Reals along{};   // sum_{j' <= j} decay^(j - j') M_p(i, j')
        Reals corner{};  // S_p(i - 1, j - 1)

        // Takes M_p(i, j), gives M_{p+1}(i, j).
        NL_INLINE Reals step(Reals M, Reals& S, Reals down, Reals right, Reals diagonal) {
            const Reals above = S;
            along = right * along + M;
            S = down * above + along;
            Reals next = diagonal * corner;
            NL_HOLD(next);  // else the product moves into the sum `along` of the next level, which all cells
                            // wait for
            corner = above;
            return next;
        }
    };

    // Levels in registers: their number must be known when this is compiled.
    template <std::size_t... P>
    static void few(const Row row, Reals& total, std::index_sequence<P...>) {
        constexpr std::size_t levels = sizeof...(P);
        Level level[levels + 1];
        Reals* S = row.sums;
        Reals sum{};
        for (std::size_t j = 0; j < row.n; ++j, S += levels) {
            const Integers match = row.symbol == row.symbols[j];
            const Reals right = row.decays[j];
            [[maybe_unused]] const Reals diagonal = from_bits(bits_of(row.decay * right) & match);
            Reals M = from_bits(bits_of(row.start) & match);
            ((M = level[P].step(M, S[P], row.decay, right, diagonal)), ...);
            sum += M;
        }
        total += sum;
    }

    void many(const Row row, Reals& total) {
        const std::size_t n_levels = length_ - 1;
        levels_.assign(n_levels, Level{});
        Reals* S = row.sums;
        Reals sum{};
        for (std::size_t j = 0; j < row.n; ++j, S += n_levels) {
            const Integers match = row.symbol == row.symbols[j];
            const Reals right = row.decays[j], diagonal = from_bits(bits_of(row.decay * right) & match);
            Reals M = from_bits(bits_of(row.start) & match);
            for (std::size_t p = 0; p < n_levels; ++p)
                M = levels_[p].step(M, S[p], row.decay, right, diagonal);
            sum += M;
        }
        total += sum;
    }

    Strings strings_;
    std::size_t length_;
    const double* powers_;
    Watch& watch_;
    double work_ = 0.0;
    std::vector<std::uint64_t> in_first_, in_second_;  // the mark of the pair that last had a symbol
    std::uint64_t mark_ = 0, first_mark_ = 0;
    std::size_t first_ = 0;
    Kept s_, t_;
    std::vector<Job> jobs_;
    Lanes rows_, columns_;
    std::vector<Reals> sums_;
    std::vector<Level> levels_;
};

inline void subsequence_kernel(const Strings& strings, const Pairs& pairs, std::size_t n, std::size_t length,
                               double decay, double work) {
    std::int64_t longest = 1;
    for (std::size_t i = 0; i < n; ++i)
        longest = std::max(longest, strings.starts[i + 1] - strings.starts[i]);
    std::vector<double> powers(static_cast<std::size_t>(longest) + 1);
    for (std::size_t g = 0; g < powers.size(); ++g) powers[g] = std::pow(decay, static_cast<double>(g));
    Watch watch;
    Pool<Subsequences> pool;
    parallel_for(pairs.n_tasks(), work, [&](std::size_t task) {
        auto kernel = pool.take([&] { return Subsequences(strings, length, powers, watch); });
        pairs.each(task, [&](const Pair& pair) { return kernel->add(pair); });
        kernel->flush();
        pool.give(std::move(kernel));
    });
    pairs.complete();
}

}  // namespace nearline
