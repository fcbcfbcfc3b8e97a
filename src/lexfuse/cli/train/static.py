"""``lexfuse train``: models made from the user's own texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.cli.import_ import refuse_existing
from lexfuse.cli.output.console import AsJson, SkipBad, line, noted_report, print_json, progress_bar, spinner
from lexfuse.data.corpus import Corpus
from lexfuse.data.files import written_folder
from lexfuse.data.formats.file_format import read_corpus
from lexfuse.encode.static_encoder import StaticEncoder, is_static, plain_words
from lexfuse.encode.word_vector_file import read_word_vectors
from lexfuse.errors import StorageError
from lexfuse.text.annotation import with_languages
from lexfuse.train.static_vectors import StaticTraining, train_static, with_corpus_idf


def static(
    source: Annotated[Path, typer.Argument(metavar="CORPUS", help="A corpus folder or file.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The model folder to write.")],
    dimension: Annotated[int, typer.Option(help="Length of a vector.")] = 500,
    window: Annotated[int, typer.Option(help="Words of context on each side.")] = 30,
    min_count: Annotated[int, typer.Option("--min-count", help="Minimum number of occurrences of a word with a vector.")] = 3,
    seed: Annotated[int, typer.Option(help="The same seed gives the same vectors.")] = 1,
    language: Annotated[str, typer.Option(help="Language of all texts [default: that of most documents].")] = "",
    vectors: Annotated[
        Path | None,
        typer.Option(help="Use this file of word2vec or fastText vectors instead of training, with the corpus's word weights."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it holds static vectors.")] = False,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Train word vectors on a corpus, in a minute or two, without another model.

    A text is then the mean of its words' vectors. OUT appears only when it is complete.

        lexfuse train static data/legi legi.vectors

        lexfuse train static data/legi french.vectors --vectors frWac_500_skip.bin
    """
    training = StaticTraining(dimension, window, min_count, seed)
    refuse_existing(out, force)
    if out.is_dir() and any(out.iterdir()) and not is_static(out):
        raise StorageError(f"{str(out)!r} holds other files and no static vectors; choose another folder")
    with noted_report(skip_bad) as report:
        with spinner(f"reading {source}"):
            corpus = with_languages(read_corpus(source, report))
        if vectors is None:
            with progress_bar("training", 100) as progress:
                encoder = train_static(corpus, training, language=language, progress=progress)
        else:
            encoder = _weighed(vectors, corpus, report)
    with written_folder(out, replace=force) as partial:
        for _ in encoder.save(partial):
            pass
    result = _figures(out, StaticEncoder.load(out), report.skipped)
    if json:
        print_json(result)
        return
    for name, value in result.items():
        line(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}")


def _weighed(vectors: Path, corpus: Corpus, report: Any) -> StaticEncoder:
    with spinner(f"reading {vectors}"):
        found = StaticEncoder(
            read_word_vectors(vectors, report), plain_words(), origin={"method": "from a file", "file": vectors.name}
        )
    with progress_bar("weighing words", 100) as progress:
        return with_corpus_idf(found, corpus, progress=progress)


def _figures(out: Path, encoder: StaticEncoder, skipped: int) -> dict[str, Any]:
    size = sum(path.stat().st_size for path in out.iterdir())
    return {
        "out": str(out), "words": len(encoder.vectors.words), "dimension": encoder.dimension, "bytes": size,
        "language": encoder.analyser.language, "weighting": encoder.weighting.value, "fingerprint": encoder.fingerprint,
        "skipped": skipped,
    }  # fmt: skip
