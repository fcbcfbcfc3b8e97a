"""The parts of DeBERTa's graph against the same written out: buckets of distances, and the shift of rows."""

import math
from pathlib import Path

import numpy as np
import pytest

from lexfuse.encode.model_folder.deberta_settings import DebertaSettings
from lexfuse.encode.onnx_export.deberta import distance_rows, shifted
from lexfuse.encode.onnx_export.graph import OnnxGraph
from lexfuse.encode.onnx_runtime import onnx_runtime


def bucket(distance, buckets, farthest):
    """He et al. 2021, appendix: near distances as they are, far ones on a logarithmic scale."""
    middle = buckets // 2
    if abs(distance) <= middle:
        return distance
    scaled = math.log(abs(distance) / middle) / math.log((farthest - 1) / middle) * (middle - 1)
    return int(math.copysign(middle + math.ceil(scaled - 1e-6), distance))


@pytest.mark.parametrize(("buckets", "positions"), [(16, 136), (256, 512), (8, 64), (32, 512)])
def test_distances_are_put_into_buckets(buckets, positions):
    values = {"relative_attention": True, "position_buckets": buckets, "max_position_embeddings": positions}
    settings = DebertaSettings.read(Path("c"), values | {"hidden_size": 8, "num_attention_heads": 2})
    distances = np.arange(1 - positions, positions)
    expected = [min(max(bucket(int(one), buckets, positions) + buckets, 0), 2 * buckets - 1) for one in distances]
    assert distance_rows(distances, settings).tolist() == expected


def test_without_buckets_far_distances_share_the_last_vector():
    values = {"relative_attention": True, "max_relative_positions": 3, "max_position_embeddings": 9}
    settings = DebertaSettings.read(Path("c"), values)
    assert distance_rows(np.arange(-5, 6), settings).tolist() == [0, 0, 0, 1, 2, 3, 4, 5, 5, 5, 5]


@pytest.mark.parametrize("length", [1, 2, 7])
def test_rows_are_shifted_to_their_places(length):
    graph = OnnxGraph()
    values = graph.input("values", np.float32, ["batch", "heads", "length", "distances"])
    graph.output(shifted(graph, values), "out", np.float32, ["batch", "heads", "length", "places"])
    session = onnx_runtime().InferenceSession(graph.model().SerializeToString(), providers=["CPUExecutionProvider"])
    given = np.random.default_rng(0).random((2, 3, length, 2 * length - 1)).astype(np.float32)
    (found,) = session.run(["out"], {"values": given})
    assert found.shape == (2, 3, length, length)
    for row in range(length):
        for column in range(length):
            np.testing.assert_array_equal(found[:, :, row, column], given[:, :, row, length - 1 - row + column])
