/** The table did not do all of what was asked, because it is throttling or because others kept changing the same items. */
export class TableBusyError extends Error {
  override readonly name = 'TableBusyError';
}
