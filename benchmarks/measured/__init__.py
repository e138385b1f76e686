"""Rows of published measurements that the product does not read: only pages and fits do."""
