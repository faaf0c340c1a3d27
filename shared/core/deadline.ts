/** Whether time remains. Callers ask before every batch; after `false` they remove nothing more in this run. */
export type Deadline = () => boolean;

/** A deadline `seconds` from now. */
export function forSeconds(seconds: number): Deadline {
  const end = performance.now() + seconds * 1000;
  return () => performance.now() < end;
}
