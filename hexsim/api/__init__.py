"""The functions of `import hexsim`, which imports each module here when it is first used."""
