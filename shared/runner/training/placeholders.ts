import { parseCommand } from './parse-command.ts';

/** `{name}`; `{{name}}` is the escaped form. `${name}` is a variable of a shell or template. */
const pattern = /\{\{([A-Za-z_]\w*)\}\}|(?<!\$)\{([A-Za-z_]\w*)\}/g;

/** Return the unique names in braces that have no value. */
export function unknownPlaceholders(argument: string): string[] {
  const names = [...argument.matchAll(pattern)].flatMap(([, , name]) => name ?? []);
  return [...new Set(names.filter((name) => !isPlaceholder(name)))];
}

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
 * @throws CommandError if the command cannot be split
 */
export function resolveCommand(text: string, values: PlaceholderValues): [string, ...string[]] {
  const [program, ...args] = parseCommand(text);
  const fill = (argument: string): string => fillPlaceholders(argument, values);
  return [fill(program), ...args.map(fill)];
}

/**
 * Replace placeholders by their values, and `{{name}}` by `{name}`. Everything else stays: other braces, as in JSON
 * arguments, and unknown names. Values are not scanned for placeholders.
 */
function fillPlaceholders(argument: string, values: PlaceholderValues): string {
  return argument.replaceAll(pattern, (text, literal: string | undefined, name: string | undefined) => {
    if (literal !== undefined) return `{${literal}}`;
    return name !== undefined && isPlaceholder(name) ? values[name] : text;
  });
}
