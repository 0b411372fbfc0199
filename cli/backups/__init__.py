"""What a backup is made of: its manifest, and how each store's part is written and put back."""
