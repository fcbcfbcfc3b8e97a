"""A small invented collection for tests of the page: articles and their versions, decisions with paragraphs, two languages."""

import json

LABOUR, CIVIL, EMPLOYMENT = "Code du travail", "Code civil", "Employment Relations Act"
CASSATION, LYON, PARIS, JUSTICE = (
    "Cour de cassation, chambre sociale",
    "Cour d'appel de Lyon",
    "Cour d'appel de Paris",
    "Court of Justice",
)
BREACH = ("Livre II : Le contrat de travail", "Titre III : Rupture du contrat", "Rupture conventionnelle")
NOTICE = ("Livre II : Le contrat de travail", "Titre III : Rupture du contrat", "Préavis et indemnité")
HOURS = ("Livre I : Durée du travail", "Titre II : Repos et congés")
PAY = ("Livre I : Durée du travail", "Titre IV : Salaire")

# number, title, headings, text, first day, first day no longer in force
LABOUR_ARTICLES = [
    ("L1237-11", "Principe de la rupture conventionnelle", BREACH,
     "L'employeur et le salarié peuvent convenir en commun des conditions de la rupture du contrat de travail qui les lie. "
     "La rupture conventionnelle ne peut être imposée par l'une ou l'autre des parties.", "2008-06-27", ""),
    ("L1237-12", "Entretiens", BREACH,
     "Les parties conviennent du principe d'une rupture conventionnelle lors d'un ou plusieurs entretiens. Le salarié peut "
     "se faire assister par une personne de son choix appartenant au personnel de l'entreprise.", "2008-06-27", ""),
    ("L1237-13", "Convention et délai de rétractation", BREACH,
     "La convention de rupture fixe la date de la rupture et le montant de l'indemnité spécifique. À compter de sa signature, "
     "chaque partie dispose d'un délai de quinze jours calendaires pour exercer son droit de rétractation.", "2008-06-27", ""),
    ("L1237-14", "Homologation", BREACH,
     "À l'issue du délai de rétractation, la partie la plus diligente adresse une demande d'homologation à l'autorité "
     "administrative avec un exemplaire de la convention de rupture prévue à l'article L. 1237-13.", "2008-06-27", ""),
    ("L1237-19", "Accord collectif de départ volontaire", BREACH,
     "Un accord collectif peut prévoir un plan de départs volontaires. L'employeur consulte le comité d'entreprise avant que "
     "la rupture du contrat de travail ne soit proposée aux salariés.", "2008-06-27", "2017-09-24"),
    ("L1237-19", "Rupture d'un commun accord dans le cadre d'un accord collectif", BREACH,
     "Un accord collectif portant rupture conventionnelle collective peut définir les conditions et modalités de la rupture du "
     "contrat de travail d'un commun accord de l'employeur et du salarié. L'autorité administrative est informée sans délai de "
     "l'ouverture d'une négociation, au sens de l'article L. 1237-14.", "2017-09-24", ""),
    ("L1234-1", "Durée du préavis", NOTICE,
     "Lorsque le licenciement n'est pas motivé par une faute grave, le salarié a droit à un préavis d'un mois s'il justifie "
     "d'une ancienneté comprise entre six mois et un an.", "1995-01-01", "2008-05-01"),
    ("L1234-1", "Durée du préavis", NOTICE,
     "Lorsque le licenciement n'est pas motivé par une faute grave, le salarié a droit à un préavis d'un mois s'il justifie "
     "d'une ancienneté comprise entre six mois et deux ans, et de deux mois au-delà de deux ans.", "2008-05-01", ""),
    ("L1234-5", "Indemnité compensatrice de préavis", NOTICE,
     "Lorsque le salarié n'exécute pas le préavis, il a droit, sauf s'il a commis une faute grave, à une indemnité "
     "compensatrice. L'inexécution du préavis prévu à l'article L. 1234-1 n'entraîne aucune diminution des salaires.",
     "2008-05-01", ""),
    ("L1234-9", "Indemnité de licenciement", NOTICE,
     "Le salarié titulaire d'un contrat à durée indéterminée, licencié alors qu'il compte huit mois d'ancienneté ininterrompue, "
     "a droit, sauf en cas de faute grave, à une indemnité de licenciement.", "2017-09-24", ""),
    ("L1235-3", "Licenciement sans cause réelle et sérieuse", NOTICE,
     "Si le licenciement survient pour une cause qui n'est pas réelle et sérieuse, le juge peut proposer la réintégration du "
     "salarié. À défaut, il octroie une indemnité à la charge de l'employeur.", "2017-09-24", ""),
    ("L3121-27", "Durée légale du travail", HOURS,
     "La durée légale de travail effectif des salariés à temps complet est fixée à trente-cinq heures par semaine.",
     "2016-08-10", ""),
    ("L3121-28", "Heures supplémentaires", HOURS,
     "Toute heure accomplie au-delà de la durée légale prévue à l'article L. 3121-27 est une heure supplémentaire qui ouvre "
     "droit à une majoration salariale ou à un repos compensateur équivalent.", "2016-08-10", ""),
    ("L3131-1", "Repos quotidien", HOURS,
     "Tout salarié bénéficie d'un repos quotidien d'une durée minimale de onze heures consécutives.", "2008-05-01", ""),
    ("L3132-3", "Repos dominical", HOURS,
     "Dans l'intérêt des salariés, le repos hebdomadaire est donné le dimanche.", "2009-08-12", ""),
    ("L3141-3", "Durée des congés payés", HOURS,
     "Le salarié a droit à un congé de deux jours et demi ouvrables par mois de travail effectif chez le même employeur.",
     "2016-08-10", ""),
    ("L3221-2", "Égalité de rémunération", PAY,
     "Tout employeur assure, pour un même travail ou pour un travail de valeur égale, l'égalité de rémunération entre les "
     "femmes et les hommes.", "2008-05-01", ""),
    ("L3242-1", "Paiement mensuel du salaire", PAY,
     "La rémunération des salariés est mensuelle et indépendante, pour un horaire de travail effectif déterminé, du nombre de "
     "jours travaillés dans le mois. Des acomptes sont versés au salarié qui en fait la demande.", "2008-05-01", ""),
    ("L3243-2", "Bulletin de paie", PAY,
     "Lors du paiement du salaire, l'employeur remet au salarié un bulletin de paie.", "2017-01-01", ""),
]  # fmt: skip

