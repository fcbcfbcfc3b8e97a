"""Louis, van Dijck and Spanakis: know when to fuse."""
