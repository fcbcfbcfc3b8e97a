"""The parts of the HTML report, each a function from an advice to a piece of page."""
