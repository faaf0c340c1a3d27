/** Rows that another writer stores in its own transaction, as the next chunk. */
export interface Ride<Row> {
  sequence: number;
  rows: readonly Row[];
  stored(): void;
  /** Called once the transaction has failed for good. */
  lost(error: unknown): void;
}
