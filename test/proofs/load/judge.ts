import { type Figure, type FigureOptions, figure, percentile } from '../bench/figure.ts';
import type { Sample } from './open-loop.ts';

const isShed = ({ status }: Sample): boolean => status === 429 || status === 503;
const none = { atMost: 0 };

/** `200 × 1,431, 503 × 12` */
function statusText(samples: readonly Sample[]): string {
  const counts = new Map<number, number>();
  for (const { status } of samples) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts]
    .sort(([one], [other]) => one - other)
    .map(([status, count]) => `${status === 0 ? 'no answer' : status} × ${count.toLocaleString('en-US')}`)
    .join(', ');
}

const times = (samples: readonly Sample[], rank: number): number =>
  percentile(
    samples.map(({ took }) => took),
    rank,
  );

/** How requests went of which every one had to be answered, with the most that p99 may be, in milliseconds. */
export function judgeServed(samples: readonly Sample[], seconds: number, p99: number): Figure[] {
  const failed = samples.filter(({ status }) => status < 200 || status > 399);
  const broken = failed.filter(({ status }) => status === 0 || status >= 500);
  return [
    figure('requests sent', samples.length / seconds, '/s', { remark: statusText(samples) }),
    figure('p50', times(samples, 0.5), 'ms'),
    figure('p99', times(samples, 0.99), 'ms', { atMost: p99 }),
    figure('longest', times(samples, 1), 'ms'),
    figure('5xx and lost', broken.length, '', none),
    figure('other refusals', failed.length - broken.length, '', none),
  ];
}

/** How an overload went: whatever was not done was refused, with the time to come again. */
export function judgeOverload(samples: readonly Sample[], seconds: number): Figure[] {
  const done = samples.filter(({ status }) => status >= 200 && status < 400);
  const shed = samples.filter(isShed);
  const wrong = samples.filter((sample) => (sample.status === 0 || sample.status >= 500) && !isShed(sample));
  return [
    figure('requests sent', samples.length / seconds, '/s', { remark: statusText(samples) }),
    figure('done', done.length / seconds, '/s'),
    figure('p99 of those done', times(done, 0.99), 'ms'),
    figure('5xx but 503, and lost', wrong.length, '', none),
    figure('429 and 503 without Retry-After', shed.filter(({ saidWhen }) => !saidWhen).length, '', none),
  ];
}

/**
 * After how many seconds of the normal load everything was as it has to be again: no refusal any more, and p99 of each
 * further second within the bound.
 */
export function judgeRecovery(samples: readonly Sample[], seconds: number, p99: number): Figure[] {
  const isGood = (second: number): boolean => {
    const these = samples.filter(({ at }) => Math.floor(at / 1000) === second);
    return these.every(({ status }) => status >= 200 && status < 400) && !(times(these, 0.99) > p99);
  };
  let last = seconds;
  while (last > 0 && isGood(last - 1)) last -= 1;
  const bound: FigureOptions = { atMost: 10, remark: statusText(samples) };
  return [figure('back to normal after', last, 's', bound)];
}

/** p50 and p99 of each kind of request, for who wants to know where the time goes. */
export function perOperation(samples: readonly Sample[]): Figure[] {
  const kinds = [...new Set(samples.map(({ what }) => what))].sort();
  return kinds.map((kind) => {
    const these = samples.filter(({ what }) => what === kind);
    return figure(kind, times(these, 0.99), 'ms', { remark: `p50 ${times(these, 0.5).toFixed(1)} ms` });
  });
}
