import { stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { endpoint as downloadArtifact } from '../../../functions/experiments/artifacts/download-artifact.endpoint.ts';
import type { endpoint as listArtifacts } from '../../../functions/experiments/artifacts/list-artifacts.endpoint.ts';
import { saveDownload, savedState } from '../../../shared/client/node/save-download.ts';
import type { RowOf } from '../../../shared/client/route.ts';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import { ignoresCase, sameButForCase } from '../../../shared/host/ignores-case.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { namedExperiment } from '../../experiments/find-experiment.ts';
import { LiveLine } from '../../output/live-line.ts';
import { replacedError } from '../../output/save-text.ts';
import { untilInterrupted } from '../../upload/until-interrupted.ts';
import { experimentId } from '../arguments.ts';
import { command } from '../command.ts';
import { force, json, type ProjectFlags, project, text } from '../flags.ts';

export const pullCommand = command({
  brief: 'Download the artifacts or checkpoints of an experiment',
  help: 'An interrupted download is resumed; the SHA-256 of every file is verified. Only --force replaces a file with different content.\n\nExamples:\n  mps pull\n  mps pull 4k8f model --to results\n  mps pull --checkpoints',
  args: [
    experimentId,
    {
      brief: 'File or folder of the experiment (default: all)',
      placeholder: 'PATH',
      parse: String,
      optional: true,
    },
  ],
  flags: {
    to: text('DIR', "Folder to save in (default: named by the experiment's ID)"),
    checkpoints: {
      kind: 'boolean',
      brief: 'Download the checkpoints, by default to its folder checkpoints',
      optional: true,
    },
    force,
    project,
    json,
  },
  run: pull,
});

async function pull(
  this: CliContext,
  { to, checkpoints = false, force: isForced = false, project: given, json: isJson }: Flags,
  id?: string,
  wanted?: string,
): Promise<void> {
  const { session, path } = await namedExperiment(this, given, id);
  const { client } = session;
  const kind = checkpoints ? ('checkpoint' as const) : ('artifact' as const);
  const folder = resolve(this.folder, to ?? join(path.experiment_id, checkpoints ? 'checkpoints' : ''));
  const route = 'GET /projects/{project_id}/experiments/{experiment_id}/artifacts';
  const chosen: { artifact: Artifact; place: string }[] = [];
  for await (const artifact of client.rows<typeof listArtifacts>(route, {
    path,
    query: { kind, limit: 1000 },
  }))
    if (
      wanted === undefined ||
      artifact.path === wanted ||
      artifact.path.startsWith(`${wanted.replace(/\/$/, '')}/`)
    )
      chosen.push({ artifact, place: pullPlace(folder, artifact.path) });
  if (chosen.length === 0)
    throw new CliError(
      wanted === undefined ? `The experiment has no ${kind}s.` : `The experiment has no ${kind} ${wanted}.`,
    );
  await refusePullClashes(
    folder,
    chosen.map(({ place }) => place),
  );
  await refuseSameCase(
    folder,
    chosen.map(({ artifact }) => artifact.path),
  );
  const other: string[] = [];
  const found = new Set<string>();
  for (const { artifact, place } of chosen) {
    const state = await savedState({ ...artifact, path: place });
    if (state === 'same') found.add(place);
    if (state === 'other') other.push(place);
  }
  if (other.length > 0 && !isForced) throw replacedError(other, 'nothing was downloaded');
  const line = new LiveLine(this.printer);
  const work = async (signal: AbortSignal) => {
    for (const { artifact, place } of chosen) {
      const { size, sha256 } = artifact;
      const onProgress = (bytes: number) =>
        line.set(`${artifact.path}: ${bytesText(bytes)} of ${bytesText(size)}`);
      const request = { path: { ...path, path: artifact.path }, query: { kind } } as const;
      const saving = { path: place, size, sha256, onProgress, signal };
      const isNew = !found.has(place);
      if (isNew) await saveDownload<typeof downloadArtifact>(client, `${route}/{path+}`, request, saving);
      line.above(() => {
        if (isJson) this.process.stdout.write(`${JSON.stringify({ ...artifact, saved: place })}\n`);
        else this.printer.say(`${place}  ${bytesText(size)}${isNew ? '' : ', already there'}`);
      });
    }
  };
  try {
    await untilInterrupted(work, 'Interrupted; run the same command again to continue.');
  } finally {
    line.end();
  }
}

interface Flags extends ProjectFlags {
  to?: string;
  checkpoints?: boolean;
  force?: boolean;
}

type Artifact = RowOf<typeof listArtifacts>;

/** Return the local path of an experiment's file. @throws CliError for a path outside the folder */
function pullPlace(folder: string, path: string): string {
  const place = resolve(folder, path);
  if (place.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)) return place;
  throw new CliError(`The artifact "${path}" would be saved outside of ${folder}; nothing was downloaded.`);
}

/**
 * Refuse paths that would be both a file and a folder, among the new files or with existing ones.
 *
 * @param folder target folder, which may not exist yet
 * @param places paths below the folder
 * @throws CliError for such a clash
 */
async function refusePullClashes(folder: string, places: readonly string[]): Promise<void> {
  const fault = (text: string) =>
    new CliError(`${text}; nothing was downloaded. Choose another folder with --to.`, exitCodes.usage);
  const folders = new Set([folder]);
  for (const place of places) for (let at = dirname(place); at !== folder; at = dirname(at)) folders.add(at);
  const both = places.find((place) => folders.has(place));
  if (both !== undefined)
    throw fault(
      `${both} would be both a file and a folder: the experiment has an artifact ${relative(folder, both)} and others below that path`,
    );
  for (const one of folders) if ((await kindOf(one)) === 'file') throw fault(`${one} is not a folder`);
  for (const place of places) if ((await kindOf(place)) === 'folder') throw fault(`${place} is a folder`);
}

/**
 * Refuse paths that differ only in upper and lower case if the file system takes them for one.
 * @throws CliError that names two of them
 */
async function refuseSameCase(folder: string, paths: readonly string[]): Promise<void> {
  const pair = sameButForCase(paths);
  if (pair === undefined || !(await ignoresCase(folder))) return;
  const [one, other] = pair;
  throw new CliError(
    `${one} and ${other} differ only in upper and lower case, which the file system of ${folder} does not tell apart; nothing was downloaded. Name one of them, or choose a folder on another file system with --to.`,
    exitCodes.usage,
  );
}

const kindOf = (path: string): Promise<'folder' | 'file' | undefined> =>
  stat(path).then(
    (found) => (found.isDirectory() ? 'folder' : 'file'),
    () => undefined,
  );
