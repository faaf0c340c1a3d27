import { join } from 'node:path';
import type { endpoint as readStart } from '../../functions/service/read-start.endpoint.ts';
import type { ProjectFile } from '../../shared/config/project-file.ts';
import type { Capacity } from '../../shared/core/capacity/capacity.ts';
import { fargateFault, offeredMemory } from '../../shared/jobs/fargate-sizes.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { Session } from '../login/connect.ts';
import type { Printer } from '../output/printer.ts';
import { confirmProject } from '../projects/confirm-project.ts';
import { findEnvironment } from '../projects/find-environment.ts';
import { findProject } from '../projects/find-project.ts';
import { readProjectFile } from '../projects/project-file.ts';
import { agreeToSize } from './agree-to-size.ts';
import { applyOverrides } from './apply-overrides.ts';
import { chooseCommand, usualProgram } from './choose-command.ts';
import { chooseConfig } from './choose-config.ts';
import { chooseEntryPoint } from './entry-point.ts';
import { checkedEnvironment } from './environment/checked-environment.ts';
import { notebookEnvironment } from './notebook.ts';
import type { Override } from './override-config.ts';
import { rememberedDataset } from './remembered-dataset.ts';
import { gitState } from './source/git-state.ts';
import { inspectFiles, leftOutText } from './source/inspect-files.ts';
import { nameLeftOut } from './source/left-out.ts';
import { listFiles } from './source/list-files.ts';
import { requireProgram } from './source/require-program.ts';
import { chosenPlaces, type GivenPlaces, pathsBelow } from './source/source-root.ts';

/**
 * Read and check a whole folder, and decide what a training of it sends, installs and runs. Nothing changes on the service.
 *
 * @throws CliError if the user must fix something first
 */
export async function planFolder(
  session: Session,
  options: RunOptions,
  place: Place,
  settle: Settle = applyOverrides,
) {
  const { client } = session;
  const { folder, printer, signal } = place;
  const projectFile = await readProjectFile(folder);
  const { sizes, rounded } = roundedMemory(chosenSizes(options, projectFile));
  const { root, sub, config: named } = await chosenPlaces(folder, options, projectFile);
  const [listed, git] = await Promise.all([listFiles(root, sub), gitState(root)]);
  const [sources, leftOut] = await Promise.all([
    inspectFiles(root, listed),
    nameLeftOut(listed, { root, folder, project: options.project }),
  ]);
  const paths = sources.files.map(({ path }) => path);
  const names = new Set(pathsBelow(paths, sub));
  if (names.size === 0) throw new CliError(`${folder} has no files to train with.`, exitCodes.usage);
  const entry = await chooseEntryPoint(folder, names, options, projectFile.command);
  const { declared: ofProject } = entry;
  const declared = ofProject !== undefined && 'command' in ofProject ? ofProject.command : undefined;
  const words = [...options.words, ...(entry.command ?? declared ?? usualProgram(names) ?? '').split(/\s+/)];
  const deployment = async () => {
    const { python_versions, package_indexes } = await client.call<typeof readStart>('GET /');
    return { pythons: python_versions ?? undefined, indexes: package_indexes };
  };
  const declaredEnvironment = await checkedEnvironment({ root, sub }, paths, projectFile, words, deployment);
  const name = options.project ?? projectFile.project ?? place.name;
  const given = { named, overrides: options.overrides };
  // Report the faults of the file before the first request. The command of an earlier run is not known yet.
  await chooseConfig(
    folder,
    names,
    given.named,
    given.overrides.filter(({ path }) => !path[0]?.startsWith('-')),
  );
  for (const one of sources.leftOut) printer.say(`Left out: ${leftOutText(one)}`);
  for (const note of declaredEnvironment.notes ?? []) printer.say(note);
  if (!options.yes) await agreeToSize(sources, printer);
  signal.throwIfAborted();

  // A project that is there may have the command; a new one has none.
  const known = await findProject(session, name);
  if (known !== undefined && options.project === undefined)
    await confirmProject(session, known, folder, { isNamed: projectFile.project !== undefined });
  const before = known && (await findEnvironment(client, known.project_id));
  // The command of the training before decides else.
  if (entry.note !== undefined && before === undefined) printer.say(entry.note);
  const dataset = sizes.dataset ?? (before && (await rememberedDataset(client, known.project_id)));
  for (const line of leftOut.lines(dataset)) printer.say(line);
  const { config, command } = await settle(
    folder,
    names,
    given,
    chooseCommand(names, declaredEnvironment.env_type, {
      words: options.words,
      command: entry.command,
      before: before?.entry_point_command,
      declared: ofProject,
    }),
  );
  const repository = git.above === undefined ? folder : join(folder, git.above);
  await requireProgram(command, sources.leftOut, { folder, sub, repository });
  const environment = await notebookEnvironment(folder, declaredEnvironment, command);
  signal.throwIfAborted();
  return {
    ...{ name, known, projectFile, sources, leftOut, root, sub, git, environment },
    ...{ config, command, dataset, sizes, rounded },
  };
}

/** What a training of a folder sends, installs and runs. */
export type FolderPlan = Awaited<ReturnType<typeof planFolder>>;

/** Choose the configuration and the command, with changed values. @throws CliError for values that do not fit */
export type Settle = typeof applyOverrides;

/** Options of a run. They override mps.yaml. */
export interface RunOptions
  extends GivenPlaces,
    Pick<ProjectFile, 'dataset' | 'vcpus' | 'memory' | 'gpus' | 'nodes' | 'timeout' | 'capacity'> {
  project?: string;
  /** Capacity that `--spot` names; it comes before `capacity`. */
  spot?: Capacity | undefined;
  overrides: readonly Override[];
  /** Words after `--`. */
  words: readonly string[];
  /** Entry point of `MLproject`. */
  entryPoint?: string | undefined;
  /** Whether to skip the question before a large upload. */
  yes: boolean;
}

export interface Place {
  folder: string;
  /** Default name of the project. */
  name: string;
  printer: Printer;
  signal: AbortSignal;
}

export type Sizes = Pick<RunOptions, (typeof sizeNames)[number]>;

export const sizeNames = ['dataset', 'vcpus', 'memory', 'gpus', 'nodes', 'timeout', 'capacity'] as const;

/** Return the sizes from flags, else from mps.yaml. */
function chosenSizes(options: RunOptions, file: ProjectFile): Sizes {
  const all = { ...options, capacity: options.spot ?? options.capacity };
  const given = sizeNames.map((name) => [name, all[name] ?? file[name]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/**
 * Round memory up to a step of Fargate, and say so. Clusters and GPUs take any memory.
 *
 * @throws CliError for a size that Fargate does not offer
 */
function roundedMemory(sizes: Sizes): { sizes: Sizes; rounded: string | undefined } {
  const { memory, vcpus, nodes = 1, gpus = 0 } = sizes;
  if (nodes > 1 || gpus > 0) return { sizes, rounded: undefined };
  const offered = memory === undefined ? undefined : offeredMemory(memory, vcpus);
  const fault = fargateFault({ vcpus, memory: offered ?? memory });
  if (fault !== undefined) throw new CliError(`${fault.name} ${fault.message}`, exitCodes.usage);
  if (offered === undefined || offered === memory) return { sizes, rounded: undefined };
  const rounded = `${memory} MiB rounded up to ${offered} MiB, the next size that is offered`;
  return { sizes: { ...sizes, memory: offered }, rounded };
}
