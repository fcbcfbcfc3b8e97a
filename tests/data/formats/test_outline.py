"""Where provisions begin: by headings with levels, or by lines whose numbers ascend."""

from lexfuse.data.formats.outline import Block, units

LAW = [
    "Lease Act",
    "TITLE I",
    "Chapter I – Form",
    "Article 1",
    "A lease is written.",
    "Article 2. Two copies are made for the parties.",
    "Chapter II – End",
    "Article 3 Notice",
    "The lease ends with notice.",
    "Article 4 bis",
    "It is read aloud.",
]


def lines(text):
    return [Block(line) for line in text]


def test_lines_of_a_plain_text():
    found = units(lines(LAW))
    assert [(one.number, one.title, one.text) for one in found] == [
        ("", "", "Lease Act"),
        ("1", "Article 1", "A lease is written."),
        ("2", "Article 2", "Two copies are made for the parties."),
        ("3", "Article 3 Notice", "The lease ends with notice."),
        ("4 bis", "Article 4 bis", "It is read aloud."),
    ]
    assert found[2].headings == ("TITLE I", "Chapter I – Form")
    assert found[3].headings == ("TITLE I", "Chapter II – End")


def test_levels_and_words_of_headings_make_the_path():
    """Repositories that have few levels put books, titles and chapters on the same one."""
    blocks = [
        Block("Livre Ier", 4),
        Block("Titre Ier", 4),
        Block("Chapitre Ier", 4),
        Block("Article L1", 5),
        Block("Un."),
        Block("Chapitre II", 4),
        Block("Article L2", 5),
        Block("Deux."),
        Block("Livre II", 4),
        Block("Article L3", 5),
        Block("Trois."),
    ]
    assert [one.headings for one in units(blocks)] == [
        ("Livre Ier", "Titre Ier", "Chapitre Ier"),
        ("Livre Ier", "Titre Ier", "Chapitre II"),
        ("Livre II",),
    ]


def test_a_heading_inside_a_provision_is_its_text():
    blocks = [Block("Article 1", 2), Block("Scope", 3), Block("All."), Block("Article 2", 2), Block("None.")]
    assert [one.text for one in units(blocks)] == ["Scope\nAll.", "None."]


def test_a_judgment_that_quotes_articles_is_not_divided():
    text = [
        "1. He relied on:",
        "Article 8",
        "Everyone has the right.",
        "2. And on:",
        "Article 6",
        "A fair trial.",
        "Article 3",
        "3. Held.",
    ]
    assert units(lines(text)) == []
    assert units(lines(["Section 5 of the Act says so.", "Section 6 of the Act too.", "Section 7 of the Act as well."])) == []


def test_a_table_of_contents_is_no_provision():
    contents = ["Article 1 ........ 3", "Article 2 ........ 4", "Article 3 ........ 5"]
    assert [one.number for one in units(lines([*contents, *LAW]))] == ["", "1", "2", "3", "4 bis"]
    assert units(lines(contents)) == []


def test_german_sections_and_a_text_between_headings():
    blocks = [
        Block("Buch 1", 2),
        Block("Abschnitt 1", 3),
        Block("§ 1 Beginn", 4),
        Block("Text."),
        Block("§ 2 Ende", 4),
        Block("Mehr."),
        Block("Anhang EV", 2),
        Block("Maßgaben."),
    ]
    first, _, appendix = units(blocks)
    assert (first.number, first.title, first.headings) == ("1", "§ 1 Beginn", ("Buch 1", "Abschnitt 1"))
    assert (appendix.number, appendix.title, appendix.text, appendix.headings) == ("", "Anhang EV", "Maßgaben.", ())


def test_the_first_letters_of_a_compound_are_not_part_of_the_number():
    titles = ("§ 75b Richtlinie", "§ 75c IT-Sicherheit in Krankenhäusern", "§ 75d A")
    found = units([block for title in titles for block in (Block(title, 2), Block("Text."))])
    assert [one.number for one in found] == ["75b", "75c", "75d A"]


def test_every_word_is_kept():
    for blocks in (lines(LAW), [Block(line, at % 3 if at < 9 else 0) for at, line in enumerate(LAW)]):
        found = units(blocks)
        kept = " ".join(f"{' '.join(one.headings)} {one.title} {one.text}" for one in found)
        assert set(" ".join(LAW).replace(".", " ").split()) <= set(kept.replace(".", " ").split())