CIVIL_ARTICLES = [
    ("1103", "Force obligatoire", "Les contrats légalement formés tiennent lieu de loi à ceux qui les ont faits."),
    ("1104", "Bonne foi", "Les contrats doivent être négociés, formés et exécutés de bonne foi."),
    ("1217", "Sanctions de l'inexécution",
     "La partie envers laquelle l'engagement n'a pas été exécuté peut refuser d'exécuter sa propre obligation, demander la "
     "résolution du contrat ou la réparation des conséquences de l'inexécution."),
    ("1231-1", "Dommages et intérêts",
     "Le débiteur est condamné au paiement de dommages et intérêts à raison de l'inexécution de l'obligation ou du retard dans "
     "l'exécution, s'il ne justifie pas d'une force majeure."),
    ("1240", "Responsabilité pour faute",
     "Tout fait de l'homme qui cause un dommage à autrui oblige celui par la faute duquel il est arrivé à le réparer."),
    ("1719", "Obligations du bailleur",
     "Le bailleur est obligé de délivrer au preneur la chose louée, de l'entretenir et d'en faire jouir paisiblement le preneur "
     "pendant la durée du bail."),
    ("1728", "Obligations du locataire",
     "Le preneur est tenu d'user de la chose louée raisonnablement et de payer le loyer aux termes convenus."),
    ("1792", "Responsabilité du constructeur",
     "Tout constructeur d'un ouvrage est responsable de plein droit des dommages qui compromettent la solidité de l'ouvrage."),
]  # fmt: skip

