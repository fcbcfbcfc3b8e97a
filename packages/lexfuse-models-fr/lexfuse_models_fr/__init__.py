"""The French legal models of LexFuse: a folder for each, found by `lexfuse.encode.model_folder.locator`."""
