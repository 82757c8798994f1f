"""Long work: queued, observed, cancelled."""
