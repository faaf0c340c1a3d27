import type { endpoint as checkTraining } from '../../functions/projects/training/check-training.endpoint.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import type { RequestOf } from '../../shared/client/route.ts';
import { parseConfigFile } from '../../shared/config/parse-config-file.ts';
import { FileId } from '../../shared/core/formats.ts';
import { faultsOf } from '../../shared/core/service-error.ts';
import { configParams } from '../../shared/experiments/config-params.ts';
import { requireCommandValues } from '../../shared/training/command-values.ts';
import { CliError, exitCodes, refusalLines } from '../cli-error.ts';
import type { Session } from '../login/connect.ts';
import type { FolderPlan } from './plan-folder.ts';

/** What a command is about to begin, as the service checks it before anything is sent. */
export interface Beginning extends Omit<NonNullable<RequestOf<typeof checkTraining>['query']>, 'project_id'> {
  /** Faults that the command has found itself. They are reported with those of the service. */
  faults?: readonly string[];
}

/**
 * Ask the service whether it would begin something, before a project is made and files are sent.
 * @throws CliError that names all faults, ProblemError for what is no fault of the request
 */
export async function requireBeginnable(
  { client }: Session,
  project_id: string | undefined,
  { faults = [], nodes, ...query }: Beginning,
): Promise<void> {
  const all = [...faults];
  let cause: unknown;
  try {
    await client.call<typeof checkTraining>('GET /projects/check-training', {
      query: {
        ...query,
        // One node is no cluster.
        ...(Number(nodes ?? 1) > 1 && { nodes }),
        ...(project_id !== undefined && { project_id }),
      },
    });
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    // A service of an earlier release has no such check, and what begins is refused later.
    if (error.status !== 404) {
      if (error.status !== 400 && all.length === 0) throw error;
      all.push(...refusalLines(error));
      cause = error;
    }
  }
  if (all.length > 0)
    throw new CliError([...all, 'Nothing was sent.'].join('\n'), exitCodes.usage, { cause });
}

/** Return what the service would refuse in the configuration of a plan, and in the command that it fills. */
export function faultsOfPlan({ config: { config_id, content }, command }: FolderPlan): string[] {
  const name = FileId.safeParse(config_id).error?.issues ?? [];
  const { data } = parseConfigFile(config_id, content);
  return [
    ...name.map(({ message }) => `the name of the configuration, ${config_id}, ${message}`),
    ...faultsOf(() => requireCommandValues(command, config_id, configParams(data))).map(
      ({ message }) => `${message}.`,
    ),
  ];
}
