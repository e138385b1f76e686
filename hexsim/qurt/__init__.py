"""Parts of the QuRT model: issue rule, placement, contention, context locks."""
