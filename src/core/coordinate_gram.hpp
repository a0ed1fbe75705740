// The same descent where the model is given by its matrix: few weights, many rows.
#pragma once

#include "coordinate.hpp"

namespace nearline {

// The model given by its matrix G (p, p): a step of one weight costs one row of G. slope (p,): G times the
// change so far.
class GramModel {
  public:
    GramModel(const double* G, Size p, const double* gradient, double* weights, const Descent& how)
        : G_(G), p_(p), weights_(weights), how_(how), slope_(p, 0.0) {
        for (Size j = 0; j < p; ++j)
            coordinates_.push_back({j, weights[j], gradient[j], std::max(G[j * p + j], 0.0), 0.0});
    }

    double sweep(bool all) {
        double change = 0;
        for (Coordinate& c : coordinates_)
            if (all || c.weight != 0) change += update(c);
        return change;
    }

    void polish() {
        Moving moving;
        moving.add(0, coordinates_);
        const std::size_t m = moving.coordinates.size();
        if (m == 0) return;
        std::vector<double> start, diagonal;
        for (const Coordinate* c : moving.coordinates) {
            start.push_back(slope_[c->column] + c->own_gradient(how_.penalty));
            diagonal.push_back(c->hessian + how_.penalty.l2);
        }
        auto A = [&](const double* x, double* z) {
            for (std::size_t a = 0; a < m; ++a) {
                const double* row = G_ + moving.coordinates[a]->column * p_;
                z[a] = how_.penalty.l2 * x[a];
                for (std::size_t b = 0; b < m; ++b) z[a] += row[moving.coordinates[b]->column] * x[b];
            }
        };
        const auto step = polish_step(moving, A, start, diagonal, how_.tol);
        for (std::size_t a = 0; a < m; ++a) add(moving.coordinates[a]->column, step[a]);
    }

    void finish() {
        for (const Coordinate& c : coordinates_) weights_[c.column] = c.weight;
    }

  private:
    void add(Size j, double step) {
        for (Size k = 0; k < p_; ++k) slope_[k] += step * G_[j * p_ + k];
    }

    double update(Coordinate& c) {
        const double weight = best_weight(c, c.gradient + slope_[c.column], how_.penalty),
                     step = weight - c.weight;
        if (step == 0) return 0.0;
        add(c.column, step);
        c.weight = weight;
        return (c.hessian + how_.penalty.l2) * step * step;
    }

    const double* G_;
    Size p_;
    double* weights_;
    const Descent& how_;
    std::vector<double> slope_;
    std::vector<Coordinate> coordinates_;
};

inline void descend_gram(const double* G, Size p, const double* gradient, double* weights,
                         const Descent& how) {
    GramModel model(G, p, gradient, weights, how);
    descend(model, how, std::this_thread::get_id());
}

}  // namespace nearline
