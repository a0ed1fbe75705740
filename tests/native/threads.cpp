// The threaded paths of the core as a program, built and run by tools/sanitize.py under ThreadSanitizer: a
// data race is an error there. Each path runs on one thread and on four, and must give the same bits.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <vector>

#include "compressed.hpp"
#include "gram.hpp"
#include "kernel_entries.hpp"
#include "neighbor_search.hpp"
#include "neighbor_sparse.hpp"
#include "newton.hpp"
#include "pass_dense.hpp"
#include "pass_sparse.hpp"
#include "smo.hpp"
#include "string_kernels.hpp"

namespace nearline {
void check_interrupt() {}
}  // namespace nearline

namespace {

using namespace nearline;
using Numbers = std::vector<double>;

constexpr std::size_t kRows = 3000, kFeatures = 24, kClasses = 3;

Numbers random_numbers(std::size_t n) {
    Numbers out(n);
    std::uint64_t state = 7;
    for (double& x : out) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x = static_cast<double>(state >> 11) * 0x1p-53 - 0.5;
    }
    return out;
}

const Numbers X = random_numbers(kRows * kFeatures), W = random_numbers(kClasses * kFeatures),
              b(kClasses, 0.1);

std::vector<std::int32_t> classes() {
    std::vector<std::int32_t> out(kRows);
    for (std::size_t i = 0; i < kRows; ++i) out[i] = static_cast<std::int32_t>(i % kClasses);
    return out;
}

// Scores, losses and gradients in one pass; then the blocks of a Hessian.
Numbers passes() {
    const std::vector<std::int32_t> targets = classes();
    const Numbers weights(kRows, 1.0);
    GradientWork work(Rows{targets.data(), weights.data(), kRows, kClasses, &core_loss("softmax")});
    const PackedWeights<double> packed(W.data(), b.data(), kClasses, kFeatures);
    Numbers scores(kRows * kClasses), gradient(kClasses * kFeatures);
    const DenseRows<double> rows{X.data(), kRows, kFeatures};
    dense_pass<double>({rows, kClasses, &packed, &work, scores.data(), gradient.data()});
    gradient.push_back(work.sums.value());
    Numbers grams(2 * (kFeatures + 1) * (kFeatures + 1), 0.0), h = random_numbers(2 * kRows);
    add_weighted_grams(rows, h.data(), 2, grams.data());
    gradient.insert(gradient.end(), grams.begin(), grams.end());
    gradient.insert(gradient.end(), scores.begin(), scores.end());
    return gradient;
}

// Steps of Newton's method from zero, of separate and of joint scores.
Numbers newton_steps() {
    const std::vector<std::int32_t> targets = classes();
    const Numbers weights(kRows, 1.0), mean(kFeatures, 0.01);
    Numbers found;
    for (const char* loss : {"squared-hinge", "softmax"}) {
        const Rows rows{targets.data(), weights.data(), kRows, kClasses, &core_loss(loss)};
        const SmoothRisk<double> risk{{X.data(), kRows, kFeatures}, rows, mean.data(), 1e-3, 1.0 * kRows};
        Numbers params(risk.size(), 0.0), scores(kRows * kClasses), gradient(risk.size());
        double value = risk.at(params.data(), scores.data(), gradient.data());
        for (int k = 0; k < 4; ++k) {
            Numbers direction(risk.size()), next(risk.size()), next_gradient(risk.size());
            const TileSource at{nullptr, scores.data()};
            Numbers next_scores(scores.size());
            const NewtonStep<double> step(risk, params.data(), at, gradient.data(), value, 1e-14,
                                          direction.data(), next.data(), next_scores.data(),
                                          next_gradient.data());
            if (!step.good) break;
            params.swap(next);
            scores.swap(next_scores);
            gradient.swap(next_gradient);
            value = step.data_loss + step.penalty;
            found.push_back(value);
        }
        found.insert(found.end(), params.begin(), params.end());
    }
    return found;
}

struct Sparse {
    Numbers values;
    std::vector<std::int32_t> columns, starts{0};

    Sparse() {
        for (std::size_t i = 0; i < kRows; ++i) {
            for (std::size_t j = 0; j < kFeatures; ++j)
                if (X[i * kFeatures + j] > 0.1) {
                    values.push_back(X[i * kFeatures + j]);
                    columns.push_back(static_cast<std::int32_t>(j));
                }
            starts.push_back(static_cast<std::int32_t>(values.size()));
        }
    }
};

