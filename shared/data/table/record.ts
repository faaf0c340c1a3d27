import * as z from 'zod';
import type { Condition } from './condition.ts';
import { UnreadableRecordError } from './item.ts';
import { fromTableNumbers } from './stored-number.ts';
import type { Item, Key, TableName, TableReader } from './table.ts';

export interface RecordType<S extends z.ZodObject> {
  readonly kind: string;
  /** Created on first use, because a function reads only a few of the record kinds in its bundle. */
  readonly schema: S;
  /** Build the item to store. Invalid values throw, so they never reach the table. */
  item(key: Key, value: z.input<S>): Item;
  /** Parse a stored item. Throw {@link UnreadableRecordError} that names the record and each invalid attribute. */
  parse(item: Item): z.output<S>;
  /** Read and parse the item of a key. Return undefined if it does not exist. */
  find(table: Pick<TableReader<TableName>, 'get'>, key: Key): Promise<z.output<S> | undefined>;
  /**
   * Parse a record for removal or replacement, even if it is unreadable. Keep each attribute that fits the schema,
   * and take the others from `standIn`.
   */
  salvage(item: Item, standIn: z.output<S>): z.output<S>;
}

/** Attributes that every item has in addition to its schema. */
const reserved = ['pk', 'sk', 'record_type', 'schema_version'];

function attributesOf({ record_type, schema_version, ...attributes }: Item): Record<string, unknown> {
  return attributes;
}

type Upgrade = (attributes: Record<string, unknown>) => Record<string, unknown>;

/**
 * Define a kind of record with its schema. Each stored item carries `record_type` and `schema_version`. An older
 * item passes through `upgrades[version]`, `upgrades[version + 1]`, … before it is parsed, so a newer reader can
 * read older records. A change of single attributes does not raise the version of an item. So an upgrade must keep
 * attributes that are already new.
 */
export function recordType<const S extends z.ZodObject>(
  kind: string,
  makeSchema: () => S,
  upgrades: readonly Upgrade[] = [],
): RecordType<S> {
  const current = upgrades.length;
  let made: S | undefined;
  const schema = (): S => {
    if (made !== undefined) return made;
    const fresh = makeSchema();
    const taken = reserved.filter((name) => Object.hasOwn(fresh.shape, name));
    if (taken.length > 0) throw new Error(`a ${kind} cannot have attributes named ${taken.join(', ')}`);
    made = fresh;
    return fresh;
  };
  const parse = (item: Item): z.output<S> => {
    const { record_type: stored, schema_version: version } = item;
    if (stored !== kind) throw new UnreadableRecordError(item, `is a ${String(stored)}, not a ${kind}`);
    if (typeof version !== 'number' || version > current) {
      throw new UnreadableRecordError(
        item,
        `is a ${kind} whose schema version ${String(version)} is newer than ${current}`,
      );
    }
    // Most items have the current version. Do not copy them.
    const upgraded =
      version === current
        ? item
        : upgrades.slice(version).reduce((value, upgrade) => upgrade(value), attributesOf(item));
    let parsed = schema().safeParse(upgraded);
    // Few records have a number that the table cannot store.
    if (!parsed.success) parsed = schema().safeParse(fromTableNumbers(upgraded));
    if (parsed.success) return parsed.data;
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new UnreadableRecordError(item, `is a ${kind} with ${faults.join('; ')}`);
  };
  return {
    kind,
    get schema() {
      return schema();
    },
    item: ({ pk, sk }, value) => ({
      ...schema().parse(value),
      pk,
      sk,
      record_type: kind,
      schema_version: current,
    }),
    parse,
    async find(table, key) {
      const item = await table.get(key);
      return item && parse(item);
    },
    salvage(item, standIn) {
      try {
        return parse(item);
      } catch (error) {
        if (!(error instanceof UnreadableRecordError)) throw error;
        const fitting = Object.entries(schema().shape).flatMap(([name, field]) => {
          const parsed = z.safeParse(field, item[name]);
          return parsed.success && Object.hasOwn(item, name) ? [[name, parsed.data]] : [];
        });
        return { ...standIn, ...Object.fromEntries(fitting) };
      }
    },
  };
}

/** Bytes in an item. */
export const Bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'must be bytes');

/** Version of an unreadable record. Readable records begin with 1. */
export const unreadableVersion = 0;

/** Condition that a record still has this version. */
export const ofVersion = (version: number): Condition =>
  version === unreadableVersion ? { exists: true } : { equals: { version } };
