// Vectors of the machine's own width (GCC and Clang vector extensions), and exp and log1p on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace nearline {

#if defined(__AVX512F__)
constexpr std::size_t kVectorBytes = 64;
#elif defined(__AVX__)
constexpr std::size_t kVectorBytes = 32;
#else
constexpr std::size_t kVectorBytes = 16;
#endif

#if defined(__AVX512F__)
#define NL_REGISTER "+v"  // one of all 32
#else
#define NL_REGISTER "+x"
#endif
#if defined(__x86_64__) || defined(__i386__)
#define NL_HOLD(v) \
    __asm__("" : NL_REGISTER(v))  // keep v in a register: the compiler would rather load it again
#elif defined(__aarch64__)
#define NL_HOLD(v) __asm__("" : "+w"(v))
#else
#define NL_HOLD(v) (void)(v)
#endif
#define NL_INLINE inline __attribute__((always_inline))

template <class T>
struct VectorOf {
    static constexpr std::size_t lanes = kVectorBytes / sizeof(T);
    typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using Vec = typename VectorOf<T>::type;
template <class T>
constexpr std::size_t kLanes = VectorOf<T>::lanes;

// Numbers as they lie in memory, at any address: compilers make one instruction of memcpy.
template <class T>
NL_INLINE Vec<T> load(const T* p) {
    Vec<T> v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

template <class T>
NL_INLINE void store(T* p, Vec<T> v) {
    std::memcpy(p, &v, sizeof v);
}

template <class T>
NL_INLINE Vec<T> fill(T value) {
    return value - Vec<T>{};
}

// Adds neighboring lanes of a and b: within each 16 bytes, float {a0+a2, b0+b2, a1+a3, b1+b3}, double {a0+a1,
// b0+b1}.
NL_INLINE Vec<float> fold(Vec<float> a, Vec<float> b) {
#if defined(__AVX512F__)
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
           __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
#elif defined(__AVX__)
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13) +
           __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
#else
    return __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
#endif
}

NL_INLINE Vec<double> fold(Vec<double> a, Vec<double> b) {
#if defined(__AVX512F__)
    return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
           __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
#elif defined(__AVX__)
    return __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
#else
    return __builtin_shufflevector(a, b, 0, 2) + __builtin_shufflevector(a, b, 1, 3);
#endif
}

// The sums over lanes of a few vectors (4 floats or 2 doubles: as many as 16 bytes hold), written to out.
template <class T>
NL_INLINE void lane_sums(const Vec<T>* v, T* out) {
    constexpr std::size_t count = 16 / sizeof(T);
    Vec<T> s;
    if constexpr (count == 4)
        s = fold(fold(v[0], v[2]), fold(v[1], v[3]));
    else
        s = fold(v[0], v[1]);
    typedef T Sixteen __attribute__((vector_size(16)));
    Sixteen parts[kVectorBytes / 16];
    std::memcpy(parts, &s, sizeof s);
    for (std::size_t half = kVectorBytes / 32; half; half /= 2)
        for (std::size_t i = 0; i < half; ++i) parts[i] += parts[i + half];
    std::memcpy(out, parts, 16);
}

// -- vectors of 32 bytes on every machine: what has one order of summation everywhere --------------------

// One AVX2 register, two SSE ones.
template <class T>
struct Pack {
    static constexpr std::size_t size = 32 / sizeof(T);
    typedef T type __attribute__((vector_size(32)));

    static NL_INLINE type load(const T* p) {
        type v;
        std::memcpy(&v, p, sizeof v);
        return v;
    }
    static NL_INLINE T sum(const type& v) {
        T total = 0;
        for (std::size_t k = 0; k < size; ++k) total += v[k];
        return total;
    }
};

using Four = Pack<double>::type;

NL_INLINE Four four(const double* p) { return Pack<double>::load(p); }
NL_INLINE Four four(const float* p) {
    typedef float Few __attribute__((vector_size(16)));
    Few v;
    std::memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, Four);
}
NL_INLINE Four four(const std::uint8_t* p) {
    return Four{static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2]),
                static_cast<double>(p[3])};
}
NL_INLINE void store_four(double* p, Four v) { std::memcpy(p, &v, sizeof v); }

NL_INLINE Four size_of_four(Four v) {
    typedef std::int64_t Bits __attribute__((vector_size(32)));
    return reinterpret_cast<Four>(reinterpret_cast<Bits>(v) & std::numeric_limits<std::int64_t>::max());
}

// -- comparisons of float32 -----------------------------------------------------------------------------

using Flags = Vec<std::int32_t>;

// A bit for each lane.
NL_INLINE std::uint32_t mask_of(Flags f) {
#if defined(__AVX512F__)
    return _mm512_movepi32_mask(reinterpret_cast<__m512i>(f));
#elif defined(__AVX2__)
    return static_cast<std::uint32_t>(__builtin_ia32_movmskps256(reinterpret_cast<Vec<float> >(f)));
#else
    std::uint32_t mask = 0;
    for (std::size_t l = 0; l < kLanes<float>; ++l) mask |= static_cast<std::uint32_t>(f[l] != 0) << l;
    return mask;
#endif
}

