"""HTTPS: the certificate and the key of the service, checked before anything is loaded."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

from lexfuse.errors import ConfigError, DataError


def tls_context(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    """TLS 1.2 or later with a certificate, or None for plain HTTP, if neither file is given.

    >>> tls_context(None, None) is None
    True
    >>> tls_context(Path("law.pem"), None)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: HTTPS needs tls_certificate and tls_key; tls_key is missing
    """
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        missing = "tls_key" if key is None else "tls_certificate"
        raise ConfigError(f"HTTPS needs tls_certificate and tls_key; {missing} is missing")
    for path in (certificate, key):
        try:
            path.read_bytes()
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror or error}", path=path) from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, password=_no_password(key))
    except ssl.SSLError as error:
        reason = (error.reason or str(error)).replace("_", " ").lower()
        raise DataError(
            f"not a certificate in PEM form with the private key of {key} ({reason}); check tls_certificate and tls_key",
            path=certificate,
        ) from None
    return context


def _no_password(key: Path) -> Callable[[], str]:
    """Refuses a key with a password; OpenSSL would ask for it on the terminal."""

    def refused() -> str:
        raise DataError("the private key has a password; store it without one, readable by the service alone", path=key)

    return refused
