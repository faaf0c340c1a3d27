/**
 * Refuse to go on after the time of a request. A single run is short beside the deadline of the process, which many texts or
 * pictures of a caller must not end: that would count against the model.
 * @param done what was done until then
 * @throws Error
 */
export function requireTime(started: number, done: () => string): void {
  if (performance.now() - started <= maxMilliseconds) return;
  const seconds = maxMilliseconds / 1000;
  throw new Error(`${done()} after ${seconds} s, the time of a request: send fewer or smaller ones`);
}

const maxMilliseconds = 12_000;
