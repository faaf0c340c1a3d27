import { join, relative } from 'node:path';
import type { endpoint as putConfig } from '../../functions/projects/configs/put-config.endpoint.ts';
import type { endpoint as putEnvironment } from '../../functions/projects/environment/put-environment.endpoint.ts';
import type { endpoint as putSource } from '../../functions/projects/uploads/put-source.endpoint.ts';
import type { endpoint as readSource } from '../../functions/projects/uploads/read-source.endpoint.ts';
import type { endpoint as requestSourceUpload } from '../../functions/projects/uploads/request-source-upload.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { partedBytes } from '../../shared/client/node/send-by-ticket.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { wait } from '../../shared/client/retry.ts';
import { quoteCommand } from '../../shared/command/quote-command.ts';
import { type SourceNotes, sourceNotesPath } from '../../shared/config/source-notes.ts';
import { bytesText } from '../../shared/core/text/bytes-text.ts';
import type { RunRule } from '../../shared/run-rules/run-rule.ts';
import { CliError, exitCodes, usageFaults } from '../cli-error.ts';
import type { Session } from '../login/connect.ts';
import { LiveLine } from '../output/live-line.ts';
import type { Printer } from '../output/printer.ts';
import { secondsText } from '../output/units.ts';
import { rememberFolder } from '../projects/known-folders.ts';
import { createProject } from '../projects/project-session.ts';
import { setCriterion } from '../projects/set-criterion.ts';
import type { DigestedFile } from '../upload/digest-file.ts';
import { withScratchFolder } from '../upload/scratch-folder.ts';
import { sendUnlessKnown, type Upload } from '../upload/send-unless-known.ts';
import { applyOverrides } from './apply-overrides.ts';
import type { ChosenEnvironment } from './environment/chosen-environment.ts';
import {
  type FolderPlan,
  type Place,
  planFolder,
  type RunOptions,
  type Settle,
  type Sizes,
} from './plan-folder.ts';
import { type Beginning, faultsOfPlan, requireBeginnable } from './require-beginnable.ts';
import type { GitState } from './source/git-state.ts';
import { type AddedFile, packFiles } from './source/pack-files.ts';
import type { SourceFiles } from './source/source-file.ts';

/**
 * Store what a training of this folder needs: its project, environment, source and configuration. Read and check the
 * whole folder before the first change on the service.
 *
 * @throws CliError if the user must fix something first
 */
export async function prepareFolder(
  session: Session,
  options: RunOptions,
  place: Place,
  begins: (plan: FolderPlan) => Beginning,
  settle: Settle = applyOverrides,
): Promise<PreparedFolder> {
  const plan = await planFolder(session, options, place, settle);
  await requirePlan(session, plan, begins(plan));
  return storePlan(session, plan, place);
}

/** Check a plan by the rules of the service. @throws CliError as {@link requireBeginnable} does */
export async function requirePlan(session: Session, plan: FolderPlan, beginning: Beginning): Promise<void> {
  const { known, sizes, dataset } = plan;
  await requireBeginnable(session, known?.project_id, {
    ...withDataset(sizes, dataset),
    ...beginning,
    faults: [...(beginning.faults ?? []), ...faultsOfPlan(plan)],
  });
}

async function storePlan(session: Session, plan: FolderPlan, place: Place): Promise<PreparedFolder> {
  const { client } = session;
  const { folder, printer, signal } = place;
  const { name, known, projectFile, sources, leftOut, root, sub, git, environment } = plan;
  const { config, command, dataset, sizes, rounded } = plan;
  const steps = new Steps(printer);
  const project = known ?? (await createProject(session, name, projectFile));
  const { project_id } = project;
  await rememberFolder(session.env, { url: client.url, project_id, folder });
  steps.done('project', `${project.project_name}, ${known === undefined ? 'created' : 'found'}`);
  const { criterion } = projectFile;
  const ranked = criterion === undefined ? undefined : await setCriterion(client, project, criterion);
  if (ranked !== undefined) steps.done('criterion', ranked);
  signal.throwIfAborted();
  const storeEnvironment = async () => {
    const { env_type, dependencies } = environment;
    const query = { entry_point_command: command, env_type, dependencies };
    const route = 'PUT /projects/{project_id}/environment';
    return (await usageFaults(client.call<typeof putEnvironment>(route, { path: { project_id }, query })))
      .version;
  };
  const environment_version = await storeEnvironment();
  steps.done('environment', environmentText(environment));
  const { config_id, content } = config;
  signal.throwIfAborted();
  const { version } = await client.call<typeof putConfig>('PUT /projects/{project_id}/configs/{config_id}', {
    path: { project_id, config_id },
    file: content,
  });
  steps.done('config', `${config_id}, version ${version}`);
  const source = await uploadSource(
    client,
    project_id,
    {
      root,
      packed: sources,
      added: [
        ...(environment.added === undefined ? [] : [environment.added]),
        ...notesFile({
          folder: sub,
          whole: git.above && wholeRepository(join(relative(folder, root), git.above)),
          left_out: leftOut.notes,
        }),
      ],
    },
    place,
  );
  steps.done('source', source.told);
  if (rounded !== undefined) steps.done('memory', rounded);
  if (dataset !== undefined && sizes.dataset === undefined)
    steps.done('data set', `${dataset}, as in the training before; --dataset "" trains without`);
  signal.throwIfAborted();
  const { sha256: source_sha256 } = source;
  const first = { config_version: version, environment_version, source_sha256 };
  const storeAgain = async () => {
    await source.store();
    return { config_version: version, environment_version: await storeEnvironment(), source_sha256 };
  };
  return {
    project_id,
    config_id,
    command,
    git: git.state,
    sizes: withDataset(sizes, dataset),
    rules: projectFile.rules ?? [],
    steps,
    withPinned: (act) => submitPinned(first, act, storeAgain, signal),
  };
}

