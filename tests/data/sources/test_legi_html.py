import pytest

from lexfuse.data.sources.legi_html import ArticleLink, text_and_links


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("Sans balise\n  aucune", "Sans balise\naucune"),
        ("<p></p>   Un<p></p>   Deux", "Un\nDeux"),
        ("<p>Un <b>mot</b> gras\n et <sup>3</sup></p>", "Un mot gras et 3"),
        ("<div>Un<br/><br/>deux<br/></div>", "Un\ndeux"),
        ("<ul><li>un</li><li>deux</li></ul>", "un\ndeux"),
        ("A &lt; B &amp; C", "A < B & C"),
        ("<p>n°\xa05</p>", "n°\xa05"),
        ("<table><tr><th>A</th><th>B<br/>C</th></tr><tr><td></td><td><p>1</p><p>2</p></td></tr></table>", "A | B C\n| 1 2"),
        ("<table><tr><td></td></tr></table>fin", "fin"),
        ("<style>p {}</style><script>x</script><p>Seul</p>", "Seul"),
    ],
)
def test_text(html, text):
    assert text_and_links(html)[0] == text


def test_links_in_text_and_in_tables_in_order():
    one, two = "LEGIARTI000000000001", "LEGIARTI000000000002"
    html = (
        f'<p><a href="/affichCodeArticle.do?cidTexte=LEGITEXT1&amp;idArticle={one}&amp;dateTexte=">a</a> <a>b</a></p>'
        f'<table><tr><td><a href="https://www.legifrance.gouv.fr/codes/article_lc/{two}">c</a></td></tr></table>'
        '<a href="/affichTexte.do?cidTexte=JORFTEXT1">d</a>'
    )
    assert text_and_links(html)[1] == (ArticleLink(one, "LEGITEXT1"), ArticleLink(two, ""))
