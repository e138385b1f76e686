"""The reports of decisions between chips, runtimes and quantiser modes."""
