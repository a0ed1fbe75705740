// An order of numbers that may be NaN: behind all others. Sorts leave their arrays where two numbers are
// neither below, nor above, nor equal.
#pragma once

namespace nearline {

template <class T>
bool nan_last(T a, T b) {
    return a < b || (b != b && a == a);
}

}  // namespace nearline
