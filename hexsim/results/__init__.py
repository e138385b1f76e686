"""The documents that hexsim answers with: each field declared once, with its unit and meaning."""
