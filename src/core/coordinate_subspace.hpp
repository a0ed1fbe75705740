// The moving weights' part of X, row by row, so that one pass gives X p, its product with the rows'
// curvature, and X^T of that: Newton's system on these weights can then be solved by conjugate gradients.
#pragma once

#include <memory>

#include "coordinate_columns.hpp"

namespace nearline {

struct Variable {
    Size output;  // score column
    Size column;  // of X
};

// Memory that a fit keeps from step to step (fresh pages cost more than what is written to them), perhaps
// none.
struct Workspace {
    Id* places;
    float* values;
    Size size;
};

template <class View>
class Subspace;

// Variables are the given weights and, with a free bias, one bias for each score column behind them.
class SubspaceBase {
  public:
    SubspaceBase(Size n_rows, Size n_outputs, const std::vector<Variable>& variables, bool bias,
                 bool parallel)
        : n_(n_rows),
          K_(n_outputs),
          size_(variables.size()),
          bias_(bias),
          parallel_(parallel),
          variables_(variables) {}

    Size size() const { return size_ + (bias_ ? K_ : 0); }

  protected:
    // Where score columns run side by side already, each of them stays on its thread.
    template <class Task>
    void run(Size n_tasks, double work, const Task& task) const {
        if (parallel_) return parallel_for(n_tasks, work, task);
        for (Size k = 0; k < n_tasks; ++k) task(k);
    }

    // z = sum of what the tasks(k, part, rows low .. high-1) add to their parts.
    template <class Task>
    void sum_over_rows(Size n_tasks, double work, double* z, const Task& task) const {
        std::vector<double> parts(n_tasks * size(), 0.0);
        run(n_tasks, work, [&](Size k) { task(k, parts.data() + k * size()); });
        std::fill(z, z + size(), 0.0);
        for (Size k = 0; k < n_tasks; ++k)
            for (Size j = 0; j < size(); ++j) z[j] += parts[k * size() + j];
    }

    void add_bias(const double* p, double* v) const {
        for (Size c = 0; bias_ && c < K_; ++c) v[c] += p[size_ + c];
    }

    Size n_, K_, size_;
    bool bias_, parallel_;
    std::vector<Variable> variables_;
};

template <class T>
class Subspace<SparseView<T>> : public SubspaceBase {
  public:
    // Entries are picked from the rows of X. Values are rounded to float: the system's solution is only a
    // direction.
    Subspace(const SparseView<T>& view, Size n_outputs, const std::vector<Variable>& variables, bool bias,
             bool parallel, const Workspace& workspace)
        : SubspaceBase(view.n_rows(), n_outputs, variables, bias, parallel),
          n_tasks_(std::clamp<Size>(n_ / 2048, 1, 8)),
          offsets_(n_tasks_ + 1, 0),
          ends_(n_) {
        // A feature's variables (one for each score column that moves it) are a chain: heads[j], links[head],
        // ...
        std::vector<Id> heads(view.n_columns, -1), links(size_, -1);
        std::vector<double> shifts(size_ + 1);
        for (Size v = size_; v-- > 0;) {
            links[v] = heads[variables[v].column];
            heads[variables[v].column] = static_cast<Id>(v);
            shifts[v + 1] = view.shift[variables[v].column];
        }
        const bool roomy = K_ == 1 && workspace.size >= view.row_starts[n_] + n_tasks_;
        for (Size k = 0; k < n_tasks_; ++k) {
            const Size low = first_row(k), high = first_row(k + 1);
            // One more, for what is written but not kept.
            offsets_[k + 1] = offsets_[k] + 1 +
                              (roomy ? view.row_starts[high] - view.row_starts[low]
                                     : count(view, low, high, heads.data(), links.data()));
        }
        if (!roomy) own_places_.reset(new Id[offsets_.back()]), own_values_.reset(new float[offsets_.back()]);
        places_ = roomy ? workspace.places : own_places_.get();
        values_ = roomy ? workspace.values : own_values_.get();
        run(n_tasks_, static_cast<double>(view.row_starts[n_]), [&](Size k) {
            Size to = offsets_[k];
            for (Size i = first_row(k); i < first_row(k + 1); ++i)
                ends_[i] = to = K_ == 1 ? pick(view, i, heads.data(), shifts.data(), to)
                                        : pick_chains(view, i, heads.data(), links.data(), shifts.data(), to);
        });
        for (Size k = 0; k < n_tasks_; ++k)
            work_ += 4.0 * static_cast<double>(ends_[first_row(k + 1) - 1] - offsets_[k]);
    }