/** A folder whose inputs the service has. */
export interface PreparedFolder {
  project_id: string;
  config_id: string;
  command: string;
  git: GitState;
  /** Sizes, data set and timeout: from flags, else from mps.yaml. */
  sizes: Sizes;
  /** Rules of mps.yaml. */
  rules: readonly RunRule[];
  steps: Steps;
  /** Act with exactly the inputs that were stored; see {@link submitPinned}. */
  withPinned<T>(act: (meant: InputVersions) => Promise<T>): Promise<T>;
}

/** Print a line for each step, with its duration. */
class Steps {
  readonly #printer: Printer;
  #since = performance.now();

  constructor(printer: Printer) {
    this.#printer = printer;
  }

  done(step: string, what: string): void {
    const now = performance.now();
    const seconds = secondsText((now - this.#since) / 1000);
    this.#since = now;
    this.#printer.say(`${step.padEnd(12)}${what} ${this.#printer.style('dim', `(${seconds})`)}`);
  }
}

/** Return the file with the notes of a source; none if there is nothing to note. */
function notesFile({ folder, whole, left_out = [] }: SourceNotes): AddedFile[] {
  const notes: SourceNotes = {
    ...(folder !== '' && { folder }),
    ...(whole !== undefined && { whole }),
    ...(left_out.length > 0 && { left_out }),
  };
  if (Object.keys(notes).length === 0) return [];
  return [{ path: sourceNotesPath, content: `${JSON.stringify(notes, null, 2)}\n` }];
}

/** Return the command that sends a whole repository. @param above path from the folder to it, such as `..` */
const wholeRepository = (above: string): string => quoteCommand(['mps', 'run', '--root', above]);

const environmentText = ({ env_type, reason }: ChosenEnvironment): string => `${env_type} (${reason})`;

async function uploadSource(
  client: Client,
  project_id: string,
  { root, packed: found, added }: { root: string; packed: SourceFiles; added: readonly AddedFile[] },
  { printer, signal }: Place,
): Promise<StoredSource> {
  const line = new LiveLine(printer);
  const send = async (scratch: string) => {
    const packed = await packFiles(root, found, join(scratch, 'source.tar.gz'), { signal, added });
    const onProgress = (bytes: number) =>
      line.set(`uploading ${bytesText(bytes)} of ${bytesText(packed.size)}`);
    const upload = sourceUpload(client, project_id, packed, signal);
    const { isSent } = await sendUnlessKnown(upload, packed, { signal, onProgress });
    const { length } = found.files;
    const count = `${length} ${length === 1 ? 'file' : 'files'}, ${bytesText(packed.size)}`;
    const told = isSent ? `${count} uploaded` : `${count}, unchanged: nothing to upload`;
    return { told, sha256: packed.sha256, store: upload.accept };
  };
  try {
    return await withScratchFolder(send);
  } finally {
    line.end();
  }
}

interface StoredSource {
  /** Message for the user. */
  told: string;
  sha256: string;
  /** Make this source the current one again. */
  store(): Promise<unknown>;
}

/** Return the requests that upload an archive as the source of a project. */
function sourceUpload(
  client: Client,
  project_id: string,
  { sha256, size }: DigestedFile,
  signal: AbortSignal,
): Upload<unknown> {
  const path = { project_id };
  return {
    async current() {
      const route = 'GET /projects/{project_id}/source';
      return (await client.call<typeof readSource>(route, { path, signal })).sha256;
    },
    accept() {
      const route = 'PUT /projects/{project_id}/source';
      return client.call<typeof putSource>(route, { path, query: { sha256 }, signal });
    },
    async ticket() {
      const route = 'POST /projects/{project_id}/source';
      const multipart = size >= partedBytes;
      const query = { sha256, size, ...(multipart && { multipart }) };
      return client.call<typeof requestSourceUpload>(route, { path, query, signal });
    },
  };
}

/** Return the sizes with this data set; without one for `--dataset ""`. */
function withDataset({ dataset: _, ...sizes }: Sizes, dataset: string | undefined): Sizes {
  return dataset === undefined || dataset === '' ? sizes : { ...sizes, dataset };
}

/** Maximum number of submission attempts while other users change the project. */
const maxAttempts = 12;

const longestMilliseconds = 3_000;

/**
 * Begin something with exactly the inputs that this command stored. If another command has changed the project since,
 * store them again and retry.
 * @throws ProblemError 409 after too many attempts
 */
async function submitPinned<T>(
  first: InputVersions,
  begin: (meant: InputVersions) => Promise<T>,
  storeAgain: () => Promise<InputVersions>,
  signal: AbortSignal,
): Promise<T> {
  let meant = first;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await begin(meant);
    } catch (error) {
      const isChanged = error instanceof ProblemError && error.status === 409 && error.faults.length > 0;
      if (!isChanged || attempt === maxAttempts) throw error;
      // A random delay prevents further collisions between concurrent commands.
      await wait(Math.random() * Math.min(longestMilliseconds, 100 * 2 ** attempt));
      if (signal.aborted) throw new CliError('Interrupted; nothing was submitted.', exitCodes.interrupted);
      meant = await storeAgain();
    }
  }
}

/** Versions of the inputs that this command has stored. */
export interface InputVersions {
  config_version: number;
  environment_version: number;
  source_sha256: string;
}
