"""What a training writes: results, model card and work folder."""
