import * as z from 'zod/mini';
import { capacities } from '../core/capacity/capacities.ts';
import { maxRules, RunRule, ruleKeys } from '../run-rules/run-rule.ts';

const described = <S extends z.ZodMiniType>(schema: S, description: string): S =>
  schema.check(z.describe(description));

const text = z.string().check(z.minLength(1));
const whole = z.int().check(z.positive());

const Environment = z.strictObject({
  type: described(z.enum(['python', 'node', 'system', 'docker']), 'Where it runs.'),
  dependencies: z.optional(described(z.string(), 'Dependencies, one per line, or the name of the image.')),
});

/** Schema of `mps.yaml`. Everything is optional. Flags of the command override it. */
export const ProjectFile = z.strictObject({
  project: z.optional(described(text, 'Name of the project. Default: the name of the folder.')),
  description: z.optional(described(text, 'Description of a new project.')),
  type: z.optional(described(text, 'Type of a new project: kind of the data or of the model.')),
  task: z.optional(described(text, 'Task of a new project, such as `classification`.')),
  criterion: z.optional(
    described(
      text,
      'Metric that ranks the experiments of the project, such as `val_loss`, with its direction if the name does not say it: `fitness:max`.',
    ),
  ),
  command: z.optional(described(text, 'Command to run, such as `python train.py --config {config}`.')),
  root: z.optional(
    described(
      text,
      'Folder above this one that is sent, such as `..`; the command runs in this one. Default: this folder.',
    ),
  ),
  environment: z.optional(Environment),
  python: z.optional(
    described(
      z
        .string('write the version in quotes, because YAML takes 3.10 for the number 3.1: python: "3.10"')
        .check(z.minLength(1)),
      'Version of Python that the program needs, such as `"3.12"` or `">=3.11"`.',
    ),
  ),
  config: z.optional(described(text, 'Configuration file to train with, such as `train.yaml`.')),
  dataset: z.optional(described(text, 'Data set to provide at `DATA_DIR`.')),
  vcpus: z.optional(described(z.number().check(z.positive()), 'vCPUs of each node.')),
  memory: z.optional(described(whole, 'Memory of each node in MiB.')),
  gpus: z.optional(described(z.int().check(z.nonnegative()), 'GPUs of each node.')),
  nodes: z.optional(described(whole, 'Number of nodes; 2 or more form a cluster.')),
  capacity: z.optional(
    described(
      z.enum(capacities),
      'Where it runs: `spot`, `spot-then-on-demand` (two attempts on Spot, then on demand) or `on-demand`. Default: as the deployment is set.',
    ),
  ),
  metrics: z.optional(
    described(
      z.array(text).check(z.maxLength(20)),
      'Rules for metrics in the log: regular expressions with named groups, such as `loss=(?P<loss>\\S+)`. `step` and `epoch` name the step, `name` and `value` any metric.',
    ),
  ),
  rules: z.optional(
    described(
      z.array(RunRule).check(z.maxLength(maxRules)),
      'Rules that stop a run or tell the hooks of the project, such as `{nan: loss, do: stop}`.',
    ),
  ),
  timeout: z.optional(described(whole, 'Seconds after which the command is stopped.')),
});
export type ProjectFile = z.infer<typeof ProjectFile>;

/** JSON Schema of `mps.yaml`, for editors. */
export const projectFileSchema = () => ({
  ...z.toJSONSchema(ProjectFile, { io: 'input' }),
  title: 'mps.yaml',
  description:
    'Settings of `mps run` for the folder of this file. Editors with a YAML language server use this schema if the first line is "# yaml-language-server: $schema=" followed by its URL.',
});

/** Return the allowed keys at a path: of the file itself, of its environment, or of a rule. */
export function keysAt([first, _index, part]: readonly PropertyKey[]): string[] {
  if (first === undefined) return Object.keys(ProjectFile.shape);
  return first === 'rules' ? ruleKeys(part) : Object.keys(Environment.shape);
}
