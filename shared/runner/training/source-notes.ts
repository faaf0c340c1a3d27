import { chown, lstat, mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SourceNotes, sourceNotesMaxBytes, sourceNotesPath } from '../../config/source-notes.ts';
import type { CommandUser } from '../../host/host.ts';
import { openOwned } from '../host/growing-file.ts';
import { readAtMost } from '../host/read-at-most.ts';
import { JobError } from '../job/job-error.ts';
import type { TrainingRun } from '../job/training-job.ts';

/**
 * Read the notes of an unpacked source, and remove their file: it is none of the user's. Without notes, return empty
 * ones.
 *
 * @throws JobError if the notes are malformed, or name a folder that is not in the source
 */
export async function takeSourceNotes({
  workspace: { source },
  user,
}: Pick<TrainingRun, 'workspace' | 'user'>): Promise<SourceNotes> {
  const path = join(source, sourceNotesPath);
  if ((await lstat(path).catch(() => undefined)) === undefined) return {};
  const notes = parseNotes(await readBounded(path, user));
  await rm(dirname(path), { recursive: true });
  const { folder } = notes;
  if (
    folder !== undefined &&
    (await lstat(join(source, folder)).catch(() => undefined))?.isDirectory() !== true
  )
    throw refused(`folder: the source has no folder ${folder}`);
  return notes;
}

const refused = (fault: string): JobError =>
  new JobError(`The source's ${sourceNotesPath} is refused: ${fault}.`);

async function readBounded(path: string, user: CommandUser | undefined): Promise<string> {
  const handle = await openOwned(path, user);
  try {
    const bytes = await readAtMost(handle, sourceNotesMaxBytes);
    if (bytes === undefined) throw refused(`it has more than the allowed ${sourceNotesMaxBytes} bytes`);
    return bytes.toString('utf8');
  } finally {
    await handle.close();
  }
}

function parseNotes(content: string): SourceNotes {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    throw refused('it is not JSON');
  }
  const parsed = SourceNotes.safeParse(value);
  if (parsed.success) return parsed.data;
  throw refused(
    parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'notes'}: ${message}`).join('; '),
  );
}

/** Links to make for one data set. More files beside files of the source are an unusual source. */
const maxLinks = 10_000;

/**
 * Put the data set of a training where the user's own folder has it, if the source leaves out a path of its name: the
 * path becomes a link. Beside files of the source, each entry becomes a link.
 *
 * @returns the path; undefined if the source leaves out none of the data set's name
 */
export async function linkLeftOut(
  { job, workspace, user, shipper }: TrainingRun,
  { left_out = [] }: SourceNotes,
): Promise<string | undefined> {
  const { dataset, dataset_is_archive } = job.record;
  const found = left_out.find((one) => one.dataset !== undefined && one.dataset === dataset);
  if (dataset === null || found === undefined) return undefined;
  const path = found.path.replace(/\/$/, '');
  const target = dataset_is_archive ? workspace.data : join(workspace.data, dataset);
  await makeParents(workspace.source, path, user);
  const left = await linkMissing(target, join(workspace.source, path), maxLinks);
  if (left < 0)
    shipper.say(`The data set ${dataset} has too many files for links at ${path}; all are in DATA_DIR.`);
  else shipper.say(`The data set ${dataset} is at ${path}, which the source leaves out, and in DATA_DIR.`);
  return found.path;
}

/** Make the folders above a path of the source, as its user's. */
async function makeParents(source: string, path: string, user: CommandUser | undefined): Promise<void> {
  const parent = dirname(path);
  if (parent === '.') return;
  await makeParents(source, parent, user);
  const place = join(source, parent);
  if ((await lstat(place).catch(() => undefined)) !== undefined) return;
  await mkdir(place, { mode: 0o755 });
  if (user !== undefined) await chown(place, user.uid, user.gid);
}

/**
 * Make `to` a link to `from`; if both are folders, link what `to` lacks.
 * @returns how many of `left` links remain; negative if they did not suffice
 */
async function linkMissing(from: string, to: string, left: number): Promise<number> {
  if (left < 0) return left;
  const facts = await lstat(to).catch(() => undefined);
  if (facts === undefined) {
    await symlink(from, to);
    return left - 1;
  }
  if (!facts.isDirectory() || (await lstat(from)).isDirectory() === false) return left;
  let rest = left;
  for (const name of await readdir(from)) {
    rest = await linkMissing(join(from, name), join(to, name), rest);
    if (rest < 0) break;
  }
  return rest;
}
