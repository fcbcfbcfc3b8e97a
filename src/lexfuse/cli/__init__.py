"""The command line: thin faces over library calls."""
