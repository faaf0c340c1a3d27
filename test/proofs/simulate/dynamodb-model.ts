import { BatchGetCommand, GetCommand, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../../shared/data/table/table.ts';
import type { Meter } from './meter.ts';
import { TableModel } from './table-model.ts';
import type { Query } from './table-rows.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** A client of DynamoDB, as far as `shared/data` uses one, that keeps its tables in memory and its limits. */
export class DynamoDbModel {
  readonly #tables = new Map<string, TableModel>();
  readonly #locked = new Set<string>();
  readonly #clock: VirtualClock;
  readonly #meter: Meter;

  constructor(clock: VirtualClock, meter: Meter) {
    this.#clock = clock;
    this.#meter = meter;
  }

  #table(name: string | undefined): TableModel {
    let table = this.#tables.get(name ?? '');
    if (table === undefined) {
      table = new TableModel(this.#clock, this.#meter, name ?? '');
      this.#tables.set(name ?? '', table);
    }
    return table;
  }

  /** Do what a command of the document client asks for. */
  readonly send = async (command: unknown): Promise<unknown> => {
    if (command instanceof TransactWriteCommand) {
      const writes = command.input.TransactItems ?? [];
      const [first] = writes;
      const name = (first?.Put ?? first?.Update ?? first?.Delete ?? first?.ConditionCheck)?.TableName;
      await this.#table(name).write(writes, this.#locked);
      return {};
    }
    if (command instanceof GetCommand) {
      const { TableName, Key } = command.input;
      const table = this.#table(TableName);
      const key = { pk: String(Key?.['pk']), sk: String(Key?.['sk']) };
      const found = () => ({ value: table.rows.find(key)?.item, bytes: table.rows.find(key)?.bytes ?? 0 });
      return { Item: await table.read(key, found) };
    }
    if (command instanceof BatchGetCommand) {
      const Responses: Record<string, Item[]> = {};
      for (const [name, { Keys = [] }] of Object.entries(command.input.RequestItems ?? {})) {
        const table = this.#table(name);
        const items = await Promise.all(
          Keys.map(({ pk, sk }) => {
            const key = { pk: String(pk), sk: String(sk) };
            const row = () => table.rows.find(key);
            return table.read(key, () => ({ value: row()?.item, bytes: row()?.bytes ?? 0 }));
          }),
        );
        Responses[name] = items.filter((item) => item !== undefined);
      }
      return { Responses };
    }
    if (command instanceof QueryCommand) return this.#query(command.input);
    throw new Error('the model of DynamoDB knows no such command');
  };

  async #query(input: QueryCommand['input']): Promise<unknown> {
    const { ExpressionAttributeValues: values = {}, ExclusiveStartKey, ScanIndexForward, Limit } = input;
    const pk = String(values[':pk']);
    const query: Query = {
      pk,
      prefix: values[':prefix'] === undefined ? undefined : String(values[':prefix']),
      after: ExclusiveStartKey === undefined ? undefined : String(ExclusiveStartKey['sk']),
      descending: ScanIndexForward === false,
      limit: Limit ?? Number.POSITIVE_INFINITY,
    };
    const table = this.#table(input.TableName);
    const page = await table.read({ pk }, () => {
      const { bytes, ...value } = table.rows.query(query);
      return { value, bytes };
    });
    return {
      ...(input.Select === 'COUNT' ? { Count: page.items.length } : { Items: page.items }),
      ...(page.next !== undefined && { LastEvaluatedKey: { pk, sk: page.next } }),
    };
  }
}
