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
    // k nearest within a radius; the k-th distance so far is the limit once there are k.
    NeighborList(std::size_t k, double radius) : k_(k), limit_(radius) {}

    // What is above it is not wanted.
    double limit() const { return limit_; }
    bool full() const { return best_.size() >= k_; }

    void add(double distance, std::int64_t index) {
        if (!(distance <= limit_)) return;
        const Neighbor found{distance, index};
        if (best_.size() < k_) {
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
            ties_.push_back(index);
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
            ties_.push_back(out.index);
    }

    // In order; ties by index.
    void finish() {
        std::sort(best_.begin(), best_.end());
        std::sort(ties_.begin(), ties_.end());
    }
    const std::vector<Neighbor>& best() const { return best_; }
    const std::vector<std::int64_t>& ties() const { return ties_; }

    static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

  private:
    std::size_t k_;
    double limit_;
    bool heap_ = false;
    std::vector<Neighbor> best_;
    std::vector<std::int64_t> ties_;
};

}  // namespace nearline::neighbors
