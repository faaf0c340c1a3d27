import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { bytesText } from '../../shared/core/text/bytes-text.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { connect } from '../login/connect.ts';
import { LiveLine } from '../output/live-line.ts';
import { findProject, type Project } from '../projects/find-project.ts';
import { untilInterrupted } from '../upload/until-interrupted.ts';
import { countRuns } from './count-runs.ts';
import { importRuns } from './import-runs.ts';
import { type Imported, nothingImported } from './imported.ts';
import { EmptySourceError, openSource, type Tracker, trackers } from './open-source.ts';
import type { RunSource } from './source.ts';
import { TrackingApi } from './tracking-api.ts';

export interface ImportFlags {
  project?: string | undefined;
  map?: readonly (readonly [string, string])[] | undefined;
  dryRun?: boolean | undefined;
  report?: string | undefined;
  watch?: boolean | undefined;
  json?: boolean | undefined;
}

const watchMilliseconds = 10_000;

/**
 * Import what another tracker has recorded, and print what was brought and what was not.
 * @param pause milliseconds between two looks at a source that is watched
 * @throws CliError for a source that is none, and if a run or a model could not be brought
 */
export async function importTracker(
  { env, folder, printer }: CliContext,
  tracker: Tracker,
  given: string,
  flags: ImportFlags,
  pause = watchMilliseconds,
): Promise<void> {
  // An import makes much garbage and keeps little. V8 would let its heap grow to three times as much before it looks.
  for (const flag of ['--semi-space-growth-factor=1', '--heap-growing-percent=20']) setFlagsFromString(flag);
  // MLflow's clients name a database so.
  const path = resolve(folder, given.replace(/^sqlite:\/\/\//, ''));
  const names = new Map(flags.map);
  const withSource = async <T>(use: (source: RunSource) => Promise<T>, project?: Project): Promise<T> => {
    const source = await openSource(tracker, given, path, env);
    try {
      return await use(intoProject(source, project?.project_name ?? flags.project, project));
    } finally {
      await source.close?.();
    }
  };
  const line = new LiveLine(printer);
  const say = (text: string): void => {
    if (printer.isLive) line.set(text);
    else printer.say(text);
  };
  const rename = (name: string): string => names.get(name) ?? name;
  const once = (api: TrackingApi, project?: Project): Promise<Imported> =>
    withSource((source) => importRuns({ source, api, rename }, say), project).catch((error: unknown) => {
      // What is watched may begin later.
      if (!flags.watch || !(error instanceof EmptySourceError)) throw error;
      say(error.message);
      return nothingImported();
    });
  let result: Imported;
  try {
    if (flags.dryRun) result = await withSource((source) => countRuns({ source, rename }, say));
    else {
      const session = await connect(env);
      const { client, token } = session;
      const project = flags.project === undefined ? undefined : await findProject(session, flags.project);
      result = await untilInterrupted(async (signal) => {
        const api = new TrackingApi(`${client.url}/mlflow`, `Bearer ${token}`, signal);
        let all = await once(api, project);
        while (flags.watch) {
          say(`${all.runs} runs are here. Waiting for more; Ctrl-C ends it.`);
          try {
            await sleep(pause, undefined, { signal });
            all = await once(api, project);
          } catch (error) {
            // After the first look, Ctrl-C is the end that the user chose.
            if (signal.aborted) break;
            throw error;
          }
        }
        return all;
      }, 'Interrupted. Run the same command again to go on.');
    }
  } finally {
    line.end();
  }
  if (flags.report !== undefined)
    await writeFile(resolve(folder, flags.report), `${JSON.stringify(result, undefined, 2)}\n`);
  if (flags.json) printer.json(result);
  else printer.facts(factsOf(tracker, result, flags.dryRun ?? false));
  if (result.failures.length > 0)
    throw new CliError(result.failures.map((failure) => `Not imported: ${failure}`).join('\n'));
}

/**
 * Put all runs of a source into one project, if one is given, which may not exist yet. An experiment that was deleted at the
 * source does not delete this project, only its own runs are deleted ones.
 */
export const intoProject = (
  source: RunSource,
  name: string | undefined,
  project?: Pick<Project, 'project_id'>,
): RunSource => {
  if (name === undefined) return source;
  const deleted = new Set<string>();
  return {
    ...source,
    async *experiments() {
      for await (const experiment of source.experiments()) {
        if (experiment.isDeleted) deleted.add(experiment.id);
        yield { ...experiment, name, isDeleted: false, project_id: project?.project_id };
      }
    },
    async *runs(experiment) {
      // A source knows its runs by these objects.
      for await (const run of source.runs(experiment))
        yield deleted.has(experiment.id) ? Object.assign(run, { isDeleted: true }) : run;
    },
  };
};

function factsOf(tracker: Tracker, found: Imported, isCount: boolean): [string, string | null][] {
  const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`;
  const known = found.known === 0 ? '' : `, ${found.known} of them before`;
  const models = `${count(found.models, 'model')} with ${count(found.versions, 'version')}`;
  const facts: [string, string | null][] = [
    [isCount ? 'would come' : 'brought', `${count(found.runs, 'run')} of ${trackers[tracker].name}${known}`],
    ['projects', String(found.experiments)],
    ['params', String(found.params)],
    ['points', String(found.points)],
    ['files', found.files === 0 ? null : `${found.files}, ${bytesText(found.bytes)}`],
    ['models', found.models === 0 ? null : models],
  ];
  const reasons = Object.entries(found.omitted).toSorted(([, a], [, b]) => b - a);
  const shown = reasons.slice(0, shownReasons).map(([reason, number]) => `${number} × ${reason}`);
  const more = reasons.length - shown.length;
  if (more > 0) shown.push(`and ${more} more reasons: --report FILE lists them`);
  return [
    ...facts,
    [isCount ? 'would not' : 'not as it was', shown.length === 0 ? 'nothing' : shown.join('\n')],
  ];
}

const shownReasons = 20;
