"""What reading a run may raise."""


class RunError(RuntimeError):
    """The directory does not hold what was asked for; the message says what is there."""