// By columns and back, products both ways, and the check of all indices.
Numbers sparse_passes() {
    const Sparse S;
    if (fault_of(S.starts.data(), kRows, S.columns.data(), S.columns.size(), kFeatures).fault != Fault::none)
        throw std::logic_error("a sound matrix was refused");
    const CsrRows<double, std::int32_t> rows{S.values.data(), S.columns.data(), S.starts.data(), kRows,
                                             kFeatures};
    Numbers values(S.values.size()), gradient(kClasses * kFeatures), other(gradient.size());
    std::vector<std::int32_t> places(S.values.size());
    std::vector<std::int64_t> starts(kFeatures + 1);
    csc_of_csr(rows, values.data(), places.data(), starts.data());
    const Numbers G = random_numbers(kRows * kClasses);
    SlicedTable<double> table(kRows, kClasses);
    table.fill_rows(0, kRows, [&](std::size_t c, std::size_t i) { return G[i * kClasses + c]; });
    sparse_back_product(CscColumns<double>{values.data(), places.data(), starts.data(), kRows, kFeatures},
                        table, gradient.data());
    sparse_scatter<double, std::int32_t>(rows, G.data(), kClasses, other.data());
    gradient.insert(gradient.end(), other.begin(), other.end());
    return gradient;
}

// Lists of neighbors, filled by several threads, each its own.
Numbers neighbors_of_rows() {
    using namespace nearline::neighbors;
    const Measure measure(metric_named("l2"), kFeatures);
    std::vector<NeighborList> lists(200, NeighborList(5, std::numeric_limits<double>::infinity(), 100));
    Watch watch;
    parallel_for(lists.size(), 1e9, [&](std::size_t a) {
        double work = 0.0;
        for (std::size_t i = 0; i < kRows; ++i) {
            const double distance = measure(Row<double>{X.data() + i * kFeatures, 0.0},
                                            Query{X.data() + a * kFeatures, nullptr, 0.0}, lists[a].limit());
            lists[a].add(distance, static_cast<std::int64_t>(i));
            work += 1e5;
            if (!watch.go_on(work)) return;
        }
        lists[a].finish();
    });
    Numbers out;
    for (const NeighborList& list : lists)
        for (const Neighbor& found : list.best()) out.push_back(found.distance);
    return out;
}

// Working memory that threads take from a pool and give back.
Numbers strings() {
    std::vector<std::int32_t> symbols;
    std::vector<std::int64_t> starts{0}, ranks;
    for (std::size_t i = 0; i < 60; ++i) {
        for (std::size_t k = 0; k < 30 + i % 7; ++k)
            symbols.push_back(static_cast<std::int32_t>((i * k + k) % 5));
        starts.push_back(static_cast<std::int64_t>(symbols.size()));
        ranks.push_back(static_cast<std::int64_t>(i));
    }
    Numbers out(60 * 60);
    const Pairs pairs(Kind::among, ranks.data(), 60, 60, out.data());
    subsequence_kernel(Strings{symbols.data(), starts.data(), 5}, pairs, 60, 3, 0.5, 1e9);
    return out;
}

// Several two-class problems over one Gram matrix.
Numbers machines() {
    constexpr std::size_t n = 200, problems = 4;
    Numbers K(n * n), norms(n), F, beta(problems * n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            for (std::size_t k = 0; k < kFeatures; ++k)
                K[i * n + j] += X[i * kFeatures + k] * X[j * kFeatures + k];
    for (std::size_t i = 0; i < n; ++i) norms[i] = K[i * n + i];
    gaussian_among(K.data(), norms.data(), n, 1.0);
    std::vector<std::int32_t> at(n);
    Numbers y(n), C(n, 1.0);
    for (std::size_t i = 0; i < n; ++i) at[i] = static_cast<std::int32_t>(i), y[i] = i % 2 ? 1.0 : -1.0;
    for (std::size_t q = 0; q < problems; ++q)
        for (double label : y) F.push_back(-label);
    Watch watch;
    parallel_for(problems, 1e9, [&](std::size_t q) {
        const SmoProblem<double> problem{K.data(),     n,        n, at.data(), y.data(), C.data(),
                                         &beta[q * n], &F[q * n]};
        Smo<double>(problem, 1e-3, 2000, true).run(watch);
    });
    return beta;
}

// An error of one task reaches the caller, whichever thread met it.
Numbers errors() {
    Numbers caught;
    try {
        parallel_for(1000, 1e9, [](std::size_t i) {
            if (i % 100 == 99) throw std::runtime_error("a task failed");
        });
    } catch (const std::runtime_error&) {
        caught.push_back(1.0);
    }
    return caught;
}

}  // namespace

int main() {
    const std::pair<const char*, std::function<Numbers()>> paths[] = {{"passes", passes},
                                                                      {"Newton steps", newton_steps},
                                                                      {"sparse passes", sparse_passes},
                                                                      {"neighbors", neighbors_of_rows},
                                                                      {"strings", strings},
                                                                      {"machines", machines},
                                                                      {"errors", errors}};
    for (const auto& [name, run] : paths) {
        thread_limit.store(1);
        const Numbers alone = run();
        thread_limit.store(4);
        if (alone.empty() || run() != alone) {
            std::printf("%s: another answer on four threads\n", name);
            return 1;
        }
        std::printf("%s: the same on four threads\n", name);
    }
    return 0;
}
