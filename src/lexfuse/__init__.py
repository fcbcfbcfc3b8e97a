"""LexFuse finds the law: hybrid retrieval for statutes and case law, and honest evaluation of it."""
