"""The one error that the detector raises for bad input."""


class TelemetryError(ValueError):
    """Input that cannot be judged; ``field`` names what is wrong with it."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem
