"""A transformer on ONNX Runtime: token ids in, numbers out.

A folder's ONNX file is used as it is. A safetensors folder is converted into a graph once; the graph is stored in the cache
folder under the fingerprint of the model, or in memory if the cache is not writable. Torch is never loaded.
"""

from __future__ import annotations

import hashlib
import logging
import mmap
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lexfuse.data.arrays import F32, I64
from lexfuse.data.downloads import cache_folder
from lexfuse.data.files import written_file
from lexfuse.deadline import check
from lexfuse.encode.encoder import Progress
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.onnx_export.heads import OutputHead, build_graph
from lexfuse.encode.onnx_export.integer_products import multiplies_bytes
from lexfuse.encode.onnx_export.quantisation import computed_as_int8
from lexfuse.encode.onnx_runtime import CPU, chosen_device, onnx_runtime, open_session
from lexfuse.encode.tokenizer import ModelTokenizer, Row
from lexfuse.errors import ConfigError, DataError, StorageError
from lexfuse.kernels.threads import cores

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

log = logging.getLogger(__name__)

GRAPHS = 1  # version of the graphs; a new one invalidates the cache
INT8_GRAPHS = "int8 by rows"  # version of their int8 arithmetic
MOST_TOKENS = 2048  # in a batch, including padding: more gain nothing on a CPU and exceed its caches
MOST_TOKENS_INT8 = 512  # on one of several threads, each with separate caches
MOST_TOKENS_GPU = 32_768  # fewer leave it idle
_OUTPUTS = {
    OutputHead.HIDDEN: ("last_hidden_state", "token_embeddings"),
    OutputHead.MLM: ("max_logits", "logits"),
    OutputHead.CLASSES: ("logits",),
}
_RANKS = {OutputHead.HIDDEN: (3,), OutputHead.MLM: (2, 3), OutputHead.CLASSES: (2,)}


@dataclass(frozen=True, slots=True, eq=False)
class Transformer:
    """A loaded model with one head.

    >>> model = Transformer.load(ModelFolder.read("fr-legal-dense"), OutputHead.HIDDEN)  # doctest: +SKIP
    >>> model.run(np.array([[2, 1417, 3]]), np.ones((1, 3), dtype=np.int64)).shape  # doctest: +SKIP
    (1, 3, 384)
    """

    head: OutputHead
    folder: ModelFolder
    int8: bool  # whether the graph multiplies in int8
    session: InferenceSession
    inputs: tuple[str, ...]
    output: str
    most_tokens: int  # per batch; 1 means one text at a time
    workers: int = 1  # threads that run a batch each

    @classmethod
    def load(cls, folder: ModelFolder, head: OutputHead, *, threads: int | None = None, int8: bool = False) -> Transformer:
        """Load a model; ``threads`` defaults to the number of processors."""
        if threads is not None and threads < 1:
            raise ConfigError(f"threads must be at least 1, got {threads}; leave it out to use every processor")
        graph = graph_file(folder, head, int8=int8)
        file = folder.path if isinstance(graph, bytes) else graph
        device = chosen_device()
        # Operators on bytes are too short to be divided: each thread runs a separate batch.
        workers = (threads or cores()) if int8 else 1
        session = _session(graph, file, 1 if int8 else threads or cores(), device, int8=int8)
        names = tuple(value.name for value in session.get_inputs())
        if unknown := set(names) - {"input_ids", "attention_mask", "token_type_ids"}:
            wanted = ", ".join(sorted(unknown))
            raise DataError(f"the graph wants {wanted}; known are input_ids, attention_mask and token_type_ids", path=file)
        return cls(head, folder, int8, session, names, _output(session, head, file), _most_tokens(graph, device, int8), workers)

    @property
    def graph(self) -> Path | bytes:
        """The graph that runs: a file, or its bytes if none could be written."""
        return graph_file(self.folder, self.head, int8=self.int8)

    def fingerprint(self, *parts: str) -> str:
        """Equal for two encoders by this model if and only if they give the same vectors; ``parts`` are their own choices."""
        every = [self.folder.fingerprint, str(GRAPHS), INT8_GRAPHS if self.int8 else "", *parts]
        return hashlib.sha256("\0".join(every).encode()).hexdigest()[:32]

    @property
    def width(self) -> int:
        """Length of the last output axis: the hidden size, the vocabulary, or the number of labels."""
        last = next(value.shape[-1] for value in self.session.get_outputs() if value.name == self.output)
        if isinstance(last, int):
            return last
        one = np.ones((1, 1), dtype=np.int64)  # run a graph that does not declare it
        return int(self.run(one, one).shape[-1])

    def run(self, ids: I64, mask: I64, types: I64 | None = None) -> F32:
        """The head's output for a padded batch; ``mask`` is 1 for tokens, 0 for padding after them."""
        check()
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        feed: dict[str, Any] = {name: given[name] for name in self.inputs}
        if feed.get("token_type_ids", ids) is None:
            feed["token_type_ids"] = np.zeros_like(ids)
        try:
            found: F32 = self.session.run([self.output], feed)[0]
        except Exception as error:  # ONNX Runtime's errors have no common class
            reason = f"the graph failed on {len(ids):,} texts of {ids.shape[1]:,} tokens ({_first_line(error)})"
            raise self._damage(f"{reason}; its tokenizer may be that of another model") from None
        if found.ndim not in _RANKS[self.head] or len(found) != len(ids):
            shape = " x ".join(map(str, found.shape))
            raise self._damage(f"the graph gives numbers of shape {shape} for {len(ids):,} texts of {ids.shape[1]:,} tokens")
        if self.head is OutputHead.MLM and found.ndim == 3:  # an ONNX file with the logits of every token
            found = np.where(mask[:, :, None] != 0, found, np.float32(-np.inf)).max(axis=1)
        return found.astype(np.float32, copy=False)

    def outputs(
        self,
        tokens: ModelTokenizer,
        rows: Sequence[Row],
        progress: Progress,
        *,
        attended: Sequence[int] | None = None,
        most_tokens: int | None = None,
    ) -> Iterator[tuple[int, F32]]:
        """The output for every row of token ids with the row's place, longest rows first; ``progress`` counts rows.

        Tokens attend to the first ``attended`` of their row, to all of them if not given.
        """
        done = 0
        for chosen, found in self._computed(tokens.batches(rows, most_tokens or self.most_tokens), attended):
            yield from zip(chosen.tolist(), found, strict=True)
            done += len(chosen)
            progress(done)

    def _computed(self, batches: Iterator[tuple[I64, I64, I64]], attended: Sequence[int] | None) -> Iterator[tuple[I64, F32]]:
        """The outputs of batches, in order, by as many threads as there are workers."""

        def run(chosen: I64, ids: I64, mask: I64) -> tuple[I64, F32]:
            if attended is not None:
                for place, flags in zip(chosen, mask, strict=True):
                    flags[attended[place] :] = 0
            return chosen, self.run(ids, mask)

        first = list(islice(batches, 2))
        if self.workers == 1 or len(first) < 2:  # a query needs no threads
            yield from (run(*batch) for batch in chain(first, batches))
            return
        with ThreadPoolExecutor(self.workers, thread_name_prefix="encode") as pool:
            waiting = deque(pool.submit(partial(copy_context().run, run, *batch)) for batch in first)
            try:
                for batch in batches:
                    waiting.append(pool.submit(partial(copy_context().run, run, *batch)))
                    if len(waiting) > 2 * self.workers:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def _damage(self, what: str) -> DataError:
        return DataError(f"{what}; fetch or export the model again", path=self.folder.path)


