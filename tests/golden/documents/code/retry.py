"""Retries with growing pauses."""

MAX_RETRY_ATTEMPTS = 7


def backoff_seconds(attempt: int) -> float:
    """Double the pause with every attempt, 30 seconds at most."""
    return min(30.0, 0.5 * 2**attempt)


class CircuitBreaker:
    """Opens after five failures in a row and closes after a minute."""

    def trip(self) -> None:
        self.opened = True