    // row(i, v, t) turns the change v (K,) of a row's scores into its slope t (K,). z = sum_i x_i t_i.
    template <class Row>
    void product(const double* p, const Row& row, double* z) const {
        sum_over_rows(n_tasks_, work_, z, [&](Size k, double* part) {
            std::vector<double> v(K_), t(K_);
            Size start = offsets_[k];
            for (Size i = first_row(k); i < first_row(k + 1); start = ends_[i++]) {
                score(start, ends_[i], p, v.data());
                row(i, v.data(), t.data());
                for (Size e = start; e < ends_[i]; ++e)
                    part[places_[e]] += values_[e] * t[K_ == 1 ? 0 : variables_[places_[e]].output];
                for (Size c = 0; bias_ && c < K_; ++c) part[size_ + c] += t[c];
            }
        });
    }

    // row(i, v) for the change of every row's scores.
    template <class Row>
    void scores(const double* p, const Row& row) const {
        run(n_tasks_, work_, [&](Size k) {
            std::vector<double> v(K_);
            Size start = offsets_[k];
            for (Size i = first_row(k); i < first_row(k + 1); start = ends_[i++]) {
                score(start, ends_[i], p, v.data());
                row(i, v.data());
            }
        });
    }

  private:
    // Hits come at random: to write always and keep what counts is faster than to ask.
    Size pick(const SparseView<T>& X, Size i, const Id* heads, const double* shifts, Size to) const {
        for (Size e = X.row_starts[i]; e < X.row_starts[i + 1]; ++e) {
            const Id v = heads[X.columns[e]];
            places_[to] = v;
            values_[to] = static_cast<float>(X.row_x[e] - shifts[v + 1]);
            to += v >= 0;
        }
        return to;
    }

    Size pick_chains(const SparseView<T>& X, Size i, const Id* heads, const Id* links, const double* shifts,
                     Size to) const {
        for (Size e = X.row_starts[i]; e < X.row_starts[i + 1]; ++e)
            for (Id v = heads[X.columns[e]]; v >= 0; v = links[v], ++to) {
                places_[to] = v;
                values_[to] = static_cast<float>(X.row_x[e] - shifts[v + 1]);
            }
        return to;
    }

    static Size count(const SparseView<T>& X, Size low, Size high, const Id* heads, const Id* links) {
        Size entries = 0;
        for (Size e = X.row_starts[low]; e < X.row_starts[high]; ++e)
            for (Id v = heads[X.columns[e]]; v >= 0; v = links[v]) ++entries;
        return entries;
    }

    Size first_row(Size task) const { return n_ * task / n_tasks_; }

    void score(Size e, Size end, const double* p, double* v) const {
        const Id* place = places_;
        const float* x = values_;
        std::fill(v, v + K_, 0.0);
        if (K_ > 1) {
            for (; e < end; ++e) v[variables_[place[e]].output] += x[e] * p[place[e]];
        } else {
            double a = 0, b = 0, c = 0, d = 0;
            for (; e + 4 <= end; e += 4) {
                a += x[e] * p[place[e]];
                b += x[e + 1] * p[place[e + 1]];
                c += x[e + 2] * p[place[e + 2]];
                d += x[e + 3] * p[place[e + 3]];
            }
            for (; e < end; ++e) a += x[e] * p[place[e]];
            v[0] = (a + b) + (c + d);
        }
        add_bias(p, v);
    }

