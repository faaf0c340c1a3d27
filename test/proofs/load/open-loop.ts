import type { Reply, Sender, Shot } from './send.ts';

/** What became of one request. */
export interface Sample {
  what: string;
  status: number;
  /** Whether the answer said when to come again. */
  saidWhen: boolean;
  /** Milliseconds into the phase at which it was due. */
  at: number;
  /** Milliseconds from when it was due to the end of its answer. */
  took: number;
}

const tick = 2;

const exponential = (mean: number): number => -Math.log(1 - Math.random()) * mean;

const sampleOf = ({ what }: Shot, { status, headers }: Reply, at: number, took: number): Sample => ({
  what,
  status,
  saidWhen: headers['retry-after'] !== undefined,
  at,
  took,
});

/**
 * Sends requests at random moments, `perSecond` on average, whether or not earlier ones were answered: as many people
 * who know nothing of each other would. A request's time counts from the moment it was due, so that a service that
 * stands still is not asked less and looks the better for it.
 */
export async function fire(
  sender: Sender,
  next: () => Shot,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<Sample[]> {
  const samples: Sample[] = [];
  const pending: Promise<void>[] = [];
  const begun = performance.now();
  const mean = 1000 / perSecond;
  let due = exponential(mean);
  while (due < seconds * 1000) {
    while (due < seconds * 1000 && performance.now() - begun >= due) {
      const at = due;
      const shot = next();
      pending.push(
        sender.send(shot).then((reply) => {
          samples.push(sampleOf(shot, reply, at, performance.now() - begun - at));
        }),
      );
      due += exponential(mean);
    }
    await new Promise((resolve) => setTimeout(resolve, tick));
  }
  await Promise.all(pending);
  return samples;
}
