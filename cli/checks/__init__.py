"""What `verity doctor` looks at: one module for each thing that can be wrong, and the finding."""