ACT_SECTIONS = [
    ("4", "Notice of dismissal", "An employer who dismisses an employee shall give written notice of at least one week for each "
     "year of service, unless the employee is guilty of gross misconduct."),
    ("7", "Unfair dismissal", "A dismissal is unfair where the employer has no substantial reason for it, and the tribunal may "
     "order that the employee be reinstated or compensated."),
    ("9", "Termination by agreement", "The employer and the employee may end the contract by agreement in writing, from which "
     "either of them may withdraw within fourteen days."),
    ("12", "Weekly working time", "The average working time of an employee shall not exceed forty-eight hours a week, overtime "
     "included."),
    ("13", "Daily rest", "Every employee is entitled to eleven consecutive hours of rest in each period of twenty-four hours."),
    ("15", "Annual leave", "Every employee is entitled to four weeks of paid annual leave, which may not be replaced by payment "
     "except where the contract ends."),
    ("21", "Equal pay", "Men and women shall receive equal pay for work of equal value."),
    ("22", "Burden of proof", "Where an employee shows facts from which discrimination may be presumed, it is for the employer "
     "to prove that there was none."),
]  # fmt: skip

# id, court, date, number, title, paragraphs
FRENCH_DECISIONS = [
    ("soc-2012-rupture", CASSATION, "2012-05-23", "10-24.033", "Rupture conventionnelle et litige entre les parties", (
        "L'existence d'un différend entre l'employeur et le salarié au moment de la signature n'affecte pas par elle-même la "
        "validité de la rupture conventionnelle conclue en application de l'article L. 1237-11 du code du travail.",
        "La cour d'appel a constaté que le salarié avait signé la convention sous la menace d'un licenciement pour faute grave.",
        "Elle en a exactement déduit que le consentement du salarié avait été vicié et que la rupture devait être annulée.",
    )),
    ("soc-2014-retractation", CASSATION, "2014-01-29", "12-27.594", "Délai de rétractation", (
        "Selon l'article L. 1237-13 du code du travail, chaque partie dispose d'un délai de quinze jours pour se rétracter.",
        "L'erreur commise dans la convention de rupture sur la date d'expiration du délai de rétractation ne peut entraîner la "
        "nullité de la convention que si elle a eu pour effet de vicier le consentement de l'une des parties.",
        "Le pourvoi du salarié est rejeté.",
    )),
    ("soc-2016-homologation", CASSATION, "2016-07-06", "14-20.323", "Refus d'homologation", (
        "La demande d'homologation ne peut être transmise à l'autorité administrative qu'à l'issue du délai de rétractation.",
        "Une demande adressée avant l'expiration de ce délai rend la rupture conventionnelle nulle (article L. 1237-14).",
        "La salariée est fondée à demander une indemnité pour licenciement sans cause réelle et sérieuse.",
    )),
    ("soc-2019-exemplaire", CASSATION, "2019-07-03", "17-14.232", "Remise d'un exemplaire de la convention", (
        "Il résulte de l'article L. 1237-11 que la remise d'un exemplaire de la convention de rupture au salarié est nécessaire.",
        "À défaut d'une telle remise, la convention de rupture est nulle et produit les effets d'un licenciement sans cause "
        "réelle et sérieuse. La Cour a déjà statué en ce sens (pourvoi n° 12-27.594).",
        "La cour d'appel, qui n'a pas constaté la remise, a violé le texte susvisé.",
    )),
    ("soc-2020-preavis", CASSATION, "2020-10-14", "19-12.275", "Préavis et faute grave", (
        "Le salarié licencié sans faute grave a droit au préavis prévu à l'article L. 1234-1 du code du travail.",
        "L'employeur qui le dispense d'exécuter son préavis lui doit l'indemnité compensatrice de l'article L. 1234-5.",
        "La cassation est encourue de ce chef.",
    )),
    ("soc-2021-heures", CASSATION, "2021-01-27", "17-31.046", "Preuve des heures supplémentaires", (
        "En cas de litige sur les heures supplémentaires, il appartient au salarié de présenter des éléments assez précis.",
        "L'employeur, qui assure le contrôle des heures de travail effectuées, doit y répondre utilement.",
        "Le juge forme sa conviction au vu de l'ensemble de ces éléments (article L. 3121-28).",
    )),
    ("soc-2022-conges", CASSATION, "2022-09-21", "21-10.718", "Report des congés payés", (
        "Le salarié malade pendant ses congés payés a droit au report des jours dont il n'a pas bénéficié.",
        "Le droit au congé annuel payé est un principe essentiel du droit social de l'Union (Case C-78/11).",
    )),
    ("soc-2023-egalite", CASSATION, "2023-03-08", "21-12.492", "Égalité de rémunération", (
        "Il appartient à l'employeur de justifier une différence de rémunération par des raisons objectives.",
        "L'article L. 3221-2 du code du travail impose l'égalité pour un travail de valeur égale.",
    )),
    ("lyon-2015-bail", LYON, "2015-11-12", "14/03771", "Bail et trouble de jouissance", (
        "Le bailleur doit au preneur la jouissance paisible des lieux loués (article 1719 du code civil).",
        "Les infiltrations répétées constituent un trouble de jouissance que le bailleur doit réparer.",
    )),
    ("lyon-2018-loyer", LYON, "2018-04-05", "16/08112", "Loyers impayés", (
        "Le locataire qui ne paie pas le loyer aux termes convenus manque à son obligation (article 1728 du code civil).",
        "La résiliation du bail est prononcée et l'expulsion du locataire ordonnée.",
    )),
    ("lyon-2021-vice", LYON, "2021-02-18", "19/05523", "Vice du consentement et rupture conventionnelle", (
        "La salariée soutient que son consentement à la rupture conventionnelle a été vicié par des pressions répétées.",
        "La menace d'un licenciement pour faute grave au moment de la signature de la convention caractérise la contrainte.",
        "La convention de rupture est annulée et produit les effets d'un licenciement sans cause réelle et sérieuse.",
    )),
    ("paris-2017-constructeur", PARIS, "2017-06-22", "15/11834", "Garantie décennale", (
        "Le constructeur répond de plein droit des fissures qui compromettent la solidité de l'ouvrage (article 1792).",
        "Son assureur est condamné à garantir les travaux de reprise.",
    )),
    ("paris-2019-faute", PARIS, "2019-09-10", "17/09457", "Faute grave et abandon de poste", (
        "L'abandon de poste sans justification pendant trois semaines rend impossible le maintien du salarié dans l'entreprise.",
        "La faute grave prive le salarié de préavis et d'indemnité de licenciement.",
    )),
    ("paris-2022-teletravail", PARIS, "2022-12-15", "20/06631", "Frais du télétravail", (
        "L'employeur prend en charge les frais que le salarié engage pour les besoins du télétravail.",
        "Un accord collectif peut prévoir une allocation forfaitaire.",
    )),
]  # fmt: skip

