"""Values: corpora, queries, judgements and runs, and every file format they come in.

>>> from lexfuse.data.corpus import Corpus
>>> from lexfuse.data.document import Document
>>> corpus = Corpus.of([Document("L1237-19", text="L'employeur et le salarié peuvent convenir…", language="fr")])
>>> corpus.document("L1237-19").language
'fr'
"""
