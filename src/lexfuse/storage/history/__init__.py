"""Law in time: the versions of documents, and the day that an index is read on."""