def graph_file(folder: ModelFolder, head: OutputHead, *, int8: bool = False) -> Path | bytes:
    """The ONNX file of a model: its own, or the cached one that is built from its weights if the cache is writable.

    >>> from lexfuse.encode.model_folder.locator import locate_model
    >>> graph_file(ModelFolder.read(locate_model("fr-legal-dense")), OutputHead.HIDDEN).suffix
    '.onnx'
    """
    name = f"{folder.fingerprint}-{head.value}-{GRAPHS}"
    graph: Path | bytes | None = folder.onnx
    if graph is None:
        graph = _kept(f"{name}.onnx", lambda: build_graph(folder, head).SerializeToString(deterministic=True))
    if not int8:
        return graph
    integers = multiplies_bytes()
    name = f"{name}-{INT8_GRAPHS.replace(' ', '-')}{'' if integers else '-wide'}.onnx"
    return _kept(name, lambda: computed_as_int8(graph, folder.path, integers=integers))


def _most_tokens(graph: Path | bytes, device: str, int8: bool) -> int:
    """The tokens of a batch; dynamic quantisation takes its scale from the whole batch, so each text needs its own."""
    if _holds(graph, b"DynamicQuantize"):
        return 1
    return MOST_TOKENS_GPU if device != CPU else MOST_TOKENS_INT8 if int8 else MOST_TOKENS


def _kept(name: str, make: Callable[[], bytes]) -> Path | bytes:
    """A graph from the cache, built if necessary; its bytes if the cache is not writable."""
    file = cache_folder() / "graphs" / name
    if file.is_file():
        return file
    content = make()
    try:
        with written_file(file) as out:
            out.write(content)
    except StorageError:
        _tell(file.parent)
        return content
    return file


@cache
def _tell(folder: Path) -> None:
    """Warn once per process."""
    log.warning(
        "%s is not writable, so every process builds the graph of a model again; set LEXFUSE_CACHE to a writable folder",
        folder,
    )


def _holds(graph: Path | bytes, mark: bytes, first: int | None = None) -> bool:
    """Whether a graph contains some bytes, anywhere or near its beginning."""
    if isinstance(graph, bytes):
        return mark in (graph if first is None else graph[:first])
    with graph.open("rb") as stream:
        if first is not None:
            return mark in stream.read(first)
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(mark) >= 0


def _session(graph: Path | bytes, path: Path, threads: int, device: str, *, int8: bool) -> InferenceSession:
    options = onnx_runtime().SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # failures raise; do not log them too
    # No spinning: waiting threads would slow down searches. As fast alone, twice as fast under load.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if _holds(graph, b"lexfuse", first=64):  # LexFuse's int8 weights are widened once, on loading
        options.add_session_config_entry("session.disable_quant_qdq", "1")
    try:
        source = graph if isinstance(graph, bytes) else str(graph)
        return open_session(source, options, device, unfused=int8)
    except ConfigError:
        raise
    except Exception as error:  # ONNX Runtime's errors have no common class
        raise DataError(
            f"ONNX Runtime cannot load the graph ({_first_line(error)}); fetch or export it again", path=path
        ) from None


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0][:300]


def _output(session: InferenceSession, head: OutputHead, file: Path) -> str:
    """The graph output of a head."""
    names = [value.name for value in session.get_outputs()]
    for name in _OUTPUTS[head]:
        if name in names:
            return name
    expected = " or ".join(_OUTPUTS[head])
    raise DataError(
        f"the graph gives {', '.join(names)}; a {head.value} head needs {expected}; export the model with that output", path=file
    )
