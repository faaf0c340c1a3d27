import { Agent, request } from 'node:http';

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
  failed: number;
}

/** Ask with so many clients at once, each with a connection of its own, for so many seconds. */
export async function measureLoad(asked: Asked, clients: number, seconds: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const times: number[] = [];
  let failed = 0;
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
  agent.destroy();
  times.sort((one, other) => one - other);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), perSecond: times.length / seconds, failed };
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
