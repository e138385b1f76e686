"""The tools, one file each; the `TOOLS` of a file has its tools by name."""
