"""Stored channels: settings, segments and their commit."""
