"""The sample corpus: sources in Markdown, built to the PDF files beside this module."""
