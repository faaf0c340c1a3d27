import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod/mini';
import { CliError, exitCodes } from '../cli-error.ts';

export const projectFileName = 'mps.yaml';

const described = <S extends z.ZodMiniType>(schema: S, description: string): S =>
  schema.check(z.describe(description));

const text = z.string().check(z.minLength(1));
const whole = z.int().check(z.positive());

/** What `mps.yaml` may say. Everything is optional; flags of the command override it. */
export const ProjectFile = z.strictObject({
  project: z.optional(described(text, 'Name of the project; that of the folder without it.')),
  description: z.optional(described(text, 'What the project is about, when it is created.')),
  type: z.optional(described(text, 'Kind of the data or of the model, when the project is created.')),
  task: z.optional(described(text, 'What the model does, when the project is created.')),
  command: z.optional(described(text, 'What is run, such as `python train.py --config {config}`.')),
  environment: z.optional(
    z.strictObject({
      type: described(z.enum(['python', 'node', 'system', 'docker']), 'Where it runs.'),
      dependencies: z.optional(described(z.string(), 'What is installed, a line each, or the image.')),
    }),
  ),
  config: z.optional(described(text, 'Configuration file to train with, such as `train.yaml`.')),
  dataset: z.optional(described(text, 'Data set to lay out at `DATA_DIR`.')),
  vcpus: z.optional(described(z.number().check(z.positive()), 'vCPUs of each node.')),
  memory: z.optional(described(whole, 'Memory of each node in MiB.')),
  gpus: z.optional(described(z.int().check(z.nonnegative()), 'GPUs of each node.')),
  nodes: z.optional(described(whole, 'Nodes; a cluster from 2 on.')),
  timeout: z.optional(described(whole, 'Seconds after which the command is stopped.')),
});
export type ProjectFile = z.infer<typeof ProjectFile>;

function faultOf(issue: z.core.$ZodIssue): string {
  const at = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const known = at === '' ? Object.keys(ProjectFile.shape) : ['type', 'dependencies'];
    return `  ${issue.keys.join(', ')}: unknown. Known are ${known.join(', ')}.`;
  }
  return `  ${at === '' ? 'the file' : at}: ${issue.message}`;
}

/** The folder's `mps.yaml`; empty without one. @throws CliError that names all its faults */
export async function readProjectFile(folder: string): Promise<ProjectFile> {
  const content = await readFile(join(folder, projectFileName), 'utf8').catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    },
  );
  if (content === undefined) return {};
  const refuse = (faults: string) => {
    throw new CliError(`${projectFileName} cannot be used:\n${faults}`, exitCodes.usage);
  };
  let value: unknown;
  try {
    value = parse(content) ?? {};
  } catch (error) {
    return refuse(`  ${error instanceof Error ? error.message.trim() : String(error)}`);
  }
  z.config(z.locales.en());
  const parsed = ProjectFile.safeParse(value);
  return parsed.success ? parsed.data : refuse(parsed.error.issues.map(faultOf).join('\n'));
}