    Size n_tasks_;
    double work_ = 0;
    std::vector<Size> offsets_, ends_;  // of the tasks' and the rows' entries
    std::unique_ptr<Id[]> own_places_;
    std::unique_ptr<float[]> own_values_;
    Id* places_;
    float* values_;
};

template <class T>
class Subspace<DenseView<T>> : public SubspaceBase {
  public:
    Subspace(const DenseView<T>& view, Size n_outputs, const std::vector<Variable>& variables, bool bias,
             bool parallel, const Workspace&)
        : SubspaceBase(view.n_rows(), n_outputs, variables, bias, parallel), view_(view) {}

    template <class Row>
    void product(const double* p, const Row& row, double* z) const {
        sum_over_rows(n_tasks(), work(), z, [&](Size k, double* part) {
            std::vector<double> scores(K_ * ROWS), v(K_), t(K_);
            each_block(k, [&](Size low, Size high) {
                block_scores(p, low, high, scores.data());
                for (Size i = low; i < high; ++i) {
                    for (Size c = 0; c < K_; ++c) v[c] = scores[c * ROWS + i - low];
                    add_bias(p, v.data());
                    row(i, v.data(), t.data());
                    for (Size c = 0; c < K_; ++c) scores[c * ROWS + i - low] = t[c];
                    for (Size c = 0; bias_ && c < K_; ++c) part[size_ + c] += t[c];
                }
                for (Size j = 0; j < size_; ++j)
                    part[j] +=
                        view_.dot(variables_[j].column, low, high, &scores[variables_[j].output * ROWS]);
            });
        });
    }

    template <class Row>
    void scores(const double* p, const Row& row) const {
        run(n_tasks(), work(), [&](Size k) {
            std::vector<double> scores(K_ * ROWS), v(K_);
            each_block(k, [&](Size low, Size high) {
                block_scores(p, low, high, scores.data());
                for (Size i = low; i < high; ++i) {
                    for (Size c = 0; c < K_; ++c) v[c] = scores[c * ROWS + i - low];
                    add_bias(p, v.data());
                    row(i, v.data());
                }
            });
        });
    }

  private:
    static constexpr Size ROWS =
        128;  // a block of this many rows of all columns is used twice while it is in cache

    Size n_tasks() const { return std::clamp<Size>(n_ / 2048, 1, 8); }
    double work() const { return 4.0 * static_cast<double>(n_ * size_); }

    template <class Block>
    void each_block(Size task, const Block& block) const {
        const Size last = n_ * (task + 1) / n_tasks();
        for (Size low = n_ * task / n_tasks(); low < last; low += ROWS)
            block(low, std::min(low + ROWS, last));
    }

    void block_scores(const double* p, Size low, Size high, double* scores) const {
        std::fill(scores, scores + K_ * ROWS, 0.0);
        for (Size j = 0; j < size_; ++j)
            view_.add(variables_[j].column, p[j], low, high, scores + variables_[j].output * ROWS);
    }

    const DenseView<T>& view_;
};

// x with A x = -r for a symmetric positive semi-definite A, preconditioned by a diagonal, until the
// residual's square in the norm of the inverse diagonal is tol of what it was. r becomes the residual.
template <class Product>
std::vector<double> conjugate_gradients(const Product& A, std::vector<double>& r,
                                        const std::vector<double>& diagonal, double tol, Size max_iter) {
    const std::size_t m = r.size();
    std::vector<double> x(m, 0.0), p(m), Ap(m);
    auto norm = [&] {
        double sum = 0;
        for (std::size_t j = 0; j < m; ++j) sum += r[j] * r[j] / diagonal[j];
        return sum;
    };
    for (std::size_t j = 0; j < m; ++j) p[j] = -r[j] / diagonal[j];
    double rr = norm();
    const double goal = tol * rr;
    for (Size k = 0; k < max_iter && rr > goal; ++k) {
        A(p.data(), Ap.data());
        double curvature = 0;
        for (std::size_t j = 0; j < m; ++j) curvature += p[j] * Ap[j];
        if (!(curvature > 0)) break;
        const double step = rr / curvature, last = rr;
        for (std::size_t j = 0; j < m; ++j) x[j] += step * p[j], r[j] += step * Ap[j];
        rr = norm();
        for (std::size_t j = 0; j < m; ++j) p[j] = rr / last * p[j] - r[j] / diagonal[j];
    }
    return x;
}

}  // namespace nearline
