import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { DemoExperiment, hasEnded } from './demo-experiment.ts';
import type { Screen } from './screen.ts';
import { pathOf, type ServiceClient } from './service-client.ts';

const LogLine = z.object({
  time: z.string(),
  stream: z.enum(['stdout', 'stderr', 'service']),
  message: z.string(),
});

const pollMilliseconds = 400;
const nextLink = /^<\?([^>]*)>; rel="next"$/;

interface Log {
  path: string;
  node: number;
  show(line: z.infer<typeof LogLine>): void;
  /** Whether nothing more is worth waiting for, though the log may still grow. */
  isEnough(): boolean;
}

/** Shows each line of a node's log as it comes, until the log is complete or enough. */
async function followLog(client: ServiceClient, { path, node, show, isEnough }: Log): Promise<void> {
  let query: string | undefined = `node=${node}`;
  while (query !== undefined) {
    const isLast = isEnough();
    const response = await client.send('GET', `${path}/logs`, { query });
    const lines = z.array(LogLine).parse(await response.json());
    lines.forEach(show);
    query = nextLink.exec(response.headers.get('link') ?? '')?.[1];
    if (query === undefined || lines.length > 0) continue;
    if (isLast) return;
    await delay(pollMilliseconds);
  }
}

/** Shows how the experiment gets on, until it ends. */
async function followStatus(
  client: ServiceClient,
  path: string,
  show: (experiment: DemoExperiment) => void,
): Promise<DemoExperiment> {
  let shown = '';
  for (;;) {
    const experiment = await client.json(DemoExperiment, 'GET', path);
    const state = `${experiment.status} ${experiment.status_reason}`;
    if (state !== shown) show(experiment);
    shown = state;
    if (hasEnded(experiment)) return experiment;
    await delay(pollMilliseconds);
  }
}

/** Shows the states and the logs of all nodes while the experiment runs. Returns it as it ended. */
export async function followExperiment(
  client: ServiceClient,
  project_id: string,
  begun: DemoExperiment,
  screen: Screen,
): Promise<DemoExperiment> {
  const path = pathOf('projects', project_id, 'experiments', begun.experiment_id);
  const startedAt = Date.now();
  const created = Date.parse(begun.created_at);
  const nodes = Array.from({ length: begun.nodes }, (_, node) => node);
  const logName = (node: number) => (nodes.length === 1 ? 'log' : `node ${node}`);
  let hasMainEnded = false;
  const show =
    (node: number) =>
    ({ time, stream, message }: z.infer<typeof LogLine>) => {
      // Both times are the service's, whose clock may be another than ours.
      const seconds = (Date.parse(time) - created) / 1000;
      screen.progress(seconds, stream === 'service' ? 'service' : logName(node), message);
    };
  const [ended] = await Promise.all([
    followStatus(client, path, ({ status, status_reason }) => {
      const text = status_reason === null ? status : `${status}: ${status_reason}`;
      screen.progress((Date.now() - startedAt) / 1000, 'status', text);
    }).finally(() => {
      hasMainEnded = true;
    }),
    // Node 0 decides; the logs of the others stay open for a minute after it, for what little they may still say.
    ...nodes.map((node) =>
      followLog(client, { path, node, show: show(node), isEnough: () => node > 0 && hasMainEnded }),
    ),
  ]);
  return ended;
}
