// parallel_for: run tasks 0 .. n-1 on a few threads. What a task computes may depend on its number alone,
// never on the thread that runs it; results are combined by the caller in task order, so they do not depend
// on the number of threads. Threads live for one call only: nothing survives a fork, nothing has to be shut
// down. Where the machine refuses a thread (limits of a container), those that there are do all the tasks.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace nearline {

inline std::atomic<int> thread_limit{1};  // set from Python (nearline.set_num_threads)

// Called now and then by the thread that entered the core: raises KeyboardInterrupt if the user pressed
// Ctrl-C.
void check_interrupt();

// Operations below which a job is not worth a thread: starting and joining one takes as long as some 1e5 of
// them on an idle machine, and many times that where other work has to make room for it.
constexpr double kWorthThreads = 2e6;

// work: rough number of arithmetic operations in all; small jobs are not worth a thread.
template <class Task>
void parallel_for(std::size_t n_tasks, double work, const Task& task) {
    std::size_t n_threads = work < kWorthThreads ? 1 : static_cast<std::size_t>(thread_limit.load());
    if (n_threads > n_tasks) n_threads = n_tasks;
    std::atomic<std::size_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr error;
    std::mutex error_mutex;
    auto run = [&](bool entered_from_python) {
        try {
            for (std::size_t i;
                 !failed.load(std::memory_order_relaxed) && (i = next.fetch_add(1)) < n_tasks;) {
                task(i);
                if (entered_from_python) check_interrupt();
            }
        } catch (...) {
            std::lock_guard<std::mutex> lock(error_mutex);
            if (!error) error = std::current_exception();
            failed.store(true);
        }
    };
    std::vector<std::thread> threads;
    try {
        for (std::size_t t = 1; t < n_threads; ++t) threads.emplace_back(run, false);
    } catch (const std::exception&) {  // no thread, or no memory for one: the others go on
    }
    run(true);
    for (auto& thread : threads) thread.join();
    if (error) std::rethrow_exception(error);
}

// Lets a long loop end early: Ctrl-C is noticed by the thread that came from Python, and told to the others.
class Watch {
  public:
    // work: operations done since the last call. False: give up, the result is not wanted any more.
    bool go_on(double& work) {
        if (work < 1e6) return true;
        work = 0.0;
        if (std::this_thread::get_id() == caller_) {
            try {
                check_interrupt();
            } catch (...) {
                stopped_.store(true);
                throw;
            }
        }
        return !stopped_.load(std::memory_order_relaxed);
    }

  private:
    std::thread::id caller_ = std::this_thread::get_id();
    std::atomic<bool> stopped_{false};
};

}  // namespace nearline
