import { Agent, request } from 'node:http';
import { thisHost } from '../../../shared/host/this-host.ts';
import { descendants } from '../bench/descendants.ts';

/** One way to ask a server for an inference. */
export interface Asked {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}

export interface Load {
  /** Milliseconds. */
  p50: number;
  p95: number;
  perSecond: number;
  /** Milliseconds of processor time of a request, in the server and all processes that it started. */
  cpu: number;
  failed: number;
}

/**
 * Ask with so many clients at once, each with a connection of its own, for so many seconds.
 * @param pid process of the server
 */
export async function measureLoad(
  asked: Asked,
  clients: number,
  seconds: number,
  pid: number,
): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const times: number[] = [];
  let failed = 0;
  const family = await descendants(pid);
  const before = await processorMilliseconds(family);
  const end = performance.now() + seconds * 1000;
  const client = async () => {
    while (performance.now() < end) {
      const started = performance.now();
      const status = await ask(asked, agent);
      times.push(performance.now() - started);
      if (status !== 200) failed += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  const cpu = ((await processorMilliseconds(family)) - before) / times.length;
  agent.destroy();
  times.sort((one, other) => one - other);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), perSecond: times.length / seconds, cpu, failed };
}

/** Processor time of processes since they started, in ticks of 10 ms. */
async function processorMilliseconds(pids: readonly number[]): Promise<number> {
  const found = await Promise.all(pids.map((pid) => thisHost.readProcess(pid)));
  return found.reduce((sum, process) => sum + (process?.cpuSeconds ?? 0) * 1000, 0);
}

/** Return the status of one answer, or 0 if the connection ended. */
export const ask = ({ url, headers, body }: Asked, agent: Agent): Promise<number> =>
  new Promise((resolve) => {
    const sent = request(
      url,
      { method: 'POST', agent, headers: { ...headers, 'Content-Length': body.length } },
      (answer) => {
        answer.resume();
        answer.once('end', () => resolve(answer.statusCode ?? 0));
        answer.once('error', () => resolve(0));
      },
    );
    sent.once('error', () => resolve(0));
    sent.end(body);
  });
