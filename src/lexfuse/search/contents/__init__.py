"""Where documents are in their codes: the table of contents, and the facet of headings."""
