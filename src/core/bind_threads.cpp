#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "parallel.hpp"

// The same by plain symbols, for tools that set the number of threads of loaded libraries (threadpoolctl).
extern "C" {
__attribute__((visibility("default"))) void nearline_set_num_threads(int n) {
    nearline::thread_limit.store(n < 1 ? 1 : n);
}
__attribute__((visibility("default"))) int nearline_get_num_threads() {
    return nearline::thread_limit.load();
}
}

namespace nearline {

void check_interrupt() {
    using Clock = std::chrono::steady_clock;
    thread_local Clock::time_point last = Clock::now();
    const auto now = Clock::now();
    if (now - last < std::chrono::milliseconds(50)) return;
    last = now;
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void bind_threads(nb::module_& m) {
    m.def(
        "set_thread_limit", [](int n) { thread_limit.store(n < 1 ? 1 : n); }, nb::arg("n"),
        "Largest number of threads any kernel may use.");
    m.def("thread_limit", []() { return thread_limit.load(); });
    m.def(
        "instruction_sets",
        []() {
            std::vector<std::string> found;
#if defined(__x86_64__)
            // Registers that the operating system does not save count as absent.
            const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
            if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bf16"))
                found.emplace_back("avx512");
            if (avx2) found.emplace_back("avx2");
#endif
            found.emplace_back("portable");
            return found;
        },
        "Instruction sets of builds that this machine can run, the widest first.");
}

}  // namespace nearline
