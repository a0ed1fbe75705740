"""Estimators with scikit-learn's interface. ``ESTIMATORS`` lists them; what is listed is tested and documented."""

from nearline.estimators.bayes import BernoulliNB, GaussianNB, MultinomialNB
from nearline.estimators.discriminant import LinearDiscriminantAnalysis, NearestCentroid
from nearline.estimators.least_squares import LeastSquaresClassifier
from nearline.estimators.linear import LinearClassifier, LogisticRegression, SparsemaxClassifier
from nearline.estimators.neighbors import KNeighborsClassifier, KNeighborsRegressor
from nearline.estimators.perceptron import Perceptron
from nearline.estimators.reductions import OneVsOne, OneVsRest
from nearline.estimators.svm import LinearSVM
from nearline.estimators.transfer import NeighborsTransfer

ESTIMATORS = {
    estimator.__name__: estimator
    for estimator in (
        LinearClassifier,
        LeastSquaresClassifier,
        LogisticRegression,
        LinearSVM,
        SparsemaxClassifier,
        MultinomialNB,
        BernoulliNB,
        GaussianNB,
        LinearDiscriminantAnalysis,
        NearestCentroid,
        OneVsRest,
        OneVsOne,
        Perceptron,
        KNeighborsClassifier,
        KNeighborsRegressor,
        NeighborsTransfer,
    )
}

__all__ = [
    "ESTIMATORS",
    "BernoulliNB",
    "GaussianNB",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "LeastSquaresClassifier",
    "LinearClassifier",
    "LinearDiscriminantAnalysis",
    "LinearSVM",
    "LogisticRegression",
    "MultinomialNB",
    "NearestCentroid",
    "NeighborsTransfer",
    "OneVsOne",
    "OneVsRest",
    "Perceptron",
    "SparsemaxClassifier",
]
