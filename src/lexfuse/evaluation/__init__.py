"""Measures, significance and comparison of runs.

    evaluate(qrels, run, "nDCG@10 R@100")                   what one run or several reach
    compare(qrels, runs, "nDCG@10", baseline="bm25")        what is better, and whether that is chance

The other modules are their parts: measures as values and their names, paired tests, intervals, corrections.
"""
