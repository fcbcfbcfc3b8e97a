"""Small made-up stand-ins for what a reader of the pages has or downloads: a repository of law, an archive of LEGI, two published
collections, and a law of one's own with judged questions and with questions that it does not answer.

Commands run on them as the pages have them. `environment` sends git to the repository here.
"""

import json
import os
import subprocess
import tarfile
from io import BytesIO

CODE = "LEGITEXT000006070721"
HEAD = f'---\ntitle: "Code civil"\nidentifier: "{CODE}"\ncountry: "fr"\n---\n# Code civil\n\n'
BEFORE, NOW = "Le paiement fait de bonne foi est valable.", "Tout fait de l'homme oblige à le réparer."
ARCHIVE = "Freemium_legi_global_20250713-140000.tar.gz"
IDENTITY = {f"GIT_{role}_{what}": "law@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

COLLECTIONS = {
    "preprocessed/unique_pars.csv": (
        "PAR_ID,CELEX,NUMBER,TITLE,DATE,TEXT\n"
        "0,62003CJ0001,7,A v B,2005-01-01,It must be held.\n"
        "1,62008CJ0002,3,C v D,2010-02-03,As held.\n"
        "2,62011CJ0003,5,E v F,2013-03-01,As was held.\n"
        "3,62015CJ0004,6,G v H,2017-05-01,As is settled.\n"
        "4,62018CJ0005,2,I v J,2019-05-01,As it is settled.\n"
        "5,62019CJ0006,4,K v L,2020-05-01,As has been settled.\n"
    ),
    "preprocessed/citations_cleaned.csv": "PAR_ID_FROM,PAR_ID_TO\n1,0\n2,0\n3,1\n4,2\n5,4\n5,1\n",
    "mmarco-french/french_collection.tsv": "0\tLe bail est fini.\n1\tUn préavis.\n",
    "mmarco-french/french_queries.train.tsv": "10\tfin du bail\n11\tdurée du préavis\n",
    "mmarco-french/french_queries.dev.small.tsv": "20\tpréavis\n",
    "mmarco-french/triples.train.ids.small.tsv": "10\t0\t1\n11\t1\t0\n",
    "mmarco-french/qrels.dev.small.tsv": "20\t0\t1\t1\n",
}

LAW = ("bail", "loyer", "préavis", "congé", "licenciement", "salaire", "grève", "prime", "pause", "retraite", "stage", "apprenti")
LIFE = ("crêpe", "guitare", "tomate", "dragon", "chaton", "vélo", "pizza", "plage", "fusée", "bougie", "ballon", "piano")


def make_stand_ins(folder):
    """Everything, below a folder; the repository is in `upstream`."""
    for name, text in COLLECTIONS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    _repository(folder / "upstream" / "legalize-fr")
    _archive(folder / ARCHIVE)
    _judged_law(folder)


def environment(folder):
    """Where git takes the repository of the page from."""
    return os.environ | {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{folder / 'upstream'}/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/legalize-dev/",
    }


def _repository(folder):
    """A law with two versions of an article, as Legalize publishes it."""
    (folder / "fr").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
    for day, text in (("1804-03-21", BEFORE), ("2016-10-01", NOW)):
        (folder / "fr" / f"{CODE}.md").write_text(f"{HEAD}##### Article 1240\n\n   {text}\n", encoding="utf-8")
        subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
        command = ["git", "commit", "-q", "-m", f"[reform] Code civil\n\nSource-Date: {day}"]
        subprocess.run(command, cwd=folder, check=True, env=os.environ | IDENTITY)


def _archive(file):
    """The two versions of the article as files of the LEGI database, and a file of another code."""
    versions = ((1, "1804-03-21", "2016-10-01", "MODIFIE", BEFORE), (2, "2016-10-01", "2999-01-01", "VIGUEUR", NOW))
    listed = "".join(
        f'<VERSION etat="{state}"><LIEN_ART debut="{first}" etat="{state}" fin="{last}" id="LEGIARTI{number:012}" num="1240"/>'
        "</VERSION>"
        for number, first, last, state, _ in versions
    )
    titled = f'<TITRE_TXT c_titre_court="Code civil" debut="1804-03-21" fin="2999-01-01" id_txt="{CODE}">Code civil</TITRE_TXT>'
    with tarfile.open(file, "w:gz") as archive:
        for number, first, last, state, text in versions:
            article = (
                f"<ARTICLE><META><META_COMMUN><ID>LEGIARTI{number:012}</ID><NATURE>Article</NATURE></META_COMMUN><META_SPEC>"
                f"<META_ARTICLE><NUM>1240</NUM><ETAT>{state}</ETAT><DATE_DEBUT>{first}</DATE_DEBUT><DATE_FIN>{last}</DATE_FIN>"
                f'</META_ARTICLE></META_SPEC></META><CONTEXTE><TEXTE cid="{CODE}" nature="CODE">{titled}</TEXTE></CONTEXTE>'
                f"<VERSIONS>{listed}</VERSIONS><BLOC_TEXTUEL><CONTENU><p>{text}</p></CONTENU></BLOC_TEXTUEL></ARTICLE>"
            )
            _add(archive, f"legi/global/{CODE}/article/LEGI/ARTI/00/00/00/00/0{number}/LEGIARTI{number:012}.xml", article)
        _add(archive, "legi/global/LEGITEXT000000000001/article/LEGIARTI000000000009.xml", "<ARTICLE/>")


def _judged_law(folder):
    """A code with 48 judged questions in two files; what is judged relevant is not always found first."""
    law = folder / "data" / "law"
    (law / "qrels").mkdir(parents=True)
    articles = [(one, other) for one in LAW for other in LAW if one != other]
    _write_lines(law / "corpus.jsonl", (_article(number, *words) for number, words in enumerate(articles, start=1)))
    asked = [(f"q{number}", one, other) for number, (one, other) in enumerate(articles[:96:2])]
    questions = [{"_id": id, "text": f"règles du {one} et du {other} ?"} for id, one, other in asked]
    for file in (law / "queries.jsonl", folder / "questions.jsonl"):
        _write_lines(file, questions)
    for names, some in ((("qrels/train.tsv", "own.tsv"), asked[::2]), (("qrels/test.tsv", "others.tsv"), asked[1::2])):
        rows = [f"{id}\t{one}-{other if number % 3 else 'apprenti'}\t1\n" for number, (id, one, other) in enumerate(some)]
        for file in (law / names[0], folder / names[1]):
            file.write_text("query-id\tcorpus-id\tscore\n" + "".join(rows), encoding="utf-8")
    for name, lasts in (("other.jsonl", LIFE[:2]), ("more.jsonl", LIFE[2:4])):
        lines = [{"_id": f"{one} {last}", "text": f"règles du {one} et du {last} ?"} for one in LIFE for last in lasts]
        _write_lines(folder / name, lines)


def _article(number, one, other):
    metadata = {"code": "Code civil", "number": f"L{number}", "kind": "statute", "language": "fr", "headings": [f"Du {one}"]}
    text = f"Le {one} suit les règles du {other} et de la demande."
    return {"_id": f"{one}-{other}", "title": f"Article L{number}", "text": text, "metadata": metadata}


def _write_lines(file, records):
    file.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8")


def _add(archive, name, text):
    content = f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode()
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, BytesIO(content))
