// Sweeps of coordinate descent over the rows of the dual, in an order that the seed alone decides.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace nearline::dual {

struct Random {
    std::uint64_t state;
    std::uint32_t below(std::uint32_t n) {
        std::uint64_t z = (state += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return static_cast<std::uint32_t>((((z ^ (z >> 31)) >> 32) * n) >> 32);
    }
};

// Blocks of neighboring rows in random order: memory is read in stretches, and no order of the rows can do
// harm.
class Order {
  public:
    Order(std::size_t n_rows, std::size_t block)
        : n_rows_(n_rows), block_(block), blocks_((n_rows + block - 1) / block) {
        std::iota(blocks_.begin(), blocks_.end(), 0u);
    }
    void shuffle(std::uint64_t seed, std::uint64_t column, std::uint64_t epoch) {
        Random random{seed * 0xD1342543DE82EF95ull + column * 0xAF251AF3B0F025B5ull +
                      epoch * 0x2545F4914F6CDD1Dull};
        for (std::size_t i = blocks_.size(); i > 1; --i)
            std::swap(blocks_[i - 1], blocks_[random.below(static_cast<std::uint32_t>(i))]);
    }
    // visit(row, next row or the row itself)
    template <class Visit>
    void each(const Visit& visit) const {
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            const std::size_t begin = blocks_[b] * block_, end = std::min(begin + block_, n_rows_);
            for (std::size_t i = begin; i + 1 < end; ++i) visit(i, i + 1);
            visit(end - 1, b + 1 < blocks_.size() ? blocks_[b + 1] * block_ : end - 1);
        }
    }

  private:
    std::size_t n_rows_, block_;
    std::vector<std::uint32_t> blocks_;
};

// A row whose dual did not move rests for 1, 3, then 7 sweeps; one that moves is visited every time.
struct Rest {
    std::uint8_t left = 0, calm = 0;

    bool resting() {
        if (left == 0) return false;
        --left;
        return true;
    }
    void moved() { calm = 0; }
    void stayed() {
        calm = static_cast<std::uint8_t>(calm < 3 ? calm + 1 : 3);
        left = static_cast<std::uint8_t>((1u << calm) - 1);
    }
};

// What every sweep needs: W += step * (...) x and b += bias_step * (...) when a dual of weight s moves.
struct Shared {
    const std::int32_t* targets;
    const double* weights;
    const double* squares;  // |x_i|^2
    double step, bias_step;
};

// A smaller change of a dual than this is rounding.
constexpr double smallest_move = 1e-15;

// One sweep over one column of a margin loss; gives sum_i s_i excess_i as met on the way.
template <class Loss, class Rows, class Poll>
double sweep_column(const Rows& rows, const Shared& shared, std::int32_t positive, const Order& order,
                    double* masses, typename Rows::Weight* w, double& b, Rest* rests, const Poll& poll) {
    double total = 0;
    order.each([&](std::size_t i, std::size_t next) {
        if (rests[i].resting()) return;
        rows.prefetch(next);
        poll();
        const double s = shared.weights[i];
        if (s == 0) return;
        const double y = shared.targets[i] == positive ? 1 : -1, m = masses[i];
        const double z = y * (rows.dot(i, w) + b);
        total += s * Loss::excess(m, z);
        const double best = Loss::best(m, z, s * (shared.step * shared.squares[i] + shared.bias_step));
        if (std::fabs(best - m) <= smallest_move * best) {
            if (best == 0 || best == 1) rests[i].stayed();
            return;
        }
        rests[i].moved();
        masses[i] = best;
        rows.add(i, y * s * (best - m) * shared.step, w);
        b += y * s * (best - m) * shared.bias_step;
    });
    return total;
}

// The same for a joint loss of K classes.
template <class Loss, class Rows, class Poll>
double sweep_joint(const Rows& rows, const Shared& shared, std::size_t K, const Order& order, double* duals,
                   typename Rows::Weight* W, double* b, Rest* rests, const Poll& poll) {
    double total = 0;
    std::vector<double> buffer(2 * K);
    double *f = buffer.data(), *next_dual = f + K;
    order.each([&](std::size_t i, std::size_t next) {
        if (rests[i].resting()) return;
        rows.prefetch(next);
        poll();
        const double s = shared.weights[i];
        if (s == 0) return;
        const std::size_t y = static_cast<std::size_t>(shared.targets[i]);
        double* u = duals + i * K;
        rows.scores(i, W, K, f);
        for (std::size_t c = 0; c < K; ++c) f[c] += b[c];
        total += s * Loss::excess(u, f, y, K);
        if (!Loss::best(u, f, y, s * (shared.step * shared.squares[i] + shared.bias_step), K, next_dual)) {
            rests[i].stayed();
            return;
        }
        bool any = false;
        for (std::size_t c = 0; c < K; ++c) {
            const double change = next_dual[c] - u[c];
            const bool moves = std::fabs(change) > smallest_move;
            any |= moves;
            f[c] = moves ? change : 0;
        }
        if (!any) {
            rests[i].stayed();
            return;
        }
        rests[i].moved();
        for (std::size_t c = 0; c < K; ++c) {
            if (f[c] == 0) continue;
            u[c] = next_dual[c];
            b[c] -= s * shared.bias_step * f[c];
            f[c] *= -s * shared.step;
        }
        rows.add_classes(i, f, K, W);
    });
    return total;
}

}  // namespace nearline::dual
