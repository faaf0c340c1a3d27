"""Tests of the package: `python3 -m unittest discover -t python -s python/tests`, also part of `npm test`."""