ENGLISH_DECISIONS = [
    ("cjeu-2012-leave", "2012-06-21", "C-78/11", "ECLI:EU:C:2012:372", "Paid annual leave and sickness", (
        "The entitlement to paid annual leave is a particularly important principle of European Union social law.",
        "A worker who falls ill during paid annual leave is entitled to take the days lost at a later time.",
    )),
    ("cjeu-2015-travel", "2015-09-10", "C-266/14", "ECLI:EU:C:2015:578", "Travelling time as working time", (
        "Workers without a fixed place of work who travel to their first customer are at their employer's disposal.",
        "The time spent travelling between home and customers is working time.",
    )),
    ("cjeu-2018-dismissal", "2018-02-22", "C-103/16", "ECLI:EU:C:2018:99", "Collective dismissal of pregnant workers", (
        "A pregnant worker may be dismissed in a collective redundancy for reasons not connected with her condition.",
        "The employer must give the objective criteria that were chosen to designate the workers to be dismissed.",
    )),
    ("cjeu-2018-carry", "2018-11-06", "C-684/16", "ECLI:EU:C:2018:874", "Loss of annual leave", (
        "A worker does not lose paid annual leave only because he or she did not ask for it.",
        "The employer must prove that the worker was able to take the leave (see Case C-78/11, paragraph 2).",
    )),
    ("cjeu-2019-record", "2019-05-14", "C-55/18", "ECLI:EU:C:2019:402", "Recording of working time", (
        "Without a system that measures the working time of each day, neither its number of hours nor overtime can be known.",
        "Member States must require employers to set up an objective, reliable and accessible system of recording.",
    )),
    ("cjeu-2021-standby", "2021-03-09", "C-344/19", "ECLI:EU:C:2021:182", "Stand-by time", (
        "Stand-by time is working time where the constraints on the worker affect objectively and very significantly the use "
        "of free time (see Case C-266/14).",
        "The mere lack of leisure in the immediate area is of no importance.",
    )),
    ("cjeu-2022-equal", "2022-06-03", "C-624/19", "ECLI:EU:C:2022:429", "Equal pay for work of equal value", (
        "The principle of equal pay for male and female workers has direct effect in disputes between individuals.",
        "It may be relied on where work of equal value has one single source that fixes the pay.",
    )),
    ("cjeu-2023-rest", "2023-03-02", "C-477/21", "ECLI:EU:C:2023:140", "Daily rest and weekly rest", (
        "Daily rest and weekly rest are two rights of their own: daily rest is not part of the weekly rest period.",
        "Daily rest must be granted even where it directly precedes a period of weekly rest.",
    )),
    ("tribunal-2016-agreement", "2016-10-04", "ET-1142/16", "", "Withdrawal from an agreed termination", (
        "The employee signed an agreement that ended the contract, under threat of dismissal for gross misconduct.",
        "Consent given under such pressure is not free; the agreement is set aside and the dismissal is unfair (section 7).",
    )),
    ("tribunal-2019-notice", "2019-03-19", "ET-0377/19", "", "Pay in the place of notice", (
        "An employer who asks the employee not to work during notice must pay for the whole of it.",
        "There was no gross misconduct that would end the right to notice.",
    )),
]  # fmt: skip

