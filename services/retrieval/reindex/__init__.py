"""The command that builds the index on a Qdrant server anew, and switches to it and back."""
