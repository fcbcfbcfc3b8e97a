"""Other wordings of a question: a typing error, everyday words instead of those of the law."""

from __future__ import annotations

import random
import re

# What people say, by what the law and its sheets say. Stems of words, so that endings stay.
EVERYDAY = {
    r"\bemployeur": "patron", r"\bsalari[ée]": "employé", r"\blicenciement": "renvoi", r"\blicencier": "virer",
    r"\blicencié": "viré", r"\bheures supplémentaires": "heures sup", r"\bcontrat à durée déterminée": "CDD",
    r"\bcontrat à durée indéterminée": "CDI", r"\brupture conventionnelle": "rupture à l'amiable", r"\brémunération": "paie",
    r"\bsalaire": "paie", r"\bbailleur": "proprio", r"\bpropriétaire": "proprio", r"\blocataire": "personne qui loue",
    r"\blogement": "appart", r"\bautomobile": "voiture", r"\bvéhicule": "voiture", r"\bpermis de conduire": "permis",
    r"\bcontravention": "PV", r"\bamende forfaitaire": "PV", r"\bentreprise": "boîte", r"\bétablissement scolaire": "école",
    r"\benfants?\b": "gosse", r"\bconjoint": "mari ou femme", r"\bépoux\b": "mari", r"\bdécès": "mort",
    r"\barrêt de travail": "arrêt maladie", r"\bcongés payés": "vacances", r"\bcongés?\b": "vacances",
    r"\ballocations? chômage": "chômage", r"\bétranger": "immigré", r"\bforces de l'ordre": "police",
    r"\bgendarmerie": "police", r"\bplainte": "plainte à la police", r"\bimpôt sur le revenu": "impôts",
    r"\bretraite": "pension de retraite", r"\bdémission": "quitter mon travail", r"\btravail dissimulé": "travail au noir",
    r"\bnuisances? sonores?": "bruit", r"\btapage": "bruit", r"\bcopropriété": "immeuble", r"\bréparation": "remboursement",
    r"\bcrédit à la consommation": "prêt conso", r"\bemprunt": "prêt", r"\bdonation": "don", r"\btestament": "héritage",
    r"\bsuccession": "héritage", r"\bcaution": "garant", r"\bdépôt de garantie": "caution",
}  # fmt: skip
KEYS = ("azertyuiop", "qsdfghjklm", "wxcvbn")  # of a French keyboard
NEIGHBOURS = {
    letter: [row[at] for at in (place - 1, place + 1) if 0 <= at < len(row)] for row in KEYS for place, letter in enumerate(row)
}
LEAST = 5  # letters of a word that may be misspelt


def misspelt(text: str, draw: random.Random) -> str:
    """A text with one typing error: a letter left out, doubled, exchanged with the next one, or replaced by its neighbour.

    >>> misspelt("le préavis", random.Random(1)) != "le préavis"
    True
    """
    words = [match for match in re.finditer(r"[^\W\d_]+", text) if len(match.group()) >= LEAST]
    if not words:
        return text
    word = draw.choice(words)
    letters = list(word.group())
    at = draw.randrange(1, len(letters) - 1)
    match draw.randrange(4):
        case 0:
            del letters[at]
        case 1:
            letters.insert(at, letters[at])
        case 2:
            letters[at], letters[at + 1] = letters[at + 1], letters[at]
        case _:
            letters[at] = draw.choice(NEIGHBOURS.get(letters[at].lower(), ["e"]))
    return text[: word.start()] + "".join(letters) + text[word.end() :]


def everyday(text: str, draw: random.Random) -> str:
    """A text with everyday words instead of up to two words of the law; the text itself if it has none.

    >>> everyday("L'employeur peut-il refuser ?", random.Random(1))
    "L'patron peut-il refuser ?"
    """
    known = [pattern for pattern in EVERYDAY if re.search(pattern, text, re.IGNORECASE)]
    for pattern in draw.sample(known, min(2, len(known))):
        text = re.sub(pattern, EVERYDAY[pattern], text, count=1, flags=re.IGNORECASE)
    return text