CITES = {
    "soc-2012-rupture": ["L1237-11@2008"],
    "soc-2014-retractation": ["L1237-13@2008"],
    "soc-2019-exemplaire": ["L1237-11@2008", "soc-2014-retractation"],
    "soc-2020-preavis": ["L1234-1@2008", "L1234-5@2008"],
    "soc-2022-conges": ["cjeu-2012-leave"],
    "cjeu-2018-carry": ["cjeu-2012-leave"],
}

JUDGMENT = """COUR D'APPEL

1. La salariée a signé une convention de rupture sous la menace d'un licenciement pour faute grave.

2. Elle soutient que son consentement à la rupture conventionnelle a été vicié par des pressions répétées de l'employeur.

3. L'employeur répond que le délai de rétractation de quinze jours a été respecté (pourvoi n° 12-27.594).

4. La cour annule la convention de rupture, qui produit les effets d'un licenciement sans cause réelle et sérieuse.
"""

QUERIES = [
    ("q1", "rupture conventionnelle annulée pour vice du consentement", ("lyon-2021-vice", "soc-2012-rupture")),
    ("q2", "délai de rétractation quinze jours", ("L1237-13@2008", "soc-2014-retractation")),
    ("q3", "indemnité compensatrice de préavis", ("L1234-5@2008", "soc-2020-preavis")),
    ("q4", "preuve des heures supplémentaires", ("soc-2021-heures", "L3121-28@2016")),
    ("q5", "report des congés payés du salarié malade", ("soc-2022-conges",)),
    ("q6", "loyer impayé et résiliation du bail", ("lyon-2018-loyer", "civil-1728")),
    ("q7", "repos quotidien minimal", ("L3131-1@2008",)),
    ("q8", "égalité de salaire entre femmes et hommes", ("L3221-2@2008", "soc-2023-egalite")),
]


