"""Estimators with scikit-learn's interface. ``ESTIMATORS`` lists them; what is listed is tested and documented."""

from nearline.estimators.bayes import BernoulliNB, MultinomialNB
from nearline.estimators.discriminant import LinearDiscriminantAnalysis
from nearline.estimators.exemplar_svm import ExemplarSVM
from nearline.estimators.gaussian_nb import GaussianNB
from nearline.estimators.gaussian_process import GaussianProcessClassifier
from nearline.estimators.kernel_classifier import KernelClassifier
from nearline.estimators.kernel_least_squares import KernelLeastSquares
from nearline.estimators.kernel_logistic import KernelLogisticRegression
from nearline.estimators.kernel_maps import Nystroem, RandomFourierFeatures
from nearline.estimators.kernel_neighbors import KernelNeighborsClassifier
from nearline.estimators.kernel_perceptron import KernelPerceptron
from nearline.estimators.kernel_svm import KernelSVM
from nearline.estimators.least_squares import LeastSquaresClassifier
from nearline.estimators.linear import LinearClassifier
from nearline.estimators.logistic import LogisticRegression, SparsemaxClassifier
from nearline.estimators.metric_learner import MetricLearner
from nearline.estimators.nearest_centroid import NearestCentroid
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
        ExemplarSVM,
        KernelClassifier,
        KernelSVM,
        KernelLeastSquares,
        KernelLogisticRegression,
        KernelPerceptron,
        KernelNeighborsClassifier,
        GaussianProcessClassifier,
        Nystroem,
        RandomFourierFeatures,
        MetricLearner,
    )
}

__all__ = [
    "ESTIMATORS",
    "BernoulliNB",
    "ExemplarSVM",
    "GaussianNB",
    "GaussianProcessClassifier",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KernelClassifier",
    "KernelLeastSquares",
    "KernelLogisticRegression",
    "KernelNeighborsClassifier",
    "KernelPerceptron",
    "KernelSVM",
    "LeastSquaresClassifier",
    "LinearClassifier",
    "LinearDiscriminantAnalysis",
    "LinearSVM",
    "LogisticRegression",
    "MetricLearner",
    "MultinomialNB",
    "NearestCentroid",
    "NeighborsTransfer",
    "Nystroem",
    "OneVsOne",
    "OneVsRest",
    "Perceptron",
    "RandomFourierFeatures",
    "SparsemaxClassifier",
]
