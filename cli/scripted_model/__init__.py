"""An OpenAI-compatible endpoint that plays a script: a model for those who have none."""
