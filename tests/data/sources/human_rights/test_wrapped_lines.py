"""Paragraphs of judgments whose source has a line for every paragraph, or for every printed line."""

from lexfuse.data.sources.human_rights.wrapped_lines import paragraphs_of

PRINTED = """In the case of Nibbio v. Italy*,

The European Court of Human Rights, sitting, in accordance with

Article 43 (art. 43) of the Convention, as a Chamber composed of the

following judges:

Mr R. Ryssdal, President,

Mr Thór Vilhjálmsson,

and also of Mr M.-A. Eissen, Registrar,

Having deliberated in private on 28 October 1991 and

24 January 1992,

_______________

PROCEDURE

1. The case was referred to the Court on 8 March 1991 by the

Commission.

2. The applicant, who lives in Rome, wished to take part in the

proceedings (Article

25) and named a lawyer.

FOR THESE REASONS, THE COURT UNANIMOUSLY

1. Holds that there has been a violation;

Done in English and in French on 26 February 1992.

Signed: Rolv RYSSDAL

President
"""


def test_printed_lines_are_joined_and_paragraphs_stay_apart():
    assert paragraphs_of(PRINTED.splitlines()) == [
        "In the case of Nibbio v. Italy*,",
        "The European Court of Human Rights, sitting, in accordance with Article 43 (art. 43) of the Convention, as a Chamber "
        "composed of the following judges:",
        "Mr R. Ryssdal, President, Mr Thór Vilhjálmsson,",
        "and also of Mr M.-A. Eissen, Registrar,",
        "Having deliberated in private on 28 October 1991 and 24 January 1992,",
        "PROCEDURE",
        "1. The case was referred to the Court on 8 March 1991 by the Commission.",
        "2. The applicant, who lives in Rome, wished to take part in the proceedings (Article 25) and named a lawyer.",
        "FOR THESE REASONS, THE COURT UNANIMOUSLY",
        "1. Holds that there has been a violation;",
        "Done in English and in French on 26 February 1992.",
        "Signed: Rolv RYSSDAL",
        "President",
    ]


def test_whole_paragraphs_stay_and_the_judges_are_one_of_them():
    long = (
        "1. L'affaire a été déférée à la Cour par la Commission le 12 juillet 1993 (requête n o 14804/89) , dans le délai voulu."
    )
    lines = ["En l'affaire Vendittelli c. Italie [\uf02a] ,", "MM. R. Ryssdal , président ,", "C. Russo ,", long]
    assert paragraphs_of(lines) == [
        "En l'affaire Vendittelli c. Italie,",
        "MM. R. Ryssdal, président, C. Russo,",
        long.replace("n o 14804/89) ,", "n° 14804/89),"),
    ]
