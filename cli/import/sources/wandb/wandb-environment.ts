import { protobufFields } from '../../../../shared/runner/metric-files/protobuf-fields.ts';
import { textOf } from './wandb-values.ts';

/** Program, machine and git of a run, by the names of the file `wandb-metadata.json` of older versions. */
export type WandbEnvironment = Record<string, unknown>;

/** Fields of `EnvironmentRecord`, a text or a number each. */
const names: Readonly<Record<number, string>> = {
  1: 'os',
  2: 'python',
  4: 'docker',
  6: 'program',
  7: 'codePath',
  8: 'codePathLocal',
  10: 'email',
  11: 'root',
  12: 'host',
  13: 'username',
  14: 'executable',
  15: 'colab',
  16: 'cpu_count',
  17: 'cpu_count_logical',
  18: 'gpu',
  19: 'gpu_count',
  25: 'cudaVersion',
};
const numbers: ReadonlySet<number> = new Set([16, 17, 19]);

/** Add the fields of an `EnvironmentRecord`, of which a log has several, each with other fields. */
export function readEnvironment(environment: WandbEnvironment, message: Uint8Array): void {
  const list = (name: string): unknown[] => {
    const known = environment[name];
    const values: unknown[] = Array.isArray(known) ? known : [];
    environment[name] = values;
    return values;
  };
  for (const { number, integer, bytes } of protobufFields(message)) {
    const name = names[number];
    if (name !== undefined) environment[name] = numbers.has(number) ? Number(integer) : textOf(bytes);
    else if (number === 5) list('args').push(textOf(bytes));
    else if (number === 9) environment['git'] = fieldsOf(bytes, { 1: 'remote', 2: 'commit' });
    else if (number === 21) environment['memory'] = fieldsOf(bytes, { 1: 'total' });
    else if (number === 22)
      environment['cpu'] = fieldsOf(bytes, { 1: 'count', 2: 'countLogical', 3: 'model' });
    else if (number === 24)
      list('gpu_nvidia').push(
        fieldsOf(bytes, { 1: 'name', 2: 'memoryTotal', 3: 'cudaCores', 4: 'architecture', 5: 'uuid' }),
      );
    else if (number === 27) list('slurm').push(fieldsOf(bytes, { 1: 'key', 2: 'value' }));
  }
}

function fieldsOf(message: Uint8Array, wanted: Readonly<Record<number, string>>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { number, integer, bytes } of protobufFields(message)) {
    const name = wanted[number];
    // A number has no bytes.
    if (name !== undefined) values[name] = bytes.length === 0 ? Number(integer) : textOf(bytes);
  }
  return values;
}
