"""The tools, one file each; a file's `TOOLS` says which tools by name."""
