import * as z from 'zod';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { isPlainAddress, isRemoteAddress } from '../../shared/data/experiments/logged-model-rules.ts';
import { CliError } from '../cli-error.ts';
import { Target } from './copy-run.ts';
import type { SourceModel, SourceRun, SourceVersion } from './source.ts';
import { modelsOf } from './sources/mlflow-server.ts';
import { rootOf } from './store-file.ts';
import type { TrackingApi } from './tracking-api.ts';

/**
 * Copy a registered model with its versions, tags and aliases. Keep existing ones.
 * @param note called with what does not come as it is
 * @returns the number of its versions in this service
 */
export async function copyModel(
  api: TrackingApi,
  model: SourceModel,
  runs: ImportedRuns,
  note: (reason: string) => void,
): Promise<number> {
  const { name, description, tags } = model;
  try {
    await api.run('POST mlflow/registered-models/create', { body: { name, description, tags } });
  } catch (error) {
    if (!(error instanceof ProblemError && /already exists/.test(error.message))) throw error;
    // The service refuses this if another user owns the name.
    await api.run('PATCH mlflow/registered-models/update', { body: { name, description } });
  }
  const present = async () => (await modelNamed(api, name))?.versions.map(({ number }) => number) ?? [];
  const known = new Set(await present());
  for (const version of model.versions)
    if (!known.has(version.number)) await createVersion(api, name, version, runs, note);
  for (const { alias, version } of model.aliases)
    await api.run('POST mlflow/registered-models/alias', {
      body: { name, alias, version: String(version) },
    });
  const numbers = new Set(await present());
  const lost = model.versions.filter(({ number }) => !numbers.has(number));
  if (lost.length > 0)
    throw new CliError(
      `its versions ${lost.map(({ number }) => number).join(', ')} are missing in this service`,
    );
  return model.versions.length;
}

/** What versions of models need to know of an imported run: its id here, and where its files were at the source. */
export interface ImportedRun extends Pick<SourceRun, 'artifactUri' | 'loggedModels'> {
  run_id: string;
}

export const importedAs = (run_id: string, { artifactUri, loggedModels }: SourceRun): ImportedRun => ({
  ...{ run_id, artifactUri },
  ...(loggedModels !== undefined && { loggedModels }),
});

/** Imported runs by their ids at the source. */
type ImportedRuns = ReadonlyMap<string, ImportedRun>;

async function modelNamed(api: TrackingApi, name: string): Promise<SourceModel | undefined> {
  for await (const model of modelsOf(api)) if (model.name === name) return model;
  return undefined;
}

const Version = z.object({ model_version: z.object({ version: z.coerce.number() }) });

async function createVersion(
  api: TrackingApi,
  name: string,
  sourceVersion: SourceVersion,
  runs: ImportedRuns,
  note: (reason: string) => void,
): Promise<void> {
  if (lacksFiles(sourceVersion, runs)) note(versionLacksFiles);
  const source = await sourceOf(api, sourceVersion, runs);
  const body = {
    name,
    // The service takes no path of a disk.
    source: isAddress(source) ? source : `import:${encodeURIComponent(source)}`,
    run_id: runs.get(sourceVersion.runId)?.run_id ?? '',
    run_link: sourceVersion.runLink,
    description: sourceVersion.description,
    tags: sourceVersion.tags,
  };
  // Also use up the numbers of versions that were deleted at the source.
  for (;;) {
    const { model_version } = await api.json(Version, 'POST mlflow/model-versions/create', {
      body,
      isRepeatable: false,
    });
    const { version } = model_version;
    if (version === sourceVersion.number) break;
    await api.run('DELETE mlflow/model-versions/delete', { body: { name, version: String(version) } });
    if (version > sourceVersion.number)
      throw new CliError(
        `its version ${sourceVersion.number} was deleted in this service and cannot be created again`,
      );
  }
  if (sourceVersion.stage !== 'None')
    await api.run('POST mlflow/model-versions/transition-stage', {
      body: { name, version: String(sourceVersion.number), stage: sourceVersion.stage },
    });
}

export const versionLacksFiles =
  'versions of models whose files are not brought: they are at a path elsewhere';

/** Whether the files of a version do not come. A prompt has its text in a tag, and no files. */
export const lacksFiles = (version: SourceVersion, runs: ImportedRuns): boolean =>
  filesIn(version, runs) === undefined &&
  !isAddress(version.source) &&
  !version.tags.some(({ key }) => key === 'mlflow.prompt.text');

const isAddress = (source: string): boolean => isRemoteAddress(source) && isPlainAddress(source);

/** Return the address of a version's files in this service. */
async function sourceOf(api: TrackingApi, version: SourceVersion, runs: ImportedRuns): Promise<string> {
  const files = filesIn(version, runs);
  if (files === undefined) return version.source;
  const { run: target } = await api.json(Target, 'GET mlflow/runs/get', { query: { run_id: files.run_id } });
  return `mlflow-artifacts:/${rootOf(target.info.artifact_uri)}/${files.below}`;
}

/**
 * Return where a version's files are among those of its run: if they were below the artifacts of the run at the source, or
 * those of a model that the run has logged. Undefined if they are elsewhere.
 */
function filesIn(
  { source, runId }: SourceVersion,
  runs: ImportedRuns,
): { run_id: string; below: string } | undefined {
  const run = runs.get(runId);
  if (run === undefined) return undefined;
  const places: [address: string, folder: string][] = [
    [`runs:/${runId}`, ''],
    [run.artifactUri, ''],
    ...(run.loggedModels ?? []).flatMap(({ id, artifactUri, folder }): [string, string][] => [
      [`models:/${id}`, folder],
      [artifactUri, folder],
    ]),
  ];
  const below = places
    .flatMap(([address, folder]) => {
      const start = address.replace(/\/$/, '');
      if (start === '' || !`${source}/`.startsWith(`${start}/`)) return [];
      return [[folder, source.slice(start.length + 1)].filter((part) => part !== '').join('/')];
    })
    .find((path) => path !== '');
  return below === undefined ? undefined : { run_id: run.run_id, below };
}
