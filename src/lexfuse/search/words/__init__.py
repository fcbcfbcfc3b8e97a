"""The words of an index: corrections of misspelt questions, and suggestions while a question is typed."""
