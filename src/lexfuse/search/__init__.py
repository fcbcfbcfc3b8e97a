"""Search pipelines: specification, fusion, reranking, results and explanations."""
