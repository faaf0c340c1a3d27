import { realpath, stat } from 'node:fs/promises';
import { sep } from 'node:path';
import * as z from 'zod';
import type { RunSource, SourceRun } from '../source.ts';
import { withFolders } from './logged-models.ts';
import { linksElsewhere, Omissions } from './omissions.ts';
import { openLocal } from './open-local.ts';
import type { PythonReader } from './python-reader.ts';
import { RunRecords } from './run-records.ts';

/** Return what a program of Python reads. Files come from below `root` or from what the program made. */
export function pythonSource(reader: PythonReader, root: string): RunSource {
  const records = new RunRecords<{ omissions: Omissions; locals: Map<string, string> }>();
  const unread: string[] = [];
  const beside = new Map<string, Record<string, number>>();
  let lists = 0;
  /** Yield the items of a list. One that is no such item does not keep the others back. */
  async function* batches<T>(item: z.ZodType<T>, omissions: Omissions | undefined, ...request: string[]) {
    lists += 1;
    const list = String(lists);
    for (let more = true; more; ) {
      const answer = await reader.ask(list, ...request);
      more = answer.more;
      for (const [reason, count] of Object.entries(answer.omitted)) omissions?.add(reason, count);
      // A list may be asked for twice.
      if (omissions === undefined && !more) beside.set(request.join(' '), answer.omitted);
      unread.push(...answer.unread);
      yield answer.items.flatMap((given) => {
        const { data, error } = item.safeParse(given);
        if (error === undefined) return [data as T];
        const [fault] = error.issues;
        const reason = `${fault?.path.join('.')}: ${fault?.message}`;
        if (omissions === undefined) unread.push(`${nameOf(given)}: ${reason}`);
        else omissions.add(`${request[0]} that are none (${reason})`);
        return [];
      });
    }
  }
  return {
    async *experiments() {
      for await (const batch of batches(Experiment, undefined, 'experiments')) yield* batch;
    },
    async *runs({ id }) {
      for await (const batch of batches(Run, undefined, 'runs', id))
        for (const run of batch) {
          records.set(run, { omissions: new Omissions(), locals: new Map() });
          yield run;
        }
    },
    async *points(run) {
      for await (const batch of batches(Point, records.of(run).omissions, 'points', run.id))
        yield batch.map(([key, value, timestamp, step]) => ({ key, value, timestamp, step }));
    },
    async *files(run) {
      const { omissions, locals } = records.of(run);
      const roots = await Promise.all([root, reader.scratch].map((folder) => realpath(folder)));
      for await (const batch of batches(File, omissions, 'files', run.id))
        for (const { path, local } of batch) {
          const real = await realpath(local).catch(() => undefined);
          const status = real === undefined ? undefined : await stat(real).catch(() => undefined);
          if (real === undefined || !status?.isFile()) omissions.add('files that are no longer there');
          else if (!roots.some((folder) => isBelow(real, folder))) omissions.add(linksElsewhere);
          else {
            locals.set(path, real);
            yield { path, size: status.size };
          }
        }
    },
    openFile: async (run, { path, size }) => openLocal(records.of(run).locals.get(path) ?? '', size),
    async *models() {
      for await (const batch of batches(Model, undefined, 'models')) yield* batch;
    },
    omitted: (run) => records.of(run).omissions.counts,
    omittedBeside() {
      const all = new Omissions();
      for (const omitted of beside.values())
        for (const [reason, count] of Object.entries(omitted)) all.add(reason, count);
      return all.counts;
    },
    unread: () => unread,
    async release(run) {
      await reader.ask('0', 'release', run.id);
    },
    close: () => reader.close(),
  };
}

/** Whether a file is below a folder, and not in a hidden one there: a record of somebody else must not bring keys. */
const isBelow = (real: string, folder: string): boolean =>
  real.startsWith(folder + sep) && !/[\\/]\./.test(real.slice(folder.length));

/** Return what an item is called. */
function nameOf(item: unknown): string {
  const { id, name } = (item ?? {}) as { id?: unknown; name?: unknown };
  return JSON.stringify(id ?? name ?? item).slice(0, 200);
}

const Pairs = z.array(z.object({ key: z.string(), value: z.string() }));

const Experiment = z.object({ id: z.string(), name: z.string(), tags: Pairs, isDeleted: z.boolean() });

const moment = z
  .number()
  .nullable()
  .transform((time) => time ?? undefined);

const Run: z.ZodType<SourceRun> = z
  .object({
    id: z.string(),
    name: z.string(),
    status: z.string(),
    user: z.string().default(''),
    start: moment,
    end: moment,
    isDeleted: z.boolean().default(false),
    params: Pairs,
    tags: Pairs,
    datasets: z.array(z.record(z.string(), z.unknown())).default([]),
    artifactUri: z.string().default(''),
    loggedModels: z
      .array(
        z.object({ id: z.string(), name: z.string(), artifactUri: z.string(), params: Pairs, tags: Pairs }),
      )
      .default([]),
    state: z.string(),
  })
  .transform(({ loggedModels, ...run }) => ({
    ...run,
    ...(loggedModels.length > 0 && { loggedModels: withFolders(loggedModels, run) }),
  }));

/** JSON has no word for numbers that are none. */
const time = z
  .number()
  .nullable()
  .transform((value) => value ?? Number.NaN);

const Point = z.tuple([
  z.string(),
  z.union([z.number(), z.enum(['NaN', 'Infinity', '-Infinity'])]),
  time,
  time,
]);

const File = z.object({ path: z.string(), local: z.string() });

const Model = z.object({
  name: z.string(),
  description: z.string(),
  tags: Pairs,
  aliases: z.array(z.object({ alias: z.string(), version: z.number() })),
  versions: z.array(
    z.object({
      number: z.number(),
      description: z.string(),
      source: z.string(),
      runId: z.string(),
      runLink: z.string(),
      stage: z.string(),
      tags: Pairs,
    }),
  ),
});
