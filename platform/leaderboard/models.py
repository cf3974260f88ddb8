"""The board is computed from live runs; frozen boards will be stored here as snapshots."""
