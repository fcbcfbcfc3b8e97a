"""Which configuration of PostgreSQL's text search reads the words of an index."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from lexfuse.errors import ConfigError
from lexfuse.storage.index_settings import FALLBACK_LANGUAGE
from lexfuse.storage.snapshot import Snapshot

if TYPE_CHECKING:
    from psycopg import Connection

CONFIGS = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    "yi": "yiddish",
}  # fmt: skip
SIMPLE = "simple"  # no stems, no stop words
# Configurations of other schemas are written with the schema: PostgreSQL makes indexes without a search path.
_KNOWN = (
    "SELECT CASE WHEN pg_ts_config_is_visible(config.oid) THEN cfgname::text ELSE nspname || '.' || cfgname END,"
    " CASE WHEN nspname = 'pg_catalog' THEN quote_ident(cfgname) ELSE quote_ident(nspname) || '.' || quote_ident(cfgname) END"
    " FROM pg_ts_config AS config JOIN pg_namespace AS own ON own.oid = cfgnamespace ORDER BY 1"
)


def config_of(connection: Connection[tuple[Any, ...]], snapshot: Snapshot, given: str) -> str:
    """The configuration that is given, or else that of the language of most documents; `ConfigError` if the server lacks it."""
    languages = Counter(language or FALLBACK_LANGUAGE for language in snapshot.column("language"))
    most = min(languages, key=lambda language: (-languages[language], language), default=FALLBACK_LANGUAGE)
    config = given or CONFIGS.get(most, SIMPLE)
    known = {name: written for name, written in connection.execute(_KNOWN).fetchall()}
    if config not in known:
        raise ConfigError(f"the server has no text search configuration {config!r}; it has {', '.join(known)}")
    return str(known[config])
