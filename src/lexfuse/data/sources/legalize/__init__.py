"""Git repositories of law in Markdown, with one commit per reform, as the Legalize project publishes them."""
