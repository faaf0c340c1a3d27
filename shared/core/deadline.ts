/** Whether time is left. Asked before every batch; after `false` nothing more is removed in this run. */
export type Deadline = () => boolean;

/** A deadline in so many seconds. */
export function forSeconds(seconds: number): Deadline {
  const end = performance.now() + seconds * 1000;
  return () => performance.now() < end;
}
