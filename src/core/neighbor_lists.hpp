// The neighbors of one query as they are found: the k nearest by (distance, index), and who else is as far as
// the last of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace nearline::neighbors {

struct Neighbor {
    double distance;
    std::int64_t index;
    bool operator<(const Neighbor& other) const {
        return distance < other.distance || (distance == other.distance && index < other.index);
    }
};

class NeighborList {
  public:
    // k nearest within a radius; the k-th distance so far is the limit once there are k. Of the rows that tie
    // with the last one, `most_ties` are kept: which, where there are more, is not said.
    NeighborList(std::size_t k, double radius, std::size_t most_ties)
        : k_(k), most_ties_(most_ties), limit_(radius) {}

    // What is above it is not wanted.
    double limit() const { return limit_; }
    // How many it takes to have k.
    std::size_t missing() const { return k_ - std::min(k_, best_.size()); }

    void add(double distance, std::int64_t index) {
        if (!(distance <= limit_)) return;
        const Neighbor found{distance, index};
        if (best_.size() < k_) {
            if (best_.empty()) best_.reserve(std::min(k_, kReserved));
            best_.push_back(found);
            if (heap_) std::push_heap(best_.begin(), best_.end());
            if (best_.size() == k_ && k_ < kUnlimited) {
                std::make_heap(best_.begin(), best_.end());
                heap_ = true;
                limit_ = best_.front().distance;
            }
            return;
        }
        if (!(found < best_.front())) {  // as far as the last: a tie, by a later row
            tie(index);
            return;
        }
        std::pop_heap(best_.begin(), best_.end());
        const Neighbor out = best_.back();
        best_.back() = found;
        std::push_heap(best_.begin(), best_.end());
        limit_ = best_.front().distance;
        if (out.distance > limit_)
            ties_.clear();
        else
            tie(out.index);
    }

    // In order; ties by index.
    void finish() {
        std::sort(best_.begin(), best_.end());
        sort_ties();
    }
    const std::vector<Neighbor>& best() const { return best_; }
    const std::vector<std::int64_t>& ties() const { return ties_; }

    static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

  private:
    static constexpr std::size_t kReserved = 64;  // places of a list that are made at once

    void tie(std::int64_t index) {
        if (ties_.size() < most_ties_) ties_.push_back(index);
    }

    // Many ties are a good part of all rows: a bit for each row sorts them faster than comparisons.
    void sort_ties() {
        constexpr std::size_t kFew = 64;
        if (std::is_sorted(ties_.begin(), ties_.end())) return;
        const auto rows = static_cast<std::size_t>(*std::max_element(ties_.begin(), ties_.end())) + 1;
        if (ties_.size() < kFew || rows > 64 * ties_.size()) return std::sort(ties_.begin(), ties_.end());
        std::vector<std::uint64_t> bits((rows + 63) / 64, 0);
        for (const std::int64_t index : ties_) bits[index / 64] |= std::uint64_t{1} << (index % 64);
        auto out = ties_.begin();
        for (std::size_t w = 0; w < bits.size(); ++w)
            for (std::uint64_t left = bits[w]; left; left &= left - 1)
                *out++ = static_cast<std::int64_t>(64 * w) + __builtin_ctzll(left);
    }

    std::size_t k_, most_ties_;
    double limit_;
    bool heap_ = false;
    std::vector<Neighbor> best_;
    std::vector<std::int64_t> ties_;
};

}  // namespace nearline::neighbors
