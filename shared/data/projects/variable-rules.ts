import * as z from 'zod';

// Rules of a project's environment variables, from a request or an archive.

/** Names that the service itself sets for a command. A test compares them with the actual ones. */
const given = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'TMPDIR', 'LANG', 'TZ'],
  ...['PYTHONUNBUFFERED', 'VIRTUAL_ENV', 'NODE_PATH'],
  ...['CONFIG_PATH', 'DATA_DIR', 'OUTPUT_DIR', 'CHECKPOINT_DIR', 'METRICS_FILE'],
  ...['EXPERIMENT_ID', 'PROJECT_ID', 'NODE_RANK', 'NUM_NODES', 'MASTER_ADDR', 'MASTER_PORT'],
  ...['RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'LOCAL_WORLD_SIZE'],
];
/**
 * Names that change how any program starts, including programs that are not the user's, for example the client of
 * a container engine.
 */
const startsPrograms = ['NODE_OPTIONS', 'BASH_ENV', 'ENV', 'IFS', '__proto__'];
const prefixes = [
  ...['LD_', 'DYLD_', 'GLIBC_', 'BASH_FUNC_', 'DOCKER_'],
  // Credentials of a job's role, and names that AWS sets in containers. AWS_ACCESS_KEY_ID and similar names are
  // allowed: no command has such credentials.
  ...['AWS_BATCH_', 'AWS_CONTAINER_', 'AWS_LAMBDA_', 'AWS_EXECUTION_', 'ECS_', 'MPS_'],
];
const reserved = new Set([...given, ...startsPrograms]);

/** Whether a name is reserved for the service. */
export const isReserved = (name: string): boolean =>
  reserved.has(name) || prefixes.some((prefix) => name.startsWith(prefix));

const longestName = 128;

/** Name of an environment variable (POSIX) that is not reserved for the service. */
export const VariableName = z
  .string()
  .regex(
    new RegExp(`^[A-Za-z_][A-Za-z0-9_]{0,${longestName - 1}}$`),
    `must start with a letter or underscore and have at most ${longestName} letters, digits and underscores`,
  )
  .refine(
    (name) => !isReserved(name),
    `is reserved for the service. Reserved are ${[...reserved].join(', ')}, and names that begin with ${prefixes.join(', ')}`,
  );

/** Maximum bytes of one value, as UTF-8. */
const valueBytes = 16 * 1024;
/**
 * Maximum bytes of all names and values of a project. A job's copy is one item, and Linux limits the size of an
 * environment.
 */
const totalBytes = 64 * 1024;
/** Maximum variables of a project. */
export const maxVariables = 100;
/** Minimum characters of a secret. A shorter one would be masked wherever it occurs by chance. */
const shortestSecret = 8;

/** Pattern for all characters except controls, in a syntax that every dialect of JSON Schema supports. */
const uncontrolled = String.raw`^[^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]*$`;
const uncontrolledText = new RegExp(uncontrolled);
const bytesOf = (text: string): number => Buffer.byteLength(text);

/** Value of an environment variable. */
export const VariableValue = z
  .string()
  .refine((value) => bytesOf(value) <= valueBytes, `is longer than ${valueBytes} bytes`)
  .refine(
    (value) => uncontrolledText.test(value),
    'contains a control character other than tab and line break',
  )
  .meta({ maxLength: valueBytes, pattern: uncontrolled })
  .describe('Value of the variable. A secret needs at least 8 characters, so it can be masked in logs.');

const tooShort = `is shorter than ${shortestSecret} characters, too short to be masked in logs. secret=false stores a readable value`;
const isMaskable = (value: string, isSecret: boolean): boolean =>
  !isSecret || value.trim().length >= shortestSecret;

/** Return the fault of a value for its kind of variable. Return undefined if it is valid. */
export const faultOfValue = (value: string, isSecret: boolean): string | undefined =>
  isMaskable(value, isSecret) ? undefined : tooShort;

/** Return the fault of all variables as a whole. Return undefined if they are valid. */
export function faultOfAll(
  variables: readonly (readonly [name: string, bytes: number])[],
): string | undefined {
  if (variables.length > maxVariables) return `would exceed ${maxVariables} variables`;
  const total = variables.reduce((sum, [name, bytes]) => sum + bytesOf(name) + bytes, 0);
  return total > totalBytes
    ? `would bring names and values to ${total} bytes; a project may have ${totalBytes}`
    : undefined;
}
