"""Measures, significance and comparison of runs.

    evaluate(qrels, run, "nDCG@10 R@100")                   what one run reaches
    compare(qrels, runs, "nDCG@10", baseline="bm25")        what is better, and whether that is chance

The rest are the parts: measures as values and their spelling, paired tests, intervals, corrections.
"""