NL_INLINE Vec<float> magnitude(Vec<float> v) {
    Flags bits;
    std::memcpy(&bits, &v, sizeof bits);
    bits &= 0x7fffffff;
    std::memcpy(&v, &bits, sizeof v);
    return v;
}

// -- elementary functions on vectors of double ---------------------------------------------------------

using Reals = Vec<double>;
using Integers = Vec<std::int64_t>;  // also the type of comparisons of Reals
constexpr std::size_t kReals = kLanes<double>;

// As many numbers as Reals holds, of either width, as Reals and back.
template <class T>
NL_INLINE Reals reals_of(const T* p) {
    if constexpr (sizeof(T) == sizeof(double)) {
        return load(p);
    } else {
        typedef float Few __attribute__((vector_size(kVectorBytes / 2)));
        Few v;
        std::memcpy(&v, p, sizeof v);
        return __builtin_convertvector(v, Reals);
    }
}

template <class T>
NL_INLINE void store_reals(T* p, Reals v) {
    if constexpr (sizeof(T) == sizeof(double)) {
        store(p, v);
    } else {
        typedef float Few __attribute__((vector_size(kVectorBytes / 2)));
        const Few few = __builtin_convertvector(v, Few);
        std::memcpy(p, &few, sizeof few);
    }
}

NL_INLINE Integers bits_of(Reals x) {
    Integers i;
    std::memcpy(&i, &x, sizeof i);
    return i;
}

NL_INLINE Reals from_bits(Integers i) {
    Reals x;
    std::memcpy(&x, &i, sizeof x);
    return x;
}

// NaN in the first argument stays NaN.
NL_INLINE Reals max(Reals a, Reals b) { return b > a ? b : a; }
NL_INLINE Reals min(Reals a, Reals b) { return b < a ? b : a; }
NL_INLINE Reals magnitude(Reals x) {
    return from_bits(bits_of(x) & std::numeric_limits<std::int64_t>::max());
}

// ln 2 in two parts: the first has 32 bits, so that small multiples of it are exact.
constexpr double kLog2High = 0x1.62e42fee00000p-1;
constexpr double kLog2Low = 0x1.a39ef35793c76p-33;

// exp(x) for x <= 0: x = k ln 2 + r with |r| <= ln(2)/2, then the Taylor polynomial of degree 13 (error below
// 1e-17), then 2^k through the exponent's bits. Below -708 the result is 0; NaN stays NaN.
NL_INLINE Reals exp_of_nonpositive(Reals x) {
    constexpr double smallest = -708.0;
    constexpr double round_to_integer = 0x1.8p52;  // adding it leaves the nearest integer in the lowest bits
    const Reals inside = max(x, fill(smallest));
    const Reals shifted = inside * 0x1.71547652b82fep+0 + round_to_integer;
    const Reals k = shifted - round_to_integer;
    const Reals r = (inside - k * kLog2High) - k * kLog2Low;
    Reals p = fill(1.0 / 6227020800.0);
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const Reals scaled = from_bits(bits_of(p) + (bits_of(shifted) << 52));
    const Reals result = x < smallest ? fill(0.0) : scaled;
    return x == x ? result : x;
}

// log(1 + x) for x >= 0: 1 + x = 2^k m with m in [sqrt(1/2), sqrt(2)), log m = 2 atanh(s), s = (m - 1)/(m +
// 1), by its power series; what 1 + x lost in rounding is added to first order. Infinity and NaN stay what
// they are.
NL_INLINE Reals log1p_of_nonnegative(Reals x) {
    typedef std::uint64_t Unsigned __attribute__((vector_size(kVectorBytes)));
    constexpr std::int64_t root_half = 0x3fe6a09e667f3bcd;  // bits of sqrt(1/2)
    constexpr std::int64_t two_to_52 = 0x4330000000000000;  // bits of 2^52
    const Reals u = 1.0 + x;
    const Integers exponent = (Integers)(((Unsigned)(bits_of(u) - root_half)) >> 52);
    const Reals m = from_bits(bits_of(u) - (exponent << 52));
    const Reals k = from_bits(exponent | two_to_52) - 0x1p52;
    const Reals s = (m - 1.0) / (m + 1.0);
    const Reals z = s * s;
    Reals p = fill(2.0 / 23.0);
    p = p * z + 2.0 / 21.0;
    p = p * z + 2.0 / 19.0;
    p = p * z + 2.0 / 17.0;
    p = p * z + 2.0 / 15.0;
    p = p * z + 2.0 / 13.0;
    p = p * z + 2.0 / 11.0;
    p = p * z + 2.0 / 9.0;
    p = p * z + 2.0 / 7.0;
    p = p * z + 2.0 / 5.0;
    p = p * z + 2.0 / 3.0;
    const Reals lost = (x - (u - 1.0)) / u;
    const Reals result = k * kLog2High + ((s * z * p + (k * kLog2Low + lost)) + 2.0 * s);
    return x <= std::numeric_limits<double>::max() ? result : x;
}

}  // namespace nearline
