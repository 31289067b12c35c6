"""Tables, figures and pages: reads results, never runs a simulation."""
