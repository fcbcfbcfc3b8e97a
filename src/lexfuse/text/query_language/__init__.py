"""The query language: phrases, exclusions, AND OR NOT, prefixes, proximity and fields."""
