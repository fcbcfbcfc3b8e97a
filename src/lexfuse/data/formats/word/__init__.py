"""Files of word processors: DOCX and ODT, zip packages of XML."""
