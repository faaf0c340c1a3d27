import type * as z from 'zod';
import { tryParseJson } from '../../core/text/try-parse-json.ts';
import type { PreprocessingName } from '../../data/models/preprocessing-names.ts';
import type { ServedVersion } from '../../data/models/serving.ts';

/** Contents of the files of a model that say how it is asked. */
export type SettingsFiles = ReadonlyMap<PreprocessingName, string>;

export type ModelTensors = Pick<ServedVersion, 'inputs' | 'outputs'>;

/** Settings of a model, or why there are none. */
export type ReadSettings<Settings> = { settings: Settings; fault: null } | { settings: null; fault: string };

/** Reads the files of a stranger, and keeps what is wrong with them. */
export class SettingsReader {
  readonly faults: string[] = [];
  readonly #files: SettingsFiles;

  constructor(files: SettingsFiles) {
    this.#files = files;
  }

  /** Parse a file; the stand-in if it is missing or has a fault. */
  read<T>(name: PreprocessingName, schema: z.ZodType<T>, standIn: T): T {
    const text = this.#files.get(name);
    if (text === undefined) return standIn;
    const value = tryParseJson(text);
    if (value === undefined) {
      this.faults.push(`${name} is not JSON, in which NaN and Infinity are no numbers`);
      return standIn;
    }
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const places = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim());
    this.faults.push(`${name}: ${places.slice(0, 3).join('; ')}`);
    return standIn;
  }

  /** All faults as one of bounded length. */
  get fault(): { settings: null; fault: string } {
    return { settings: null, fault: this.faults.join('; ').slice(0, maxFault).toWellFormed() };
  }
}

/** Characters of a fault. A record has little room, and the names in it are a stranger's. */
const maxFault = 1_000;

/** Say which outputs a model has. */
export const namesOfOutputs = ({ outputs }: Pick<ModelTensors, 'outputs'>): string =>
  outputs.map(({ name, shape }) => `${name} [${shape?.join(', ') ?? '?'}]`).join(', ');
