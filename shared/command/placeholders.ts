import { parseCommand } from './parse-command.ts';

/** `{name}`; `{{name}}` is the escaped form. `${name}` is a variable of a shell or template. */
const pattern = /\{\{([A-Za-z_][\w.-]*)\}\}|(?<!\$)\{([A-Za-z_][\w.-]*)\}/g;

/** Return the unique names in braces that stand for values of the configuration. */
export function configPlaceholders(argument: string): string[] {
  const names = [...argument.matchAll(pattern)].flatMap(([, , name]) => name ?? []);
  return [...new Set(names.filter((name) => !isPlaceholder(name)))];
}

/** A word of a command that stands for all values of the configuration, each as a flag. */
export const allFlags = '{args}';

type Placeholder = keyof typeof placeholders;

const ofEveryRun = {
  config: 'CONFIG_PATH',
  output_dir: 'OUTPUT_DIR',
  data_dir: 'DATA_DIR',
  checkpoint_dir: 'CHECKPOINT_DIR',
  metrics_file: 'METRICS_FILE',
} as const;

/** Placeholders of a command, each with the environment variable of the same value. */
const placeholders = {
  ...ofEveryRun,
  node_rank: 'NODE_RANK',
  num_nodes: 'NUM_NODES',
  master_addr: 'MASTER_ADDR',
  master_port: 'MASTER_PORT',
} as const;

const isPlaceholder = (name: string): name is Placeholder => Object.hasOwn(placeholders, name);

/** The value of each placeholder in one run. */
export type PlaceholderValues = Readonly<Record<Placeholder, string>>;

/** All placeholders in their written form, for messages and descriptions. */
export const placeholderList = Object.keys(placeholders)
  .map((name) => `{${name}}`)
  .join(', ');

/** Return the placeholder with the same value as a variable. */
export function placeholderOf(variable: string): string | undefined {
  const [name] = Object.entries(placeholders).find(([, one]) => one === variable) ?? [];
  return name && `{${name}}`;
}

/** Return the values by the names of their variables. Includes those of a cluster only for a cluster. */
export function variablesOf(values: PlaceholderValues, isCluster: boolean): Record<string, string> {
  const names = Object.keys(isCluster ? placeholders : ofEveryRun).filter(isPlaceholder);
  return Object.fromEntries(names.map((name) => [placeholders[name], values[name]]));
}

/**
 * Return the arguments of a command with its placeholders replaced. A value is never split or interpreted.
 * @param config scalars of the configuration by path, for `{optimizer.lr}` and `{args}`
 * @throws CommandError if the command cannot be split
 */
export function resolveCommand(
  text: string,
  values: PlaceholderValues,
  config: ConfigValues = {},
): [string, ...string[]] {
  const [program, ...args] = parseCommand(text);
  const fill = (argument: string): string => fillPlaceholders(argument, values, config);
  const filled = args.flatMap((argument) => (argument === allFlags ? flagsOf(config) : [fill(argument)]));
  return [fill(program), ...filled];
}

/** Scalars of a configuration by path. */
export type ConfigValues = Readonly<Record<string, string>>;

/** Write every value as `--name=value`; `true` is the bare flag, and `false` leaves it out. */
const flagsOf = (config: ConfigValues): string[] =>
  Object.entries(config).flatMap(([name, value]) => {
    if (value === 'false') return [];
    return value === 'true' ? [`--${name}`] : [`--${name}=${value}`];
  });

/**
 * Replace placeholders by their values, and `{{name}}` by `{name}`. Everything else stays: other braces, as in JSON
 * arguments, and unknown names. Values are not scanned for placeholders.
 */
export function fillPlaceholders(
  argument: string,
  values: Partial<PlaceholderValues>,
  config: ConfigValues,
): string {
  return argument.replaceAll(pattern, (text, literal: string | undefined, name: string | undefined) => {
    if (literal !== undefined) return `{${literal}}`;
    if (name === undefined) return text;
    if (isPlaceholder(name)) return values[name] ?? text;
    return Object.hasOwn(config, name) ? (config[name] ?? text) : text;
  });
}
