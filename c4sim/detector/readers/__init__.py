"""Files -> Telemetry: .npz and Parquet telemetry, traces, flight recorder dumps, CSV step times."""
