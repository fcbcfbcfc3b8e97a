"""What an index can be searched by: profiles that were given, those advised for it, and those that its channels make."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from lexfuse.channels.registry import channel_kinds
from lexfuse.errors import ConfigError
from lexfuse.fusion.convex import Convex
from lexfuse.rerank.document_sections import has_sections
from lexfuse.search.similar import SENTENCES
from lexfuse.search.spec.reranker_specs import StructureSpec
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.storage.folder_snapshot import FolderSnapshot
from lexfuse.storage.snapshot import Snapshot

HYBRID, WORDS = "hybrid", "words"
PROFILES = "profiles"  # the folder in an index folder
# Of bm25, dense and splade: the best weights on the dev questions of three collections of French law. By TM2C2, the scores of
# dense vectors, whose lowest possible one is far away, would differ less than those of SPLADE.
THREE = Convex((0.2, 0.5, 0.3))
_ENOUGH = 0.99  # share of the documents that a channel must hold to be offered: the rest may be on its way


def default_specs(snapshot: Snapshot, given: Mapping[str, SearchSpec], *, before: Collection[str] = ()) -> dict[str, SearchSpec]:
    """Profiles by name, the default first: those given, then words with vectors, words, and each channel alone.

    Vectors are those of the channels dense and splade together, or of one of them, else of colbert, else of static.
    Where the index has articles of codes below headings, words with vectors and words are reranked by sections and citations
    (`lexfuse.rerank.structure`); elsewhere there is no profile `words`.
    A profile in the index folder (`folder_profiles`) takes the place of one of the same name.
    A channel that holds too few documents is left out, unless the version `before` offered it: documents that were just added are
    found by their words until they are encoded, and the profile stays available in the meantime.

    >>> list(default_specs(snapshot, {}))
    ['words', 'bm25']
    """
    searched = [name for name in snapshot.channels if name.split("-")[0] != SENTENCES]
    channels = [name for name in searched if name in before or _holds_enough(snapshot, name)]
    places = {name: place for kind in channel_kinds() for name, place in kind.hybrid_places.items()}
    lowest = min((places[name] for name in channels if name in places), default=0)
    vectors = sorted(name for name in channels if places.get(name) == lowest)
    rerank = [StructureSpec()] if has_sections(snapshot) else []
    fusion = THREE if len(vectors) > 1 else None
    own = {HYBRID: SearchSpec.of(["bm25", *vectors], fusion=fusion, rerank=rerank)} if vectors else {}
    own |= {WORDS: SearchSpec.of("bm25", rerank=rerank)} if rerank else {}
    own |= {name: SearchSpec.of([name]) for name in ("bm25", *channels)}
    kept = folder_profiles(snapshot)
    own = {name: kept.pop(name, profile) for name, profile in own.items()} | kept
    return {**given, **{name: profile for name, profile in own.items() if name not in given}}


def folder_profiles(snapshot: Snapshot) -> dict[str, SearchSpec]:
    """The profiles in the folder ``profiles`` of an index folder, by the names of their files.

    One whose channels the index does not hold yet is left out: ``hybrid.toml`` waits for the vectors.

    >>> folder_profiles(snapshot)
    {}
    """
    folder = snapshot.folder / PROFILES if isinstance(snapshot, FolderSnapshot) else None
    if folder is None or not folder.is_dir():
        return {}
    found = {path.stem: SearchSpec.read(path) for path in sorted(folder.glob("*.toml"))}
    stored = {name for kind in channel_kinds() for name in kind.hybrid_places} - set(snapshot.channels)
    partial = {name for name in snapshot.channels if not _holds_enough(snapshot, name)}
    missing = stored | partial
    return {name: spec for name, spec in found.items() if not missing & {channel.name for channel in spec.channels}}


def read_profiles(files: list[Path]) -> dict[str, SearchSpec]:
    """Profiles from files, by their own names or those of the files; two of one name are refused.

    >>> read_profiles([])
    {}
    """
    found: dict[str, SearchSpec] = {}
    for file in files:
        profile = SearchSpec.read(file)
        name = profile.name or file.stem
        if name in found:
            raise ConfigError(f"{file}: there is a profile {name!r} already; give one of them another name")
        found[name] = profile
    return found


def _holds_enough(snapshot: Snapshot, channel: str) -> bool:
    held = snapshot.channel_numbering(channel).raw >= 0
    return bool(len(held)) and float(held.mean()) >= _ENOUGH
