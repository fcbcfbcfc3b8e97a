"""The atlas: when does fusing help in law? `lexfuse advise` over every collection at hand, zero-shot and tuned, on one page."""