def documents():
    """Every document as a record that the importer reads."""
    records = []
    for number, title, headings, text, first, last in LABOUR_ARTICLES:
        record = _article(f"{number}@{first[:4]}", LABOUR, number, title, headings, text, "fr")
        record |= {"valid_from": first, "status": "repealed" if last else "in force"} | ({"valid_to": last} if last else {})
        records.append(record)
    for number, title, text in CIVIL_ARTICLES:
        record = _article(f"civil-{number}", CIVIL, number, title, ("Livre III", "Des contrats"), text, "fr")
        records.append(record | {"valid_from": "2016-10-01", "status": "in force"})
    for number, title, text in ACT_SECTIONS:
        record = _article(f"act-{number}", EMPLOYMENT, number, title, ("Part I", "Rights of employees"), text, "en")
        records.append(record | {"valid_from": "2010-04-01", "status": "in force"})
    for name, court, date, number, title, paragraphs in FRENCH_DECISIONS:
        records.append(_decision(name, court, date, [number], title, paragraphs, "fr"))
    for name, date, number, ecli, title, paragraphs in ENGLISH_DECISIONS:
        court = JUSTICE if ecli else "Employment Tribunal"
        records.append(_decision(name, court, date, [each for each in (ecli, number) if each], title, paragraphs, "en"))
    return records


def _article(name, code, number, title, headings, text, language):
    return {"_id": name, "title": title, "text": text, "language": language, "kind": "statute", "code": code, "number": number,
            "headings": list(headings)}  # fmt: skip


def _decision(name, court, date, identifiers, title, paragraphs, language):
    text = "\n\n".join(f"{number}. {paragraph}" for number, paragraph in enumerate(paragraphs, start=1))
    return {"_id": name, "title": title, "text": text, "language": language, "kind": "decision", "court": court, "date": date,
            "identifiers": identifiers, "citations": CITES.get(name, [])}  # fmt: skip


LENDING = [  # number, first day, text: versions of one article have one id
    ("1", "1990-01-01", "Le prêt d'un livre dure quatorze jours. Le lecteur rend le livre à la bibliothèque où il l'a pris."),
    ("1", "2005-03-01", "Le prêt d'un livre dure vingt et un jours. Le lecteur rend le livre dans toute bibliothèque du réseau."),
    ("2", "1990-01-01", "En cas de retard, le lecteur paie une somme par jour."),
]


def lending():
    """A code of two articles, the first with two versions."""
    facts = {
        "language": "fr",
        "kind": "statute",
        "code": "Code du prêt",
        "headings": ["Livre Ier : Le prêt", "Titre Ier : Durée"],
    }
    for number, day, text in LENDING:
        own = {"number": number, "valid_from": day}
        yield {"_id": f"pret-{number}", "title": f"Code du prêt, art. {number}", "text": text, "metadata": facts | own}


def write(folder):
    """The corpus, the queries and the judgements as files of a folder."""
    _lines(folder / "corpus.jsonl", documents())
    _lines(folder / "lending.jsonl", lending())
    _lines(folder / "queries.jsonl", [{"_id": name, "text": text, "language": "fr"} for name, text, _ in QUERIES])
    rows = [f"{name}\t{doc}\t1\n" for name, _, docs in QUERIES for doc in docs]
    (folder / "dev.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows), encoding="utf-8")
    (folder / "judgment.txt").write_text(JUDGMENT, encoding="utf-8")


def _lines(path, records):
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records), encoding="utf-8")
