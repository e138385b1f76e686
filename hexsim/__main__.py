"""`python -m hexsim`, for a checkout that is not installed."""

from hexsim.cli import main

main()
