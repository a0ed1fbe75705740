"""Feature extractors: images and texts as rows of numbers, by fixed models. Nothing is fitted, nothing is fetched."""

from nearline.representations.features.convnet import ConvNet
from nearline.representations.features.extractor import FeatureExtractor
from nearline.representations.features.images import ImageFeatures
from nearline.representations.features.onnx import OnnxFeatures
from nearline.representations.features.words import WordVectors

__all__ = ["ConvNet", "FeatureExtractor", "ImageFeatures", "OnnxFeatures", "WordVectors"]
