/**
 * Call a function once this process has run for a time, in which it counts ticks. AWS Lambda freezes a process between two
 * requests; such a time is one tick, and not a timeout of everything at the thaw.
 * @returns a function that cancels it
 * @example
 * const cancel = afterRunning(25_000, () => child.kill());
 */
export function afterRunning(
  milliseconds: number,
  act: () => void,
  { holdsProcess = true }: { holdsProcess?: boolean } = {},
): () => void {
  let left = ticks;
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    act();
  }, milliseconds / ticks);
  if (!holdsProcess) timer.unref();
  return () => clearInterval(timer);
}

const ticks = 25;
