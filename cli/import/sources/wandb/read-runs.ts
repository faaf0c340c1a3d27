import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { filesBelow } from '../files-below.ts';
import { linksElsewhere, Omissions } from '../omissions.ts';
import { isFresh } from '../run-records.ts';
import { ScratchFiles } from '../scratch-files.ts';
import { MediaNames } from './wandb-media.ts';
import { readRun, type WandbRun } from './wandb-run.ts';

/** Read all runs below a folder, by their projects. Note the logs that cannot be read. */
export async function readRuns(
  folder: string,
  unread: string[],
  beside: Omissions,
): Promise<Map<string, ReadRun[]>> {
  const runs = new Map<string, ReadRun>();
  for (const log of await logsIn(folder, beside)) {
    const [run, status] = await Promise.all([readRun(log), stat(log)]).catch((error: unknown) => {
      unread.push(`${log}: ${(error as Error).message}`);
      return [undefined, undefined] as const;
    });
    if (status !== undefined && run === undefined) unread.push(`${log}: its records name no run`);
    if (run === undefined || status === undefined) continue;
    const { mtimeMs, size } = status;
    const key = `${run.entity}/${run.project}/${run.id}`;
    const earlier = runs.get(key);
    const isLive = run.exitCode === undefined && isFresh(mtimeMs);
    const part = { path: log, until: Number.POSITIVE_INFINITY };
    const rewoundTo = run.fork?.run === run.id ? run.fork.step : undefined;
    if (rewoundTo !== undefined) run.fork = undefined;
    if (earlier === undefined)
      runs.set(key, {
        run,
        logs: [part],
        rewoundTo,
        bytes: size,
        isLive,
        changed: mtimeMs,
        last: { step: 0, time: run.start ?? mtimeMs },
        media: new MediaNames(),
        scratch: new ScratchFiles(),
        locals: new Map(),
        omissions: new Omissions(),
      });
    else {
      // Folders are named by the time of their beginning, so the later one is the continuation.
      earlier.run = continued(earlier.run, run);
      if (rewoundTo !== undefined) {
        for (const before of earlier.logs) before.until = Math.min(before.until, rewoundTo);
        // What it had until then is among the values of its history.
        earlier.run.summary = run.summary;
        earlier.rewoundTo = rewoundTo;
      }
      earlier.logs.push(part);
      earlier.bytes += size;
      earlier.isLive = isLive;
      earlier.changed = Math.max(earlier.changed, mtimeMs);
    }
  }
  const projects = new Map<string, ReadRun[]>();
  for (const run of runs.values()) {
    const name = run.run.project || 'uncategorized';
    projects.set(name, [...(projects.get(name) ?? []), run]);
  }
  return projects;
}

/** A run of W&B, of which each folder has a part. */
export interface ReadRun {
  run: WandbRun;
  /** Files of its records, oldest first, and the last step of each that no later part has replaced. */
  logs: { path: string; until: number }[];
  /** Step from which the latest part of a rewound run goes on. */
  rewoundTo: number | undefined;
  /** Bytes of its records. */
  bytes: number;
  isLive: boolean;
  /** Milliseconds since the epoch of the last change. */
  changed: number;
  /** Last step and time of the history that was read. */
  last: { step: number; time: number };
  media: MediaNames;
  scratch: ScratchFiles;
  locals: Map<string, string>;
  omissions: Omissions;
}

/** Maximum depth of run folders below the given one. */
const maxDepth = 6;

/** Find the logs below a folder, apart from links: `latest-run` is one. Count the others. */
async function logsIn(folder: string, beside: Omissions): Promise<string[]> {
  const paths: string[] = [];
  const enters = (name: string, depth: number): boolean => depth < maxDepth && name !== 'node_modules';
  for await (const { path, isFile } of filesBelow(folder, enters))
    if (isFile && path.endsWith('.wandb')) paths.push(join(folder, path));
    else if (!isFile && /^(offline-)?run-|\.wandb$/.test(basename(path))) beside.add(linksElsewhere);
  return paths;
}

/** Join what a run and its continuation say. */
const continued = (first: WandbRun, later: WandbRun): WandbRun => ({
  ...later,
  start: first.start ?? later.start,
  name: later.name || first.name,
  notes: later.notes || first.notes,
  tags: [...new Set([...first.tags, ...later.tags])],
  config: new Map([...first.config, ...later.config]),
  summary: new Map([...first.summary, ...later.summary]),
  axes: new Map([...first.axes, ...later.axes]),
  used: [...first.used, ...later.used],
  artifacts: [...first.artifacts, ...later.artifacts],
  fork: first.fork ?? later.fork,
  alerts: [...first.alerts, ...later.alerts],
  environment: { ...first.environment, ...later.environment },
  eventFolders: first.eventFolders + later.eventFolders,
  hasOutput: first.hasOutput || later.hasOutput,
  damage: {
    blocks: first.damage.blocks + later.damage.blocks,
    isTorn: first.damage.isTorn || later.damage.isTorn,
  },
});
