"""Documents, and queries that are as long as documents, in the pieces that a dense channel has vectors of."""

from __future__ import annotations

from collections.abc import Callable

from lexfuse.data.document import Document
from lexfuse.encode.cache import CachedEncoder
from lexfuse.encode.channels import passage_plan
from lexfuse.encode.dense import DenseEncoder
from lexfuse.encode.encoder import Encoder
from lexfuse.encode.passages import Scheme, Words
from lexfuse.encode.sharing import unshared
from lexfuse.encode.sides import Side
from lexfuse.index.channel import ChannelSettings
from lexfuse.text.passages import Passage

Divide = Callable[[Document], list[tuple[str, Passage]]]  # texts to encode, with the piece that each stands for


def divider(settings: ChannelSettings, encoder: Encoder, side: Side) -> Divide:
    """How a text of one side is divided, by the plan of the channel.

    >>> from lexfuse.encode.channels import ChannelPlan, dense_encoder, planned
    >>> from lexfuse.encode.passages import PassagePlan, Scheme
    >>> settings = planned("sentences", ChannelPlan("fr-legal-dense", passages=PassagePlan.usual(Scheme.SENTENCES)))
    >>> divide = divider(settings, dense_encoder(settings, Side.QUERY), Side.QUERY)
    >>> [text for text, _ in divide(Document("q", text="Le bail est nul. Il y a appel.", language="fr"))]
    ['Le bail est nul.', 'Il y a appel.']
    """
    plan = passage_plan(settings)
    own = unshared(encoder.encoder if isinstance(encoder, CachedEncoder) else encoder)
    if isinstance(own, DenseEncoder) and own.folder.chunks is not None and plan.scheme is Scheme.WHOLE:
        return lambda document: plan.of(document, Words())  # the model divides it, and gives one vector for all
    if isinstance(own, DenseEncoder):
        tokens, reserved = own.tokens, own.tokens.count(own.prompts[side])
        return lambda document: plan.of(document, tokens, reserved)
    return lambda document: plan.of(document, Words())
