"""The tables and figures of the papers that LexFuse implements, measured anew: paper | ours | difference.

Every table or figure is two files in the folder of its paper: a TOML file with the figures that the paper prints, and a module of
the same name whose function `measure` measures them. `python -m reproduce` lists them.
"""
