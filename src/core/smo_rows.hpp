// Rows of a Gram matrix restricted to the active rows of a problem, copied when they are first asked for.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace nearline {

template <class T>
class SmoRows {
  public:
    SmoRows(const T* K, std::size_t stride) : K_(K), stride_(stride) {}

    // From now on rows have the entries of these row numbers.
    void select(std::vector<std::int32_t> at) {
        at_ = std::move(at);
        runs_.clear();
        for (std::size_t t = 0; t < at_.size(); ++t) {
            if (t > 0 && at_[t] == at_[t - 1] + 1)
                ++runs_.back().second;
            else
                runs_.emplace_back(at_[t], 1);
        }
        forget();
    }

    // Row t; it stays where it is until the next call with begin = true.
    const T* get(std::ptrdiff_t t, bool begin) {
        if (runs_.size() == 1) return K_ + at_[t] * stride_ + runs_[0].first;
        if (begin && held_ + 2 * at_.size() * sizeof(T) > kMemory) forget();
        auto& copy = copies_[t];
        if (!copy) {
            copy.reset(new T[at_.size()]);
            held_ += at_.size() * sizeof(T);
            const T* row = K_ + at_[t] * stride_;
            T* to = copy.get();
            for (const auto& [start, length] : runs_) {
                if (length == 1)
                    *to = row[start];
                else
                    std::memcpy(to, row + start, length * sizeof(T));
                to += length;
            }
        }
        return copy.get();
    }

  private:
    static constexpr std::size_t kMemory = std::size_t{1} << 28;

    void forget() {
        copies_.clear();
        copies_.resize(at_.size());
        held_ = 0;
    }

    const T* K_;
    std::size_t stride_;
    std::vector<std::int32_t> at_;
    std::vector<std::pair<std::int32_t, std::int32_t>> runs_;  // consecutive row numbers: (first, how many)
    std::vector<std::unique_ptr<T[]>> copies_;
    std::size_t held_ = 0;
};

}  // namespace nearline
