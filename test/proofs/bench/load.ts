import autocannon from 'autocannon';
import { median, percentile } from './figure.ts';

/** One request that is sent again and again. */
export interface Target {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
}

export interface Targets {
  first: Target;
  second: Target;
}

/** Results of a server under load. */
interface Load {
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

/** Two servers under the same load in turns; ratios are medians over the turns of the first's to the second's. */
export interface Comparison {
  first: Load;
  second: Load;
  ratio: Load;
}

/** @throws Error for any answer but 200 */
async function load({ url, method, headers }: Target, connections: number, seconds: number): Promise<Load> {
  const milliseconds: number[] = [];
  let begun = 0;
  let ended = 0;
  const options = { url, method, headers, connections, duration: seconds, sampleInt: 50, timeout: 20 };
  await new Promise<void>((resolve, reject) => {
    const instance = autocannon(options, (error, result) => {
      const bad = result.non2xx + result.errors + result.timeouts;
      if (error !== null) reject(error);
      else if (bad > 0) reject(new Error(`${method} ${url}: ${bad} requests failed`));
      else resolve();
    });
    begun = performance.now();
    // Its own histogram has whole milliseconds only.
    instance.on('response', (_client, _status, _bytes, took) => {
      milliseconds.push(took);
      ended = performance.now();
    });
  });
  const perSecond = (milliseconds.length / (ended - begun)) * 1000;
  return { perSecond, p50: percentile(milliseconds, 0.5), p99: percentile(milliseconds, 0.99) };
}

const overall = (loads: readonly Load[]): Load => ({
  perSecond: median(loads.map(({ perSecond }) => perSecond)),
  p50: median(loads.map(({ p50 }) => p50)),
  p99: median(loads.map(({ p99 }) => p99)),
});

/** Most that two servers are asked for at once. */
const warmConnections = 16;

/** Warm up both servers: the service compiles far more code than a bare server. */
export async function warmUp({ first, second }: Targets, seconds: number): Promise<void> {
  await load(first, warmConnections, seconds);
  await load(second, warmConnections, seconds);
}

/** Load two servers in turns, so that other work of the machine affects both. */
export async function compare(
  targets: Targets,
  connections: number,
  { turns, seconds }: { turns: number; seconds: number },
): Promise<Comparison> {
  const first: Load[] = [];
  const second: Load[] = [];
  const ratios: Load[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    // Who begins changes, so that neither always follows the other.
    const swap = turn % 2 === 0;
    const early = await load(swap ? targets.second : targets.first, connections, seconds);
    const late = await load(swap ? targets.first : targets.second, connections, seconds);
    const [one, other] = swap ? [late, early] : [early, late];
    first.push(one);
    second.push(other);
    ratios.push({
      perSecond: one.perSecond / other.perSecond,
      p50: one.p50 / other.p50,
      p99: one.p99 / other.p99,
    });
  }
  return { first: overall(first), second: overall(second), ratio: overall(ratios) };
}
