"""Optional packages: which extra installs them, and the error where one is missing.

``pip install lexfuse`` is the engine and the command line. What needs more calls `Extra.require` before it imports the package.
"""

from __future__ import annotations

from enum import StrEnum
from importlib.util import find_spec

from lexfuse.errors import MissingDependencyError


class Extra(StrEnum):
    """An optional part of LexFuse, by the name that pip installs it by.

    >>> Extra.PDF.packages
    ('cryptography', 'pypdf')
    """

    SERVE = "serve"
    PDF = "pdf"
    PARQUET = "parquet"
    HUB = "hub"
    MCP = "mcp"
    STATIC = "static"
    CLUSTER = "cluster"
    POSTGRES = "postgres"
    HAYSTACK = "haystack"
    IR_DATASETS = "ir-datasets"
    LANGCHAIN = "langchain"
    LLAMA_INDEX = "llama-index"
    MTEB = "mteb"
    PYTERRIER = "pyterrier"
    TRAIN = "train"

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that the extra adds, as they are imported."""
        return _PACKAGES[self]

    def require(self, purpose: str) -> None:
        """Raise `MissingDependencyError` if a package of the extra is not installed; nothing is imported.

        >>> Extra.PDF.require("reading judgment.pdf")
        """
        if missing := [package for package in self.packages if not _installed(package)]:
            raise MissingDependencyError(
                f'{purpose} needs what is not installed: {", ".join(missing)}; install it with: pip install "lexfuse[{self}]"'
            )


_SERVE = ("fastapi", "prometheus_client", "python_multipart", "uvicorn")
_PACKAGES = {
    Extra.SERVE: _SERVE,
    Extra.PDF: ("cryptography", "pypdf"),
    Extra.PARQUET: ("pyarrow",),
    Extra.HUB: ("huggingface_hub",),
    Extra.MCP: (*_SERVE, "mcp"),
    Extra.STATIC: ("scipy",),
    Extra.CLUSTER: (*_SERVE, "fsspec", "ray"),
    Extra.POSTGRES: ("psycopg",),
    Extra.HAYSTACK: ("haystack",),
    Extra.IR_DATASETS: ("ir_datasets",),
    Extra.LANGCHAIN: ("langchain_core",),
    Extra.LLAMA_INDEX: ("llama_index",),
    Extra.MTEB: ("mteb", "torch"),
    Extra.PYTERRIER: ("pyterrier",),
    Extra.TRAIN: ("safetensors", "torch", "transformers"),
}

BRIDGES = frozenset({Extra.HAYSTACK, Extra.IR_DATASETS, Extra.LANGCHAIN, Extra.LLAMA_INDEX, Extra.PYTERRIER})  # other frameworks


def _installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # an import hook refuses it
        return False
