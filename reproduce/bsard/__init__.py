"""Louis and Spanakis: a statutory article retrieval dataset in French."""
