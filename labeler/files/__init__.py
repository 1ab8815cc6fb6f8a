"""Check, convert and explore result files; no study is needed."""
