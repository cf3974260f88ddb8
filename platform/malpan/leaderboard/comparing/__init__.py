"""Two results of one team compared, as ``python -m scoring compare`` does: asked for by a page, computed by a job."""
