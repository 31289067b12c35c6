"""c4sim: a discrete-event simulator of the reliability of large synchronous training jobs."""
